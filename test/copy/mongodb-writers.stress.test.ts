import { MongoClient } from 'mongodb'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../src/index.ts'
import { runs } from '../runs.ts'
import { withService } from '../services/shared.ts'
import { copiesUnderWrites, type Stores } from './writers.ts'

await withService('mongo', ({ url }) => {
  const open = (to: (database: string) => Store) => async (): Promise<Stores> => {
    const database = `copy-${crypto.randomUUID()}`
    const opened: Store[] = []
    const kept = async (store: Store) => {
      opened.push(store)
      return store
    }
    return {
      source: () => kept(mongoStore({ url, database })),
      target: () => kept(to(`${database}-target`)),
      async close() {
        for (const store of opened) await store.close()
        const client = await MongoClient.connect(url)
        for (const name of [database, `${database}-target`]) await client.db(name).dropDatabase()
        await client.close()
      },
    }
  }

  copiesUnderWrites(
    'MongoDB to SQLite',
    open(() => sqliteStore()),
    runs(4),
  )
  copiesUnderWrites(
    'MongoDB to MongoDB',
    open((database) => mongoStore({ url, database })),
    runs(4),
  )
})
