/** One collection of the store. */

import { mapInTurns } from '../../../../src/ports/promises/turns.ts'
import type { Filter, Scalar, SortKey } from '../../../../src/ports/store/filter.ts'
import { project } from '../../../../src/ports/store/projection.ts'
import type { Fields, Read, ReadHints } from '../../../../src/ports/store/records.ts'
import type { Collection, CollectionSchema } from '../../../../src/ports/store/store.ts'
import { AnchorGone } from '../../../../src/ports/store/store-errors.ts'
import { gather } from '../../gather.ts'
import { shownText } from '../../json-values.ts'
import {
  type Bounds,
  boundsAfter,
  idOf,
  type Range,
  type Stretch,
  stretchesBeyond,
} from '../../planner/seek.ts'
import { selectPage } from '../../sql/page.ts'
import type { Table } from '../layout/columns.ts'
import { dateText } from '../layout/dates.ts'
import { ported } from '../layout/errors.ts'
import {
  type Collected,
  type Compilation,
  type Operand,
  sorted,
  valueAt,
} from '../layout/operands.ts'
import { jsonWriter, type Reader, type Result, type Row, readerOf } from '../layout/rows.ts'
import { literal, Parameters, restored, type Statement, stored } from '../layout/sql.ts'
import { compileGroups, groupReader } from './aggregate.ts'
import { comparison, compileFilter, namesUnique, where } from './filter.ts'
import { inserter } from './inserts.ts'
import { writesTo } from './writes.ts'

/** Runs statements; its errors are the driver's. */
export interface Runner {
  read(statement: Statement, hints?: ReadHints): Promise<Result>
  run(statement: Statement): Promise<Result>
}

/** The collection of `schema`, which is `table` in the database. */
export function openCollection(schema: CollectionSchema, table: Table, runner: Runner): Collection {
  const read: Runner['read'] = (statement, hints) => ported(runner.read(statement, hints))
  const write = (statement: Statement) => ported(runner.run(statement), table)
  const { update, updateMany, delete: remove } = writesTo(schema, table, write)
  return {
    seeksRecords: true,
    ...readsOf(schema, table, read),
    insert: inserter(table, write, true),
    update,
    updateMany,
    delete: remove,
  }
}

function readsOf(
  schema: CollectionSchema,
  table: Table,
  run: Runner['read'],
): Pick<Collection, 'find' | 'findJson' | 'count' | 'aggregate' | 'estimate'> {
  const whole = readerOf(table)
  const writeJson = jsonWriter(table, schema.declared, false)
  const writeFilled = jsonWriter(table, schema.declared, true)
  const readRow = rowReader(schema, table, run)

  /** The rows of the statement that `sqlOf` compiles, which reads the records that match `filter`. */
  const ask = async (
    filter: Filter,
    sqlOf: (compiled: Compilation) => string,
    hints?: ReadHints,
  ) => {
    const compiled = { schema, table, parameters: new Parameters() }
    const sql = sqlOf(compiled)
    const isLong = !namesUnique(schema, filter)
    return (await run({ ...compiled.parameters.statement(sql), isLong }, hints)).rows
  }

  const rowsOf = (read: Read, reader: Reader): Promise<readonly Row[]> => {
    const isPlain = reader === whole && read.hints?.timeLimitMs === undefined
    const id = isPlain ? idOf(read) : undefined
    return id === undefined ? pageOf(read, reader) : readRow(id)
  }

  const pageOf = async (read: Read, reader: Reader): Promise<readonly Row[]> => {
    const { limit, hints, afterRecord, filter } = read
    if (limit === 0) return []
    const rows = await ask(filter, (compiled) => compileRead(read, reader, compiled), hints)
    if (rows.length > 0 || !afterRecord) return rows
    // Nothing comes after a record that is not there.
    const isThere = (compiled: Compilation) =>
      `SELECT 1 FROM ${table.sql}${where(afterRecord, compiled)} LIMIT 1`
    if ((await ask(afterRecord, isThere, hints)).length === 0) throw new AnchorGone()
    return rows
  }

  /** What `show` makes of the record of each row that `read` asks for. */
  const shown = async <Shown>(read: Read, show: (record: Fields) => Shown): Promise<Shown[]> => {
    const reader = read.select ? readerOf(table, read.select) : whole
    return mapInTurns(await rowsOf(read, reader), lengthOf, (row) => show(reader.record(row)))
  }

  return {
    find: (read) => shown(read, (record) => project(record, read.select)),

    async findJson(read) {
      if (read.select) return shown(read, (record) => shownText(record, schema, read))
      const rows = await rowsOf(read, whole)
      return mapInTurns(rows, lengthOf, read.fillDefaults ? writeFilled : writeJson)
    },

    async count(filter, hints) {
      const count = (compiled: Compilation) =>
        `SELECT count(*) FROM ${table.sql}${where(filter, compiled)}`
      const [row] = await ask(filter, count, hints)
      return Number(row?.[0])
    },

    async aggregate(read) {
      const rows = await ask(read.filter, (compiled) => compileGroups(read, compiled), read.hints)
      return rows.map(groupReader(read, { schema, table }))
    },

    async estimate() {
      // A small table is counted: the statistics may be old.
      const sql = `SELECT CASE WHEN reltuples < 0 OR pg_relation_size(oid) < ${SMALL_BYTES}
        THEN (SELECT count(*) FROM ${table.sql}) ELSE reltuples::bigint END
        FROM pg_class WHERE oid = ${literal(table.sql)}::regclass`
      const { rows } = await run({ sql, values: [] })
      return Number(rows[0]?.[0])
    },
  }
}

/** Reads the row with an id, if it is there. Reads of one turn of the event loop share a statement. */
function rowReader(
  schema: CollectionSchema,
  table: Table,
  run: Runner['read'],
): (id: string) => Promise<readonly Row[]> {
  const { columns } = readerOf(table)
  const from = `SELECT ${columns} FROM ${table.sql}`
  // Once: the driver knows a prepared statement by its text, and a text put together again has to be hashed again.
  const oneById = `${from} WHERE ${table.id} = $1::text`

  const read = async (ids: readonly string[]): Promise<readonly Row[]> => {
    const [id = ''] = ids
    if (ids.length === 1 && !table.isAdopted) {
      return (await run({ sql: oneById, values: [stored(id)] })).rows
    }
    const compiled: Compilation = { schema, table, parameters: new Parameters() }
    const condition = where({ op: 'in', field: '_id', values: ids }, compiled)
    return (await run(compiled.parameters.statement(from + condition))).rows
  }

  return gather((ids: string[]) => {
    if (ids.length === 1) return [read(ids)]
    const found = read([...new Set(ids)]).then(
      (rows) => new Map(rows.map((row) => [restored(String(row[0])), [row]])),
    )
    return ids.map(async (id) => (await found).get(id) ?? [])
  })
}

/** Bytes of a table that is counted in a few milliseconds. */
const SMALL_BYTES = 4 * 1024 * 1024

function compileRead(read: Read, { columns }: Reader, compiled: Compilation): string {
  const { filter, sort, skip = 0, limit } = read
  const { parameters, table } = compiled
  const from = `${columns} FROM ${table.sql}`
  const { anchor, stretches } = startOf(read, compiled)
  const conditions = [compileFilter(filter, compiled)]
  const page = { from, filter, conditions, sort, stretches, skip, limit }
  const sql = selectPage(page, {
    order: (key) => sorted(key, compiled),
    // A limit that the planner can't see makes it plan a prepared statement again each time. A search has to be: for any text,
    // it expects one record in 200, and so looks through the order for fifty.
    count: (records) =>
      mayContain(filter) ? parameters.integer(records) : String(Math.trunc(records)),
    offset: (records) => parameters.integer(records),
    // The parts run in turn.
    oneAfterAnother: (selects) => selects.map((select) => `(${select})`).join(' UNION ALL '),
  })
  return anchor + sql
}

function mayContain(filter: Filter): boolean {
  return 'filters' in filter ? filter.filters.some(mayContain) : filter.op === 'contains'
}

function lengthOf(row: Row): number {
  let length = 0
  for (const value of row) length += value?.length ?? 0
  return length
}

/** Where the page of a read starts: what follows the position, if there is one, and the `WITH` clause that this needs. */
function startOf(
  { sort, after, afterRecord }: Read,
  compiled: Compilation,
): { anchor: string; stretches?: readonly Stretch[] } {
  if (afterRecord) {
    const values = sort.map(({ field }, at) => `${valueAt(field, compiled).ordered} AS value${at}`)
    const rows = `${compiled.table.sql}${where(afterRecord, compiled)}`
    const anchor = `WITH anchor AS MATERIALIZED (SELECT ${values.join(', ')} FROM ${rows} LIMIT 1) `
    const bounds = sort.map((key, at) => anchorBounds(key, at, compiled))
    return { anchor, stretches: stretchesBeyond(sort, bounds) }
  }
  if (!after) return { anchor: '' }
  const values = after.map((value, at) => heldAt(sort[at]?.field ?? '', value, compiled))
  const id = values[sort.findIndex(({ field }) => field === '_id')]
  const bounds = boundsAfter(sort, values, (field) => {
    const operand = valueAt(field, compiled)
    return {
      isNull: `${operand.ordered} IS NULL`,
      isThere: `${operand.ordered} IS NOT NULL`,
      compare: (sign, value) => comparedTo(operand, sign, value, id, compiled),
    }
  })
  return { anchor: '', stretches: stretchesBeyond(sort, bounds) }
}

/** `operand` compared with that of a position, which is at the record with `id`. */
function comparedTo(
  operand: Operand,
  sign: '=' | '<' | '>',
  value: NonNullable<Scalar>,
  id: Scalar | undefined,
  compiled: Compilation,
): string {
  const { table, parameters } = compiled
  const { sql, ordered, type } = operand
  const equals = (one: Operand, other: NonNullable<Scalar>) =>
    comparison(one, '=', other, parameters)
  if (isRounded(operand, value) && typeof id === 'string') {
    // Of values that are shown alike, only the record at the position tells which one it has.
    const double = () => parameters.bind(String(value), 'double precision')
    const isShown =
      value instanceof Date ? equals(operand, value) : `${sql}::double precision = ${double()}`
    const record = equals(valueAt('_id', compiled), id)
    const own = `(SELECT CASE WHEN ${isShown} THEN ${ordered} END FROM ${table.sql} WHERE ${record})`
    return `${ordered} ${sign} COALESCE(${own}, ${parameters.bind(roundedText(value, type), type)})`
  }
  const isText = operand.kind === 'date' && typeof value === 'string'
  return comparison(isText ? { ...operand, kind: 'string' } : operand, sign, value, parameters)
}

/** Whether the database may have more digits of a value than JavaScript. */
function isRounded({ isFine, type }: Operand, value: Scalar): boolean {
  if (typeof value !== 'number') return isFine === true && value instanceof Date
  return type === 'numeric' || (type === 'bigint' && !Number.isSafeInteger(value))
}

function roundedText(value: NonNullable<Scalar>, type: string): string {
  if (value instanceof Date) return dateText(value)
  // 2^63 is one more than there is.
  return String(type === 'bigint' ? BigInt(value) - ((value as number) > 0 ? 1n : 0n) : value)
}

/** A value as orders have it: JSON of a type that the field does not have is null there. A date is a string in JSON. */
function heldAt(field: string, value: Scalar, compiled: Compilation): Scalar {
  const { kind } = valueAt(field, compiled)
  if (kind === 'date') return value instanceof Date || typeof value === 'string' ? value : null
  return typeof value === (kind === 'id' ? 'string' : kind) ? value : null
}

/**
 * The bounds of the anchor's value, which only the database knows. The tests that do not depend on a row are made once, before
 * a range is read. Without a record, nothing follows.
 */
function anchorBounds({ field, descending }: SortKey, at: number, collected: Collected): Bounds {
  const { ordered, isNotNull } = valueAt(field, collected)
  const value = `(SELECT value${at} FROM anchor)`
  const tie = `${ordered} = ${value}`
  const later = { condition: `${ordered} ${descending ? '<' : '>'} ${value}` }
  if (field === '_id' || isNotNull) return { ties: () => [tie], beyond: [later] }
  const isNull = `(SELECT value${at} IS NULL FROM anchor)`
  const nulls: Range = descending
    ? { condition: `${ordered} IS NULL AND NOT ${isNull}`, isConstant: true }
    : { condition: `${ordered} IS NOT NULL AND ${isNull}` }
  return { ties: () => [tie, `${ordered} IS NULL AND ${isNull}`], beyond: [later, nulls] }
}
