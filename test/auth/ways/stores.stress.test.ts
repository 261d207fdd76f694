import { describe, expect, it, onTestFinished } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { runs } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { startWorker } from '../workers.ts'
import { explore, explorePairs } from './sequences.ts'

const COUNT = runs(12)
const SEED = 200_001
/** All of them, in longer runs. */
const EVERY = runs(1) > 1 ? 1 : 80
/** Before a release there are 200 times as many sequences, which take as much longer. */
const timeout = Math.max(600_000, runs(600_000))
const title = 'once the owner has proven the mailbox nothing of the attacker opens the account'

describe('SQLite', () => {
  it(title, { timeout }, async () => {
    expect(await explore(sqliteStore(), runs(50), SEED)).toBeUndefined()
    expect(await explorePairs(sqliteStore(), Math.ceil(EVERY / 10), 1)).toBeUndefined()
  })
})

describe('D1', () => {
  it(title, { timeout }, async () => {
    const workerd = await startWorker(new URL('worker.ts', import.meta.url))
    onTestFinished(() => workerd.dispose())
    const each = 250
    const asked: object[] = [{ every: EVERY, seed: 300_001 }]
    for (let first = 0; first < COUNT; first += each) {
      asked.push({ count: Math.min(each, COUNT - first), seed: 300_001 + first })
    }
    for (const one of asked) {
      const body = JSON.stringify(one)
      const answer = await workerd.dispatchFetch('http://worker/', { method: 'POST', body })
      expect(await answer.json()).toBeNull()
    }
  })
})

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)()
  describe('PostgreSQL', () => {
    it(title, { timeout }, async () => {
      expect(await explore(postgresStore({ url, schema }), COUNT, SEED)).toBeUndefined()
      expect(await explorePairs(postgresStore({ url, schema }), EVERY, 2)).toBeUndefined()
    })
  })
})

await withService('mongo', ({ url }) => {
  const database = freshDatabases(url)()
  describe('MongoDB', () => {
    it(title, { timeout }, async () => {
      expect(await explore(mongoStore({ url, database }), COUNT, SEED)).toBeUndefined()
      expect(await explorePairs(mongoStore({ url, database }), EVERY, 3)).toBeUndefined()
    })
  })
})
