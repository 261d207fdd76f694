/**
 * One collection of the store.
 *
 * @module
 */

import { onlyDeclared, withDefaults } from '../../../../src/ports/declared.ts'
import type { Filter } from '../../../../src/ports/filter.ts'
import { project } from '../../../../src/ports/projection.ts'
import type { Soon } from '../../../../src/ports/soon.ts'
import {
  AnchorGone,
  type Collection,
  type CollectionSchema,
  type Fields,
  type Read,
  type ReadHints,
} from '../../../../src/ports/store.ts'
import { mapInTurns } from '../../../../src/ports/turns.ts'
import type { Result } from '../connection/connection.ts'
import type { Table } from '../layout/columns.ts'
import { type Reader, type Row, readerOf } from '../layout/rows.ts'
import { literal, Parameters, type Statement } from '../layout/sql.ts'
import { stored } from '../layout/text.ts'
import { type Compilation, namesOne, namesUnique, where } from './filter.ts'
import { inserter } from './inserts.ts'
import { jsonWriter } from './json-rows.ts'
import {
  anchorQuery,
  orderBy,
  type Stretch,
  stretchesAfter,
  stretchesAfterAnchor,
} from './order.ts'
import { idOf, pointReader } from './reads-by-id.ts'
import { writesTo } from './writes.ts'

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
  const insert = inserter(table, runner.write)
  const { update, updateMany, delete: remove } = writesTo(schema, table, runner.write)
  const reads = readsOf(opened)
  return { seeksRecords: true, ...reads, insert, update, updateMany, delete: remove }
}

function readsOf({
  schema,
  table,
  runner,
  whole,
  compilation,
}: Opened): Pick<Collection, 'find' | 'findJson' | 'count' | 'estimate'> {
  const writeJson = jsonWriter(table, schema.declared, false)
  const writeFilled = jsonWriter(table, schema.declared, true)

  const rowsIn = async (
    sql: string,
    { parameters }: Compilation,
    hints?: ReadHints,
    isLong = false,
  ) => (await runner.read({ ...parameters.statement(sql), isLong }, hints)).rows

  // Once: the driver knows a prepared statement by its text, and a text put together again has to be hashed again.
  const oneById = `SELECT ${whole.columns} FROM ${table.sql} WHERE ${table.id} = $1::text`

  const readRow = pointReader(async (ids) => {
    const [id = ''] = ids
    if (ids.length === 1 && !table.isAdopted && id.isWellFormed()) {
      return (await runner.read({ sql: oneById, values: [stored(id)] })).rows
    }
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
    const isLong = !namesUnique(schema, read.filter)
    const rows = await rowsIn(compileRead(read, reader, compiled), compiled, read.hints, isLong)
    if (rows.length === 0 && read.afterRecord) await requireRecord(read.afterRecord, read.hints)
    return rows
  }

  /** Nothing comes after a record that is not there. */
  const requireRecord = async (anchor: Filter, hints?: ReadHints): Promise<void> => {
    const compiled = compilation()
    const sql = `SELECT 1 FROM ${table.sql}${where(anchor, compiled)} LIMIT 1`
    const found = await rowsIn(sql, compiled, hints)
    if (found.length === 0) throw new AnchorGone()
  }

  const find = async (read: Read): Promise<Fields[]> => {
    const reader = read.select ? readerOf(table, read.select) : whole
    const { select } = read
    return recordsOf(await rowsOf(read, reader), reader, (record) => project(record, select))
  }

  return {
    find,

    async findJson(read) {
      const { select, fillDefaults } = read
      if (!select) {
        return mapInTurns(
          await rowsOf(read, whole),
          lengthOf,
          fillDefaults ? writeFilled : writeJson,
        )
      }
      const reader = readerOf(table, select)
      const rows = await rowsOf(read, reader)
      return recordsOf(rows, reader, (record) => selectedJson(record, schema, read))
    },

    async count(filter, hints) {
      const compiled = compilation()
      const sql = `SELECT count(*) FROM ${table.sql}${where(filter, compiled)}`
      return numberIn(await rowsIn(sql, compiled, hints, !namesUnique(schema, filter)))
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
function compileRead(read: Read, { columns }: Reader, compiled: Compilation): string {
  const { filter, sort, skip = 0, limit } = read
  const { parameters, table } = compiled
  const from = `SELECT ${columns} FROM ${table.sql}`
  const { anchor = '', stretches } = startOf(read, compiled)
  if (namesOne(filter) && !stretches && skip === 0) return from + where(filter, compiled)
  const offset = skip > 0 ? ` OFFSET ${parameters.bind(String(skip), 'bigint')}` : ''
  // A limit that the planner can't see makes it plan a prepared statement again each time.
  const limited = (sql: string, most: number) => `${sql} LIMIT ${Math.trunc(most)}`
  const page = ({ conditions, sort: keys }: Stretch, most: number) =>
    limited(`${from}${where(filter, compiled, conditions)}${orderBy(keys, compiled)}`, most)
  const [first = { conditions: [], sort }, ...others] = stretches ?? []
  if (others.length === 0) return anchor + page(first, limit) + offset
  // The parts run in turn, and the rest is not run once there are enough rows.
  const parts = [first, ...others].map((stretch) => `(${page(stretch, limit + skip)})`)
  return anchor + limited(parts.join(' UNION ALL '), limit) + offset
}

/** The stretches that a read returns records of, unless it starts at the beginning, and the `WITH` clause that they need. */
function startOf(
  { sort, after, afterRecord }: Read,
  compiled: Compilation,
): { anchor?: string; stretches?: Stretch[] } {
  if (afterRecord) {
    const rows = `${compiled.table.sql}${where(afterRecord, compiled)}`
    const anchor = anchorQuery(sort, rows, compiled)
    return { anchor, stretches: stretchesAfterAnchor(sort, compiled) }
  }
  return after ? { stretches: stretchesAfter(sort, after, compiled) } : {}
}

/** What `show` makes of each row's record. */
function recordsOf<Shown>(
  rows: readonly Row[],
  reader: Reader,
  show: (record: Fields) => Shown,
): Soon<Shown[]> {
  return mapInTurns(rows, lengthOf, (row) => show(reader.record(row)))
}

function lengthOf(row: Row): number {
  let length = 0
  for (const value of row) length += value?.length ?? 0
  return length
}
