/**
 * The stores' data sets, by the stores' names.
 *
 * @module
 */

import type { StoreName } from '../servers.ts'
import { d1Server } from './d1.ts'
import type { Databases } from './database.ts'
import { mongoServer } from './mongodb.ts'
import { postgresServer } from './postgres.ts'
import { sqliteDatabase } from './sqlite.ts'

const servers: { readonly [Name in StoreName]: () => Promise<Databases> } = {
  sqlite: async () => ({ database: sqliteDatabase, stop: async () => undefined }),
  mongodb: mongoServer,
  postgres: postgresServer,
  d1: d1Server,
}

/** Calls `use` with the store, and ends it afterwards. */
export async function withStore(
  name: StoreName,
  use: (databases: Databases) => Promise<void>,
): Promise<void> {
  const databases = await servers[name]()
  // While the database's process ends nothing else would keep this one alive.
  const alive = setInterval(() => {}, 60_000)
  try {
    await use(databases)
  } finally {
    await databases.stop()
    clearInterval(alive)
  }
}
