import { describe, it } from 'vitest'
import { runs } from '../runs.ts'
import { formsStore } from './forms.ts'

describe('The form of a record', () => {
  it('stores what is written into it, whatever its model is', async () => {
    await formsStore(runs(200))
  })
})
