/**
 * The records in PostgreSQL: that of `POSTGRES_URL`, or a server that lives as long as the run.
 *
 * @module
 */

import postgres from 'postgres'
import { startPostgres } from '../../test/services/postgres.ts'
import { storeAt } from '../fieldgate/store.ts'
import { accountsOf } from './accounts.ts'
import { type Asked, askedOf } from './asked.ts'
import {
  cursorOf,
  type Database,
  type Databases,
  isOnServer,
  type Owner,
  prepareFieldgate,
} from './database.ts'
import { fillStore } from './fill.ts'
import { CREATED } from './products.ts'

/** Commits wait for the disk, as they do where nobody says otherwise; the bench vacuums between rounds, not during them. */
const SETTINGS = ['shared_buffers=1GB', 'fsync=on', 'autovacuum=off']

/** Starts PostgreSQL, with memory for a million records. */
export async function postgresServer(): Promise<Databases> {
  const given = process.env.POSTGRES_URL
  const own = given ? undefined : await startPostgres(SETTINGS)
  const url = given ?? own?.url ?? ''
  return {
    database: (size, wanted) => postgresDatabase(url, size, wanted),
    stop: async () => own?.stop(),
  }
}

async function postgresDatabase(
  url: string,
  size: number,
  wanted: readonly Owner[],
): Promise<Database> {
  const owners = wanted.filter(isOnServer)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const asked = askedOf(size)
  const name = (owner: Owner) => `bench_${owner}_${size}`
  const place = (owner: Owner) => {
    const address = new URL(url)
    address.searchParams.set('schema', name(owner))
    return address.href
  }
  // The peers get the table as fieldgate makes it: the same types and indexes.
  for (const owner of owners) {
    await sql`DROP SCHEMA IF EXISTS ${sql(name(owner))} CASCADE`
    await fillStore(await storeAt(place(owner)), size)
  }
  if (owners.includes('peers')) await completePeers(sql, name('peers'), asked)
  await prepareFieldgate(place('fieldgate'), asked)
  await sql`VACUUM ANALYZE`
  await sql`CHECKPOINT`
  return {
    asked,
    cursor: await cursorOf(asked),
    owners,
    place,
    async tidy() {
      for (const owner of owners) {
        const products = sql`${sql(name(owner))}.products`
        await sql`DELETE FROM ${products} WHERE category = ${CREATED}`
        await sql`VACUUM ${products}`
      }
    },
    async close() {
      for (const owner of owners) await sql`DROP SCHEMA ${sql(name(owner))} CASCADE`
      await sql.end()
    },
  }
}

/** What fieldgate makes for itself, and the values that PostgREST leaves to the database. */
async function completePeers(sql: postgres.Sql, schema: string, asked: Asked): Promise<void> {
  await sql`ALTER TABLE ${sql(schema)}.products
    ALTER _id SET DEFAULT left(replace(gen_random_uuid()::text, '-', ''), 24),
    ALTER "createdAt" SET DEFAULT now(), ALTER "updatedAt" SET DEFAULT now()`
  await sql`CREATE TABLE ${sql(schema)}.account (_id text PRIMARY KEY, email text NOT NULL UNIQUE,
    role text NOT NULL, password text NOT NULL)`
  for (const { _id, email, role, password } of accountsOf(asked)) {
    await sql`INSERT INTO ${sql(schema)}.account VALUES (${_id}, ${email}, ${role}, ${password})`
  }
}
