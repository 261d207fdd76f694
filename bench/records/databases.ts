/**
 * The stores' data sets, by the stores' names.
 *
 * @module
 */

import type { StoreName } from '../servers.ts'
import type { Databases } from './database.ts'
import { mongoServer } from './mongodb.ts'
import { sqliteDatabase } from './sqlite.ts'

/** Calls `use` with the store, and ends it afterwards. */
export async function withStore(
  name: StoreName,
  use: (databases: Databases) => Promise<void>,
): Promise<void> {
  const databases =
    name === 'mongodb'
      ? await mongoServer()
      : { database: sqliteDatabase, stop: async () => undefined }
  // While MongoDB's process ends nothing else would keep this one alive.
  const alive = setInterval(() => {}, 60_000)
  try {
    await use(databases)
  } finally {
    await databases.stop()
    clearInterval(alive)
  }
}
