/**
 * The log keeps up: entries that are older than they are kept go as fast as writes add them, however many one write adds.
 */

import { expect, it } from 'vitest'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { newId, people } from '../../extras/contract/store/people.ts'
import { everything } from '../../src/ports/store/filter.ts'
import type { CollectionSchema, Store } from '../../src/ports/store/store.ts'
import { withService } from '../services/shared.ts'
import { freshDatabases } from './mongodb/databases.ts'
import { freshSchemas } from './postgres/schemas.ts'

const brief: CollectionSchema = { ...people, logged: { model: 'Person', keepMs: 1 } }

const RECORDS = 500
const WRITES = 40

async function keepsUp(store: Store): Promise<void> {
  await store.prepare([brief])
  const { changes, write } = store
  if (!changes || !write) throw new Error('no log')
  const inserts = Array.from({ length: RECORDS }, () => ({ insert: { _id: newId(), name: 'x' } }))
  await write(inserts.map((insert) => ({ in: brief, by: null, ...insert })))
  let round = 0
  const changeAll = () => {
    round += 1
    const change = { set: { name: `x${round}` } }
    return write([{ in: brief, by: null, updateMany: everything, change }])
  }
  while (round < WRITES) await changeAll()
  // Old entries go with writes, and not before transactions of others on this server that began earlier have ended.
  const left = async () => {
    await changeAll()
    const found = await changes.read(undefined, { limit: 100_000 })
    return 'gone' in found ? 0 : found.changes.length
  }
  // Of 20,500 and more.
  await expect.poll(left).toBeLessThan(5000)
  await store.close()
}

it('SQLite', () => keepsUp(sqliteStore()))

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  it('PostgreSQL', () => keepsUp(postgresStore({ url, schema: fresh() })))
})

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  it('MongoDB', () => keepsUp(mongoStore({ url, database: fresh() })))
})
