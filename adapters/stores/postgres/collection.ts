/**
 * One collection of the store.
 *
 * @module
 */

import { onlyDeclared, withDefaults } from '../../../src/ports/declared.ts'
import { everything, type Filter } from '../../../src/ports/filter.ts'
import { project } from '../../../src/ports/projection.ts'
import type {
  Change,
  Collection,
  CollectionSchema,
  Fields,
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
import { type Reader, type Row, readerOf } from './rows.ts'
import { every, literal, Parameters, type Statement } from './sql.ts'

/** Runs the statements of one collection; its errors are the port's. */
export interface Runner {
  read(statement: Statement, hints?: ReadHints): Promise<Result>
  write(statement: Statement): Promise<Result>
}

/** The collection of `schema`, which is `table` in the database. */
export function openCollection(schema: CollectionSchema, table: Table, runner: Runner): Collection {
  const whole = readerOf(table)
  const insert = inserter(table, runner)

  const compilation = (): Compilation => ({ schema, table, parameters: new Parameters() })

  const number = async (sql: string, { parameters }: Compilation, hints?: ReadHints) => {
    const { rows } = await runner.read(parameters.statement(sql), hints)
    return Number(rows[0]?.[0])
  }

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

  const rowsOf = async (read: Read, reader: Reader): Promise<readonly Row[]> => {
    if (read.limit === 0) return []
    const compiled = compilation()
    const sql = compileRead(read, reader, compiled)
    return (await runner.read(compiled.parameters.statement(sql), read.hints)).rows
  }

  const find = async (read: Read): Promise<Fields[]> => {
    const reader = read.select ? readerOf(table, read.select) : whole
    const records = await recordsOf(await rowsOf(read, reader), reader)
    return records.map((record) => project(record, read.select))
  }

  const writeJson = jsonWriter(table, schema.declared, false)
  const writeFilled = jsonWriter(table, schema.declared, true)

  return {
    find,

    async findJson(read) {
      const { select, fillDefaults } = read
      if (!select) {
        return Promise.all((await rowsOf(read, whole)).map(fillDefaults ? writeFilled : writeJson))
      }
      const reader = readerOf(table, select)
      const records = await recordsOf(await rowsOf(read, reader), reader)
      return records.map((record) => selectedJson(record, schema, read))
    },

    count(filter, hints) {
      const compiled = compilation()
      return number(`SELECT count(*) FROM ${table.sql}${where(filter, compiled)}`, compiled, hints)
    },

    estimate() {
      // A small table is counted: the statistics may be old.
      const sql = `SELECT CASE WHEN reltuples < 0 OR pg_relation_size(oid) < ${SMALL}
        THEN (SELECT count(*) FROM ${table.sql}) ELSE reltuples::bigint END
        FROM pg_class WHERE oid = ${literal(table.sql)}::regclass`
      return number(sql, compilation())
    },

    insert,

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
function selectedJson(
  record: Fields,
  { declared }: CollectionSchema,
  { select, fillDefaults }: Pick<Read, 'select' | 'fillDefaults'>,
): string {
  const shown = declared ? onlyDeclared(declared, record) : record
  const whole = declared && fillDefaults ? withDefaults(declared, shown) : shown
  const { _id, ...rest } = project(whole as Fields, select)
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

async function recordsOf(rows: readonly Row[], reader: Reader): Promise<Fields[]> {
  const records: Fields[] = []
  for (const row of rows) {
    const made = reader.record(row)
    records.push(made instanceof Promise ? await made : made)
  }
  return records
}
