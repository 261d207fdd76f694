import { describe, it } from 'vitest'
import { formsStore } from './forms.ts'

describe('The form of a record', () => {
  it('stores what is written into it, for a new record and for one that is there', async () => {
    await formsStore(25)
  })
})
