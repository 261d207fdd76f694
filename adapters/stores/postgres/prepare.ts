/**
 * Start-up: brings the database to what the models need, while other processes use it.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'

import { IndexConflict } from '../../../src/ports/store.ts'
import { newEpoch } from '../changes/position.ts'
import { leftOverWarning } from '../left-over.ts'
import { checkAdopted } from './adopt/adopt.ts'
import { createLog, createPlace, keepLog, logTables, PLACE } from './changes/log-tables.ts'
import type { Connection } from './connection/connection.ts'
import { type Column, FOLD, type Table } from './layout/columns.ts'
import { codeOf, TAKEN } from './layout/errors.ts'
import { createFold } from './layout/search-columns.ts'
import { identifier } from './layout/sql.ts'
import {
  type ExistingColumn,
  type ExistingTable,
  existingTable,
  hasFunction,
  textRows,
  trigramSpace,
} from './schema/catalog.ts'
import { patiently, permitted, runLocking } from './schema/locks.ts'
import {
  desiredIndexes,
  desiredNames,
  obsoleteIndexes,
  uniqueFields,
} from './schema/obsolete-indexes.ts'
import {
  columnSql,
  createIndex,
  createTable,
  dropIndex,
  extraColumns,
  finishIndex,
  type Index,
  indexesOf,
  type Prepared,
} from './schema/schema.ts'
import { refuseMeetingNames, refuseTooMany, takenName, unboundedIn } from './schema/start-checks.ts'

/** Prepares the tables of all collections. */
export async function prepareTables(
  connection: Connection,
  collections: readonly Prepared[],
  warn: (message: string) => void,
): Promise<void> {
  await checkServer(connection)
  const space = collections[0]?.space
  if (space === undefined) return
  await permitted(connection, space, () => patiently(() => prepareSpace(connection, space)))
  const isSearched = collections.some(({ schema }) => schema.searchable.length > 0)
  const trigrams = isSearched
    ? await permitted(connection, space, () => prepareSearch(connection, space, warn))
    : undefined
  refuseMeetingNames(collections, trigrams)
  refuseTooMany(collections)
  for (const message of unboundedIn(collections)) warn(message)
  if (collections.some(({ schema }) => schema.logged)) {
    await permitted(connection, space, () => patiently(() => prepareLog(connection, space)))
  }
  for (const collection of collections) {
    if (collection.schema.adopted) {
      await checkAdopted(connection, collection, trigrams, warn)
      continue
    }
    await permitted(connection, space, () =>
      patiently(() => prepareTable(connection, collection, trigrams)),
    ).catch((error: unknown) => {
      throw takenName(error, collection)
    })
    await warnOfOthers(connection, collection, warn)
  }
}

async function checkServer(connection: Connection): Promise<void> {
  const sql = `SELECT current_setting('server_version_num'), current_setting('server_encoding')`
  const [[version, encoding] = []] = await textRows(connection, { sql, values: [] })
  if (Number(version) < OLDEST) {
    throw new TypeError('postgresStore: PostgreSQL 14 or later is needed')
  }
  if (encoding !== 'UTF8') {
    throw new TypeError(`postgresStore: the database's encoding is ${encoding}, but must be UTF8`)
  }
}

const OLDEST = 140_000

async function prepareSpace(connection: Connection, space: string): Promise<void> {
  const sql = 'SELECT 1 FROM pg_namespace WHERE nspname = $1::text'
  // Even IF NOT EXISTS needs the right to create one.
  const rows = await textRows(connection, { sql, values: [space] })
  if (rows.length === 0) await connection.exec(`CREATE SCHEMA ${identifier(space)}`)
}

/** Creates what searches need; resolves to the schema of `pg_trgm`, if the extension can be had. */
async function prepareSearch(
  connection: Connection,
  space: string,
  warn: (message: string) => void,
): Promise<string | undefined> {
  await patiently(async () => {
    if (!(await hasFunction(connection, space, FOLD))) await connection.exec(createFold(space))
  })
  const known = await trigramSpace(connection)
  if (known !== undefined) return known
  try {
    await patiently(() => connection.exec('CREATE EXTENSION IF NOT EXISTS pg_trgm'))
  } catch (error) {
    warn(
      `PostgreSQL: every search reads the whole table, because the extension pg_trgm is not there (${(error as Error).message}). Let an administrator run: CREATE EXTENSION pg_trgm`,
    )
  }
  return trigramSpace(connection)
}

/** The tables of the log of changes. */
async function prepareLog(connection: Connection, space: string): Promise<void> {
  const tables = logTables(space)
  const there = await existingTable(connection, tables.entries)
  if (!there) await connection.exec(createLog(tables))
  if (!(await hasFunction(connection, space, PLACE))) await connection.exec(createPlace(tables))
  await connection.run(keepLog(tables, newEpoch()))
}

async function prepareTable(
  connection: Connection,
  collection: Prepared,
  trigrams: string | undefined,
): Promise<void> {
  const { table } = collection
  const existing = await existingTable(connection, table.sql)
  if (!existing) {
    // Nobody uses it yet: all of it in one transaction.
    const indexes = indexesOf(collection, trigrams).flatMap((index) => [
      createIndex(index, collection, ''),
      ...finishIndex(index, collection),
    ])
    await connection.exec([createTable(collection), ...indexes].join(';\n'))
    return
  }
  const alterations = alterationsOf(collection, existing)
  if (alterations.length > 0) {
    const sql = `ALTER TABLE ${table.sql}\n  ${alterations.join(',\n  ')}`
    await runLocking(connection, table.sql, sql)
  }
  for (const index of desiredIndexes(existing, collection, trigrams)) {
    await prepareIndex(connection, collection, index)
  }
}

/** What an existing table lacks. Throws a `TypeError` for a column that another type would be needed for. */
function alterationsOf(collection: Prepared, { columns }: ExistingTable): string[] {
  const { table } = collection
  if (!columns.has('_id')) {
    throw new TypeError(
      `postgresStore: the table ${table.sql} exists, but has no column "_id", so fieldgate did not create it`,
    )
  }
  const missing = table.columns.filter(({ name }) => !columns.has(name))
  for (const column of table.columns) checkType(collection, column, columns.get(column.name))
  const relaxed = [...columns].filter(([name, existing]) => isTooStrict(table, name, existing))
  return [
    // Existing records lack a new field, also one that is required.
    ...missing.map((column) => `ADD COLUMN ${columnSql(column)}`),
    ...extraColumns(collection)
      .filter(({ name }) => !columns.has(name))
      .map(({ sql }) => `ADD COLUMN ${sql}`),
    ...relaxed.map(([name]) => `ALTER COLUMN ${identifier(name)} DROP NOT NULL`),
  ]
}

/** Whether a column refuses records that the model allows. */
function isTooStrict(table: Table, name: string, existing: ExistingColumn): boolean {
  const column = table.byField.get(name)
  const isRequired = column ? column.absence === 'never' : existing.byDefault !== undefined
  return existing.isNotNull && !isRequired
}

function checkType({ table }: Prepared, column: Column, existing?: ExistingColumn): void {
  const isOther = existing && existing.type !== column.type
  const isSorted = column.type !== 'text' || existing?.collation === 'C'
  if (!existing || (!isOther && isSorted)) return
  const { sql, type } = column
  const wanted = columnSql(column).slice(sql.length + 1)
  throw new TypeError(
    `postgresStore: the column ${sql} of ${table.sql} has the type ${existing.type}, but the model needs ${wanted}. If its values allow it: ALTER TABLE ${table.sql} ALTER COLUMN ${sql} TYPE ${wanted} USING ${sql}::${type}`,
  )
}

/** Creates one index while others write; waits for a process that is creating it. */
async function prepareIndex(
  connection: Connection,
  collection: Prepared,
  index: Index,
): Promise<void> {
  const existing = (await existingTable(connection, collection.table.sql))?.indexes.get(index.name)
  if (existing?.isBuilding) {
    await delay(WAIT_MS)
    return prepareIndex(connection, collection, index)
  }
  if (existing && !existing.isValid) {
    await connection.exec(dropIndex(index.name, false, collection))
  }
  if (!existing?.isValid) await buildIndex(connection, collection, index)
  if (!existing?.isOwn || existing.isConstraint !== index.isConstraint) {
    const finishing = finishIndex(index, collection).join(';\n')
    await runLocking(connection, collection.table.sql, finishing)
  }
}

const WAIT_MS = 250

async function buildIndex(
  connection: Connection,
  collection: Prepared,
  index: Index,
): Promise<void> {
  try {
    await connection.exec(createIndex(index, collection, 'CONCURRENTLY'))
  } catch (error) {
    if (!index.fields || codeOf(error) !== TAKEN) throw error
    await connection.exec(dropIndex(index.name, false, collection))
    throw new IndexConflict(collection.schema.name, index.fields, { cause: error })
  }
}

/** Tells of indexes that serve none of the model's needs. */
async function warnOfOthers(
  connection: Connection,
  collection: Prepared,
  warn: (message: string) => void,
): Promise<void> {
  const existing = await existingTable(connection, collection.table.sql)
  for (const message of [
    ...ofOtherVersions(existing, collection),
    ...ofOtherPrograms(existing, collection),
  ]) {
    warn(message)
  }
}

/** Of indexes for searches it says nothing: a script without routers would tell of all. */
function ofOtherVersions(existing: ExistingTable | undefined, collection: Prepared): string[] {
  return obsoleteIndexes(existing, collection).flatMap(({ name, kind, index }) => {
    if (kind === 'search') return []
    const unique = kind === 'unique' ? uniqueFields(index, collection) : undefined
    return [leftOverWarning('PostgreSQL', { collection: collection.schema.name, name, unique })]
  })
}

/** Of indexes that this store did not create, although they concern the model's columns. */
function ofOtherPrograms(existing: ExistingTable | undefined, collection: Prepared): string[] {
  const { table, space, schema } = collection
  if (!existing) return []
  const wanted = desiredNames(existing, collection)
  return [...existing.indexes].flatMap(([name, index]) => {
    const { isOwn, isPrimary, isUnique, isBuilding, columns } = index
    // One that is being built may be another version's.
    if (isOwn || isPrimary || isBuilding || wanted.has(name)) return []
    if (!columns.some((column) => table.byField.has(column))) return []
    const why = isUnique
      ? `refuses a second record with the same ${columns.join(', ')}`
      : 'slows down every write'
    return [
      `PostgreSQL: the index '${name}' of '${schema.name}' was not created by fieldgate, and ${why}. If nothing else needs it: DROP INDEX ${identifier(space)}.${identifier(name)}`,
    ]
  })
}
