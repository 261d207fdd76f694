import { afterAll, describe, it } from 'vitest'
import { storeContract } from '../../../src/contract/store/contract.ts'
import { startD1 } from './d1.ts'

const d1 = await startD1()
afterAll(() => d1.stop())

describe('D1', () => {
  for (const sentence of Object.keys(storeContract)) {
    it(sentence, async () => {
      await d1.ask(sentence)
    })
  }
})
