import { afterAll, describe, it } from 'vitest'
import { startD1 } from './d1.ts'
import { contractInShort } from './in-short.ts'

const d1 = await startD1()
afterAll(() => d1.stop())

describe('D1', () => {
  for (const sentence of Object.keys(contractInShort)) {
    it(sentence, async () => {
      await d1.ask(sentence)
    })
  }
})
