/**
 * The stores that are compared: SQLite, libSQL and the interpreter in this process, D1 in workerd, MongoDB twice, PostgreSQL.
 *
 * @module
 */

import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { MongoClient } from 'mongodb'
import postgres from 'postgres'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { type D1Answer, type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { Store } from '../../../src/index.ts'
import { interpreterStore } from './interpreter.ts'

/** The names of the stores, in the order of their answers. */
export const STORES = [
  'SQLite',
  'libSQL',
  'D1',
  'MongoDB',
  'PostgreSQL',
  'interpreter',
  'MongoDB with search indexes',
] as const

/** The services behind the stores. */
export interface Backends {
  /** A store of each kind; collections of earlier worlds are left where they are. */
  open(): readonly Store[]
  /** Removes the collections with these names. */
  drop(names: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** Runs statements as they come, each list as one batch: workerd has D1, this process has the app. */
const BRIDGE = `export default {
  async fetch(request, { DB }) {
    const asked = await request.json()
    const statements = asked.map(({ sql, values }) =>
      values.length > 0 ? DB.prepare(sql).bind(...values) : DB.prepare(sql))
    try {
      const answers = statements.length === 1 ? [await statements[0].all()] : await DB.batch(statements)
      return Response.json(answers.map(({ results, meta }) => ({ results, meta: { changes: meta.changes } })))
    } catch (error) {
      return new Response(error.message, { status: 500 })
    }
  },
}`

/** Starts workerd and connects to MongoDB and PostgreSQL at their addresses. */
export async function openBackends(mongoUrl: string, postgresUrl: string): Promise<Backends> {
  const workerd = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: BRIDGE,
      compatibilityDate: '2026-01-01',
      d1Databases: ['DB'],
    }),
  )
  const d1 = bindingAt(String(await workerd.ready))
  const client = new MongoClient(mongoUrl)
  const database = `differential-${crypto.randomUUID()}`
  const sql = postgres(postgresUrl, { onnotice: () => {}, fetch_types: false })
  return {
    open: () => [
      sqliteStore(),
      libsqlStore({ url: ':memory:' }),
      d1Store(d1),
      mongoStore({ client, database }),
      postgresStore({ client: sql, schema: database }),
      interpreterStore(),
      mongoStore({ client, database: `${database}-i`, searchIndexes: true }),
    ],
    async drop(names) {
      await d1.batch(names.map((name) => d1.prepare(`DROP TABLE IF EXISTS "${name}"`)))
      for (const name of names) {
        await client.db(database).dropCollection(name)
        await client.db(`${database}-i`).dropCollection(name)
      }
      for (const name of names) await sql`DROP TABLE IF EXISTS ${sql(database)}.${sql(name)}`
    },
    async close() {
      await client.db(database).dropDatabase()
      await client.db(`${database}-i`).dropDatabase()
      await client.close()
      await sql`DROP SCHEMA ${sql(database)} CASCADE`
      await sql.end()
      await workerd.dispose()
    },
  }
}

interface Prepared {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** A binding that sends its statements to the bridge. */
function bindingAt(url: string): D1Binding {
  const run = async (statements: readonly Prepared[]): Promise<D1Answer[]> => {
    const body = JSON.stringify(statements)
    const answer = await fetch(url, { method: 'POST', body })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as D1Answer[]
  }
  const statement = (sql: string, values: readonly unknown[]) => ({
    ...{ sql, values },
    bind: (...given: unknown[]) => statement(sql, given),
    all: async () => (await run([{ sql, values }]))[0] as D1Answer,
  })
  return {
    prepare: (sql) => statement(sql, []),
    batch: (statements) => run(statements as unknown as Prepared[]),
  }
}
