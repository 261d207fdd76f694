/**
 * Schemas of a PostgreSQL database for tests, each with tables of its own.
 *
 * @module
 */

import postgres from 'postgres'
import { afterAll } from 'vitest'

/** Returns a function that names a new schema; all of them are dropped after the tests of the file. */
export function freshSchemas(url: string): () => string {
  const schemas: string[] = []
  afterAll(async () => {
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    for (const schema of schemas) await sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`
    await sql.end()
  })
  return () => {
    const schema = `test_${crypto.randomUUID()}`
    schemas.push(schema)
    return schema
  }
}
