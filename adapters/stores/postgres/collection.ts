/**
 * One collection of the store.
 *
 * @module
 */

import { onlyDeclared } from '../../../src/ports/declared.ts'
import { everything, type Filter } from '../../../src/ports/filter.ts'
import { project } from '../../../src/ports/projection.ts'
import type {
  Change,
  Collection,
  CollectionSchema,
  Fields,
  Projection,
  Read,
  ReadHints,
  WriteOptions,
} from '../../../src/ports/store.ts'
import { compileChange, compileExpected } from './change.ts'
import type { Table } from './columns.ts'
import { type Compilation, compileFilter } from './compile.ts'
import type { Result } from './connection.ts'
import { inserter } from './inserts.ts'
import { jsonWriter } from './json-rows.ts'
import { orderBy, type Stretch, stretchesAfter } from './order.ts'
import { idOf, pointReader } from './reads-by-id.ts'
import { type Reader, type Row, readerOf } from './rows.ts'
import { every, literal, Parameters, type Statement } from './sql.ts'

/** Runs the statements of one collection; its errors are the port's. */
export interface Runner {
  read(statement: Statement, hints?: ReadHints): Promise<Result>
  write(statement: Statement): Promise<Result>
}

/** What the reads and the writes of a collection share. */
interface Opened {
  readonly schema: CollectionSchema
  readonly table: Table
  readonly runner: Runner
  /** Reads all columns. */
  readonly whole: Reader
  /** What one statement is compiled with. */
  compilation(): Compilation
}

/** The collection of `schema`, which is `table` in the database. */
export function openCollection(schema: CollectionSchema, table: Table, runner: Runner): Collection {
  const compilation = () => ({ schema, table, parameters: new Parameters() })
  const opened = { schema, table, runner, whole: readerOf(table), compilation }
  return { ...readsOf(opened), ...writesOf(opened) }
}

function readsOf({
  schema,
  table,
  runner,
  whole,
  compilation,
}: Opened): Pick<Collection, 'find' | 'findJson' | 'count' | 'estimate'> {
  const writeJson = jsonWriter(table, schema.declared)

  const rowsIn = async (sql: string, { parameters }: Compilation, hints?: ReadHints) =>
    (await runner.read(parameters.statement(sql), hints)).rows

  const readRow = pointReader((ids) => {
    const compiled = compilation()
    const condition = where({ op: 'in', field: '_id', values: ids }, compiled)
    return rowsIn(`SELECT ${whole.columns} FROM ${table.sql}${condition}`, compiled)
  })

  const rowsOf = async (read: Read, reader: Reader): Promise<readonly Row[]> => {
    if (read.limit === 0) return []
    const id = reader === whole ? idOf(read) : undefined
    if (id !== undefined) {
      const row = await readRow(id)
      return row ? [row] : []
    }
    const compiled = compilation()
    return rowsIn(compileRead(read, reader, compiled), compiled, read.hints)
  }

  const find = async (read: Read): Promise<Fields[]> => {
    const reader = read.select ? readerOf(table, read.select) : whole
    return recordsOf(await rowsOf(read, reader), reader, read.select)
  }

  return {
    find,

    async findJson(read) {
      if (read.select) return (await find(read)).map((record) => selectedJson(record, schema))
      return Promise.all((await rowsOf(read, whole)).map(writeJson))
    },

    async count(filter, hints) {
      const compiled = compilation()
      const sql = `SELECT count(*) FROM ${table.sql}${where(filter, compiled)}`
      return numberIn(await rowsIn(sql, compiled, hints))
    },

    async estimate() {
      // A small table is counted: the statistics may be old.
      const sql = `SELECT CASE WHEN reltuples < 0 OR pg_relation_size(oid) < ${SMALL}
        THEN (SELECT count(*) FROM ${table.sql}) ELSE reltuples::bigint END
        FROM pg_class WHERE oid = ${literal(table.sql)}::regclass`
      return numberIn(await rowsIn(sql, compilation()))
    },
  }
}

function numberIn([row]: readonly Row[]): number {
  return Number(row?.[0])
}

function writesOf({
  table,
  runner,
  whole,
  compilation,
}: Opened): Pick<Collection, 'insert' | 'update' | 'updateMany' | 'delete'> {
  /** The one record to write, as a condition on the row. */
  const target = (filter: Filter, { expect = {} }: WriteOptions, compiled: Compilation): string => {
    const { parameters } = compiled
    const condition = () =>
      every([compileFilter(filter, compiled), compileExpected(expect, table, parameters)])
    if (namesOne(filter)) return condition()
    // The lock makes sure that the row still meets the condition when it is written, and that another one is taken if
    // it no longer does.
    const chosen = `SELECT ${table.id} FROM ${table.sql} WHERE ${condition()} LIMIT 1 FOR UPDATE`
    return `${table.id} = (${chosen}) AND ${condition()}`
  }

  const written = async (sql: string, { parameters }: Compilation): Promise<Fields | null> => {
    const { rows } = await runner.write(parameters.statement(`${sql} RETURNING ${whole.columns}`))
    const [row] = rows
    return row ? whole.record(row) : null
  }

  const assigned = (change: Change, { parameters }: Compilation): string =>
    compileChange(change, table, parameters) || `${table.id} = ${table.id}`

  return {
    insert: inserter(table, runner),

    update(filter, change, options = {}) {
      const compiled = compilation()
      const assignments = assigned(change, compiled)
      const condition = target(filter, options, compiled)
      return written(`UPDATE ${table.sql} SET ${assignments} WHERE ${condition}`, compiled)
    },

    async updateMany(filter, change) {
      const compiled = compilation()
      const assignments = assigned(change, compiled)
      const sql = `UPDATE ${table.sql} SET ${assignments}${where(filter, compiled)}`
      return (await runner.write(compiled.parameters.statement(sql))).count
    },

    delete(filter, options = {}) {
      const compiled = compilation()
      const condition = target(filter, options, compiled)
      return written(`DELETE FROM ${table.sql} WHERE ${condition}`, compiled)
    },
  }
}

/** The JSON of a part of a record, with `_id` before names that are whole numbers. */
function selectedJson(record: Fields, { declared }: CollectionSchema): string {
  const { _id, ...rest } = declared ? (onlyDeclared(declared, record) as Fields) : record
  const others = JSON.stringify(rest)
  return `{"_id":${JSON.stringify(_id)}${others === '{}' ? '}' : `,${others.slice(1)}`}`
}

/** Bytes of a table that is counted in a few milliseconds. */
const SMALL = 4 * 1024 * 1024

/** The statement that returns a read's records in order. */
function compileRead(
  { filter, sort, after, skip = 0, limit }: Read,
  { columns }: Reader,
  compiled: Compilation,
): string {
  const { parameters, table } = compiled
  const from = `SELECT ${columns} FROM ${table.sql}`
  if (namesOne(filter) && !after && skip === 0) return from + where(filter, compiled)
  const bound = (count: number) => parameters.bind(String(count), 'bigint')
  const offset = skip > 0 ? ` OFFSET ${bound(skip)}` : ''
  const page = ({ conditions, sort: keys }: Stretch, most: number, cut = '') =>
    `${from}${where(filter, compiled, conditions)}${orderBy(keys, compiled)} LIMIT ${bound(most)}${cut}`
  const [first = { conditions: [], sort }, ...others] = after
    ? stretchesAfter(sort, after, compiled)
    : []
  if (others.length === 0) return page(first, limit, offset)
  // The parts run in turn, and the rest is not run once there are enough rows.
  const parts = [first, ...others].map((stretch) => `(${page(stretch, limit + skip)})`)
  return `${parts.join(' UNION ALL ')} LIMIT ${bound(limit)}${offset}`
}

function where(filter: Filter, compiled: Compilation, more: readonly string[] = []): string {
  const conditions = filter === everything ? more : [compileFilter(filter, compiled), ...more]
  const condition = every(conditions)
  return condition === 'TRUE' ? '' : ` WHERE ${condition}`
}

/** Whether only the record with a certain id can match. */
function namesOne(filter: Filter): boolean {
  if (filter.op === 'and') return filter.filters.some(namesOne)
  return filter.op === 'eq' && filter.field === '_id' && filter.value !== null
}

async function recordsOf(
  rows: readonly Row[],
  reader: Reader,
  select: Projection | undefined,
): Promise<Fields[]> {
  const records: Fields[] = []
  for (const row of rows) {
    const made = reader.record(row)
    records.push(project(made instanceof Promise ? await made : made, select))
  }
  return records
}
