import { afterAll, describe, it } from 'vitest'
import { contractInShort } from './in-short.ts'
import { startWorkerd } from './workerd.ts'

const durable = await startWorkerd('durable-worker')
afterAll(() => durable.stop())

describe('the storage of a Durable Object', () => {
  for (const sentence of Object.keys(contractInShort)) {
    it(sentence, async () => {
      await durable.ask(sentence)
    })
  }
})
