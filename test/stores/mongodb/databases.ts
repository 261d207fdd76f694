/**
 * Databases of a MongoDB server for tests, each with collections of its own.
 *
 * @module
 */

import { MongoClient } from 'mongodb'
import { afterAll } from 'vitest'

/** Returns a function that names a new database; all of them are dropped after the tests of the file. */
export function freshDatabases(url: string): () => string {
  const databases: string[] = []
  afterAll(async () => {
    const client = new MongoClient(url)
    for (const database of databases) await client.db(database).dropDatabase()
    await client.close()
  })
  return () => {
    const database = `test-${crypto.randomUUID()}`
    databases.push(database)
    return database
  }
}
