import { afterAll, describe, it } from 'vitest'
import { contractInShort } from './in-short.ts'
import { startWorkerd } from './workerd.ts'

const d1 = await startWorkerd('d1-worker')
afterAll(() => d1.stop())

describe('D1', () => {
  for (const sentence of Object.keys(contractInShort)) {
    it(sentence, async () => {
      await d1.ask(sentence)
    })
  }
})
