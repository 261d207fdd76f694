/** Start-up: brings the database to what the models need, while other processes use it. */

import { setTimeout as delay } from 'node:timers/promises'
import { IndexConflict } from '../../../src/ports/store/store-errors.ts'
import { harmOf, leftOverWarning } from '../left-over.ts'
import { checkAdopted } from './adopt/adopt.ts'
import { prepareLog } from './changes/log-tables.ts'
import type { Place } from './connection/connection.ts'
import { FOLD, type Table } from './layout/columns.ts'
import { codeOf, TAKEN } from './layout/errors.ts'
import { fieldsIn } from './layout/indexed-fields.ts'
import { createFold } from './layout/operands.ts'
import { arrayText, identifier } from './layout/sql.ts'
import {
  type ExistingTable,
  existingTable,
  existingTables,
  hasFunction,
  trigramSpace,
} from './schema/catalog.ts'
import { patiently, permitted, runLocking } from './schema/locks.ts'
import {
  asideIn,
  desiredIndex,
  desiredIndexes,
  desiredNames,
  dropAside,
  dropHalfMade,
  obsoleteIndexes,
} from './schema/obsolete-indexes.ts'
import {
  columnSql,
  createIndex,
  createTable,
  extraColumns,
  finishIndex,
  type Index,
  indexesOf,
  NAME_TAKEN,
  namesOf,
  type Prepared,
  refuseMeetingNames,
  refuseTooMany,
  takenName,
  typeChange,
  unboundedIn,
} from './schema/schema.ts'

type Warn = (message: string) => void

export async function prepareTables(
  place: Place,
  collections: readonly Prepared[],
  warn: Warn,
): Promise<void> {
  const { connection, space } = place
  await checkServer(place)
  if (collections.length === 0) return
  const step = (work: () => Promise<void>) => permitted(place, () => patiently(work))
  await step(async () => {
    // Even IF NOT EXISTS needs the right to create one.
    const rows = await connection.rows('SELECT 1 FROM pg_namespace WHERE nspname = $1::text', space)
    if (rows.length === 0) await connection.exec(`CREATE SCHEMA ${identifier(space)}`)
  })
  const isSearched = collections.some(({ schema }) => schema.searchable.length > 0)
  const trigrams = isSearched ? await permitted(place, () => prepareSearch(place, warn)) : undefined
  const searching = collections.map((one) => ({ ...one, trigrams }))
  refuseMeetingNames(searching)
  refuseTooMany(collections)
  for (const message of unboundedIn(collections)) warn(message)
  if (collections.some(({ schema }) => schema.logged)) await step(() => prepareLog(place))
  const names = collections.map(({ table }) => table.sql)
  const tables = await existingTables(connection, names)
  const lacking: string[] = []
  for (const collection of searching.filter(({ schema }) => schema.adopted)) {
    lacking.push(...(await checkAdopted(collection, tables.get(collection.table.sql), warn)))
  }
  if (lacking.length > 0) throw new TypeError(`postgresStore: ${lacking.join('\n')}`)
  for (const collection of searching.filter(({ schema }) => !schema.adopted)) {
    const before = tables.get(collection.table.sql)
    const existing = await upToDate(collection, before)
    if (existing) for (const message of ofOthers(existing, collection)) warn(message)
  }
}

/** Why `prepareTables` would refuse tables as they are: a column of another type. */
export async function misfitsIn(collections: readonly Prepared[]): Promise<string[]> {
  const looked = collections.map(async ({ connection, schema, table }) => {
    const there = schema.adopted ? undefined : await existingTable(connection, table.sql)
    return there ? otherTypes(table, there) : []
  })
  return (await Promise.all(looked)).flat()
}

/** Brings a table to its model. Resolves to what it is then; to undefined if it is new, and has nothing of others. */
async function upToDate(
  collection: Prepared,
  before: ExistingTable | undefined,
): Promise<ExistingTable | undefined> {
  if (before && !isLacking(before, collection)) return before
  const look = () => existingTable(collection.connection, collection.table.sql)
  const prepare = async (attempt: number): Promise<void> => {
    const existing = attempt === 1 ? before : await look()
    await prepareTable(collection, existing).catch(async (error: unknown) => {
      // Another process may have made the same first.
      const isTaken = codeOf(error) === NAME_TAKEN && (await isOfOthers(collection))
      throw isTaken ? takenName(error, collection) : error
    })
  }
  await permitted(collection, () => patiently(prepare))
  return before && look()
}

/** Whether something has a name of the collection's that is neither its table nor an index of it. */
async function isOfOthers(collection: Prepared): Promise<boolean> {
  const { connection, space, table } = collection
  const sql = `SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      LEFT JOIN pg_index ON indexrelid = pg_class.oid
    WHERE nspname = $1::text AND relname = ANY ($2::text::text[])
      AND coalesce(indrelid, pg_class.oid) IS DISTINCT FROM to_regclass($3::text)`
  const names = arrayText(namesOf(collection))
  return (await connection.rows(sql, space, names, table.sql)).length > 0
}

async function checkServer({ connection }: Place): Promise<void> {
  const sql = `SELECT current_setting('server_version_num'), current_setting('server_encoding')`
  const [[version, encoding] = []] = await connection.rows(sql)
  if (Number(version) < OLDEST) {
    throw new TypeError('postgresStore: PostgreSQL 14 or later is needed')
  }
  if (encoding !== 'UTF8') {
    throw new TypeError(`postgresStore: the database's encoding is ${encoding}, but must be UTF8`)
  }
}

const OLDEST = 140_000

/** Creates what searches need; resolves to the schema of `pg_trgm`, if the extension can be had. */
async function prepareSearch(place: Place, warn: Warn): Promise<string | undefined> {
  const { connection, space } = place
  await patiently(async () => {
    if (!(await hasFunction(place, FOLD))) await connection.exec(createFold(space))
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

async function prepareTable(
  collection: Prepared,
  existing: ExistingTable | undefined,
): Promise<void> {
  const { connection, table } = collection
  if (!existing) {
    // Nobody uses it yet: all of it in one transaction.
    const indexes = indexesOf(collection).flatMap((index) => [
      createIndex(index, table),
      ...finishIndex(index, collection),
    ])
    await connection.exec([createTable(collection), ...indexes].join(';\n'))
    return
  }
  const alterations = alterationsOf(collection, existing)
  if (alterations.length > 0) {
    await runLocking(collection, `ALTER TABLE ${table.sql}\n  ${alterations.join(',\n  ')}`)
  }
  for (const name of asideIn(existing)) await dropAside(collection, name)
  for (const index of indexesOf(collection)) await prepareIndex(collection, index)
}

/** Whether an existing table needs {@link prepareTable}; most don't at most starts. */
function isLacking(existing: ExistingTable, collection: Prepared): boolean {
  if (alterationsOf(collection, existing).length > 0) return true
  if (asideIn(existing).length > 0) return true
  return desiredIndexes(existing, collection).some((index) => {
    const found = existing.indexes.get(index.name)
    const isReady = found?.isValid && !found.isBuilding && found.isOwn
    return !isReady || found.isConstraint !== index.isConstraint
  })
}

/** What an existing table lacks. Throws a `TypeError` for a column that another type would be needed for. */
function alterationsOf(collection: Prepared, existing: ExistingTable): string[] {
  const { table } = collection
  const { columns } = existing
  if (!columns.has('_id')) {
    throw new TypeError(
      `postgresStore: the table ${table.sql} exists, but has no column "_id", so fieldgate did not create it`,
    )
  }
  const misfits = otherTypes(table, existing)
  if (misfits.length > 0) throw new TypeError(misfits.join('\n'))
  // Existing records lack a new field, also one that is required.
  const own = table.columns.map((column) => ({ name: column.name, sql: columnSql(column) }))
  const missing = [...own, ...extraColumns(collection)].filter(({ name }) => !columns.has(name))
  // Those that refuse records which the model allows.
  const relaxed = [...columns].filter(([name, { isNotNull, byDefault }]) => {
    const column = table.byField.get(name)
    return isNotNull && !(column ? column.absence === 'never' : byDefault !== undefined)
  })
  return [
    ...missing.map(({ sql }) => `ADD COLUMN ${sql}`),
    ...relaxed.map(([name]) => `ALTER COLUMN ${identifier(name)} DROP NOT NULL`),
  ]
}

/** Of each column with a type that does not do: that it has it, with the SQL that changes it. */
function otherTypes(table: Table, there: ExistingTable): string[] {
  return table.columns.flatMap((column) => {
    const existing = there.columns.get(column.name)
    const isOther = existing && existing.type !== column.type
    const isSorted = column.type !== 'text' || existing?.collation === 'C'
    if (!existing || (!isOther && isSorted)) return []
    const wanted = columnSql(column).slice(column.sql.length + 1)
    return `postgresStore: the column ${column.sql} of ${table.sql} has the type ${existing.type}, but the model needs ${wanted}. If its values allow it: ${typeChange(table, there, column, existing, wanted)}`
  })
}

/** Creates one index while others write; waits for a process that is creating it. */
async function prepareIndex(collection: Prepared, wanted: Index): Promise<void> {
  const { connection, table } = collection
  const there = await existingTable(connection, table.sql)
  // Another version may have taken the name since the first look.
  const index = there ? desiredIndex(wanted, there, collection) : wanted
  const existing = there?.indexes.get(index.name)
  if (existing?.isBuilding) {
    await delay(WAIT_MS)
    return prepareIndex(collection, wanted)
  }
  if (!existing?.isValid) {
    if (existing) await dropHalfMade(collection, index.name)
    await buildIndex(collection, index)
  }
  if (!existing?.isOwn || existing.isConstraint !== index.isConstraint) {
    const steps = finishIndex(index, collection)
    // A dump without comments brings back the constraint alone.
    const left = existing?.isConstraint ? steps.slice(-1) : steps
    await runLocking(collection, left.join(';\n'))
  }
}

const WAIT_MS = 250

async function buildIndex(collection: Prepared, index: Index): Promise<void> {
  const { connection, schema, table } = collection
  try {
    await connection.exec(createIndex(index, table, 'CONCURRENTLY'))
  } catch (error) {
    if (!index.fields || codeOf(error) !== TAKEN) throw error
    await dropHalfMade(collection, index.name)
    throw new IndexConflict(schema.name, index.fields, { cause: error })
  }
}

/** What to say of indexes that serve none of the model's needs. */
function ofOthers(existing: ExistingTable, collection: Prepared): string[] {
  const { table, space, schema } = collection
  const versions = obsoleteIndexes(existing, collection).flatMap(({ name, kind, index }) => {
    // A script without routers would tell of all.
    if (kind === 'search') return []
    const fields = index.isWhole ? index.columns : fieldsIn(index.definition, table.columns)
    const unique = kind === 'unique' ? fields : undefined
    return [leftOverWarning('PostgreSQL', { collection: schema.name, name, unique })]
  })
  const wanted = desiredNames(existing, collection)
  const programs = [...existing.indexes].flatMap(([name, index]) => {
    const { isOwn, isPrimary, isUnique, isBuilding, columns } = index
    // One that is being built may be another version's.
    if (isOwn || isPrimary || isBuilding || wanted.has(name)) return []
    if (!columns.some((column) => table.byField.has(column))) return []
    return [
      `PostgreSQL: the index '${name}' of '${schema.name}' was not created by fieldgate, and ${harmOf(isUnique ? columns : undefined)}. If nothing else needs it: DROP INDEX ${identifier(space)}.${identifier(name)}`,
    ]
  })
  return [...versions, ...programs]
}
