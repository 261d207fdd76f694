/**
 * A store in DuckDB. It keeps every promise of the store contract (`store.test.ts`), and has no log of changes.
 *
 * A record is a row with its JSON. Indexes of DuckDB take no values out of JSON, so unique values have a table of their own,
 * whose primary key keeps them apart.
 *
 * @module
 */

import {
  type Collection,
  type CollectionSchema,
  DuplicateKey,
  everything,
  type Fields,
  IndexConflict,
  project,
  type Store,
} from 'fieldgate/ports'
import { foldedText, jsonQuery, type Records, readerOf, textOf, writesIn } from 'fieldgate/sql'
import { type Database, openDatabase, type Run } from './connection.ts'
import { duckdb, groups, identifier, literal } from './sql.ts'

/** Opens the store in the file at `path`; `:memory:` is gone with the process. */
export async function duckdbStore(path: string): Promise<Store> {
  const database = await openDatabase(path)
  const unique = new Map<string, CollectionSchema['unique']>()
  const { write, writesOf } = writesIn((work) =>
    database.transaction((run) =>
      work((schema) => recordsOf(schema, run, unique.get(schema.name) ?? [])),
    ),
  )
  return {
    name: 'duckdb',
    // Regular expressions of clients can take for ever here.
    rawRegex: false,
    // One write follows another.
    guards: true,
    write,
    collection: (schema) => ({ ...writesOf(schema), ...readsOf(schema, database) }),
    prepare: (schemas) =>
      database.transaction(async (run) => {
        for (const schema of schemas) await createTables(schema, run)
        for (const schema of schemas) unique.set(schema.name, schema.unique)
      }),
    close: database.close,
  }
}

function readsOf(
  schema: CollectionSchema,
  { read }: Database,
): Pick<Collection, 'find' | 'count' | 'estimate' | 'aggregate'> {
  const table = identifier(schema.name)
  const recordOf = readerOf(schema.shape)
  const count: Collection['count'] = async (filter, hints) => {
    const query = jsonQuery(schema.shape, duckdb)
    const sql = `SELECT count(*) FROM ${table}${query.where(filter)}`
    return Number((await read(sql, query.values, hints))[0]?.[0])
  }
  return {
    async find(asked) {
      const query = jsonQuery(schema.shape, duckdb)
      const { skip = 0, limit, select, hints } = asked
      const sql = `SELECT doc FROM ${table}${query.inOrder(asked)} LIMIT ${limit} OFFSET ${skip}`
      const rows = await read(sql, query.values, hints)
      return rows.map(([doc]) => project(recordOf(String(doc)), select))
    },
    count,
    estimate: () => count(everything),
    async aggregate(asked) {
      const query = jsonQuery(schema.shape, duckdb)
      const { sql, valuesOf } = groups(asked, schema, query)
      return (await read(sql, query.values, asked.hints)).map(valuesOf)
    },
  }
}

/** The rows of records, of which `$1` has the JSON. */
const ROWS = `(SELECT unnest(from_json($1, '[{"id":"VARCHAR","doc":"VARCHAR","folded":"VARCHAR"}]'), recursive := true))`
const GIVEN = `id IN (SELECT id FROM ${ROWS})`

function rowsFor(records: readonly Fields[]): string {
  const rowOf = (one: Fields) => ({ id: one._id, doc: textOf(one), folded: foldedText(one) })
  return JSON.stringify(records.map(rowOf))
}

function recordsOf(
  schema: CollectionSchema,
  run: Run,
  unique: CollectionSchema['unique'],
): Records {
  const [table, keys] = [identifier(schema.name), keysOf(schema)]
  const recordOf = readerOf(schema.shape)
  async function put(sql: string, records: readonly Fields[]): Promise<void> {
    const rows = rowsFor(records)
    try {
      await run(sql, rows)
      if (unique.length > 0) await run(`DELETE FROM ${keys} WHERE ${GIVEN}`, rows)
      for (const fields of unique) await run(addKeys(schema, fields, GIVEN), rows)
    } catch (cause) {
      const taken = takenBy(cause)
      if (taken === undefined) throw cause
      const isOf = (fields: readonly string[]) => taken.startsWith(`${JSON.stringify(fields)}, `)
      throw new DuplicateKey(unique.find(isOf) ?? ['_id'], { cause })
    }
  }
  return {
    async find(filter) {
      const query = jsonQuery(schema.shape, duckdb)
      const rows = await run(`SELECT doc FROM ${table}${query.where(filter)}`, ...query.values)
      return rows.map(([doc]) => recordOf(String(doc)))
    },
    insert: (record) => put(`INSERT INTO ${table} SELECT id, doc, folded FROM ${ROWS}`, [record]),
    replace(records) {
      const set = `UPDATE ${table} SET doc = new.doc, folded = new.folded FROM ${ROWS} AS new`
      return put(`${set} WHERE ${table}.id = new.id`, records)
    },
    async remove(records) {
      const rows = rowsFor(records)
      for (const from of [keys, table]) await run(`DELETE FROM ${from} WHERE ${GIVEN}`, rows)
    },
  }
}

/** The table of a collection's unique values. */
const keysOf = ({ name }: CollectionSchema) => identifier(`${name} unique`)
/** What it calls a unique set of fields. */
const nameOf = (fields: readonly string[]) => literal(JSON.stringify(fields))

/** Adds the values of a unique set of fields in the records that meet a condition. */
function addKeys(schema: CollectionSchema, fields: readonly string[], condition: string): string {
  const there = fields.map((field) => `${duckdb.textAt('doc', field)} IS NOT NULL`)
  const key = `to_json([${fields.map((field) => duckdb.at('doc', field)).join(', ')}])`
  const select = `SELECT ${nameOf(fields)}, ${key}, id FROM ${identifier(schema.name)}`
  return `INSERT INTO ${keysOf(schema)} ${select} WHERE ${[...there, condition].join(' AND ')}`
}

/** The key that is taken, if that is what a statement failed with. */
function takenBy(error: unknown): string | undefined {
  return /duplicate key "(?:fields: )?(.*)/is.exec((error as Error).message)?.[1]
}

async function createTables(schema: CollectionSchema, run: Run): Promise<void> {
  const [table, keys] = [identifier(schema.name), keysOf(schema)]
  const create = 'CREATE TABLE IF NOT EXISTS'
  await run(`${create} ${table} (id VARCHAR PRIMARY KEY, doc VARCHAR, folded VARCHAR)`)
  await run(
    `${create} ${keys} (fields VARCHAR, key VARCHAR, id VARCHAR, PRIMARY KEY (fields, key))`,
  )
  await run(
    `DELETE FROM ${keys} WHERE fields NOT IN (${["''", ...schema.unique.map(nameOf)].join(', ')})`,
  )
  for (const fields of schema.unique) {
    const isNew = `NOT EXISTS (SELECT 1 FROM ${keys} WHERE fields = ${nameOf(fields)})`
    await run(addKeys(schema, fields, isNew)).catch((cause: unknown) => {
      throw takenBy(cause) === undefined ? cause : new IndexConflict(schema.name, fields, { cause })
    })
  }
}
