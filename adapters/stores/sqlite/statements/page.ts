/**
 * The statement of a read: a page of records in order.
 *
 * @module
 */

import type { Filter, SortKey } from '../../../../src/ports/filter.ts'
import type { Read } from '../../../../src/ports/store.ts'
import { isLonger, type Parameters } from '../sql.ts'
import type { Compilation } from './filter.ts'
import {
  type Bounds,
  behind,
  boundsAfter,
  boundsAfterRow,
  orderBy,
  type Stretch,
  stretches,
} from './order.ts'
import { where, whereAll } from './writes.ts'

/** What a statement selects, and from where. */
export interface From {
  readonly columns: string
  /** The table, as an identifier. */
  readonly table: string
  /** The most bytes that the statement may have, if there is a limit. */
  readonly mostBytes?: number | undefined
}

/** The statement that returns a read's records in order, of those that meet `conditions`. */
export function compilePage(
  { columns, table, mostBytes }: From,
  read: Read,
  conditions: readonly string[],
  compiled: Compilation,
): string {
  const { parameters } = compiled
  const { filter, sort, skip = 0, limit, afterRecord } = read
  const from = `${columns} FROM ${table}`
  const row = afterRecord && `${table}${whereAll(where(afterRecord, compiled))}`
  const bounds = boundsOf(read, row, compiled)
  if (namesOne(filter) && !bounds && skip === 0) return `SELECT ${from}${whereAll(conditions)}`
  const select = (all: readonly string[], keys: readonly SortKey[], count: number): string =>
    `SELECT ${from}${whereAll(all)}${orderBy(keys, compiled)} LIMIT ${parameters.bind(count)}`
  const offset = skip > 0 ? offsetOf(skip, parameters) : ''
  if (!bounds) return select(conditions, sort, limit) + offset
  const selectAll = (parts: readonly Stretch[]): string => {
    const selects = parts.map(
      (part) =>
        `SELECT * FROM (${select([...conditions, ...part.conditions], part.sort, limit + skip)})`,
    )
    return `${oneAfterAnother(selects)} LIMIT ${parameters.bind(limit)}${offset}`
  }
  const inStretches = selectAll(stretches(sort, bounds))
  if (!isLonger(inStretches, mostBytes)) return inStretches
  // With each condition once: SQLite then looks for the position from the start.
  const found = row ? `WITH ${POSITION} AS (SELECT _id, doc FROM ${row}) ` : ''
  const isBehind = behind(row ? boundsAfterRow(sort, POSITION, compiled) : bounds)
  return found + selectAll([{ conditions: [isBehind], sort }])
}

/** The record to start after, as a table. */
const POSITION = '"fieldgate position"'

/** Whether only the record with a certain id can match: then there is nothing to sort, to cut or to interrupt. */
export function namesOne(filter: Filter): boolean {
  if (filter.op === 'and') return filter.filters.some(namesOne)
  return filter.op === 'eq' && filter.field === '_id'
}

/** Whether a read is one of a record by its id, with nothing else that may take long. */
export function isQuick({
  filter,
  after,
  afterRecord,
  skip = 0,
}: Pick<Read, 'filter' | 'after' | 'afterRecord' | 'skip'>): boolean {
  if (after || afterRecord || skip > 0) return false
  if (filter.op === 'and') return filter.filters.every(isEquality) && namesOne(filter)
  return namesOne(filter)
}

function isEquality({ op }: Filter): boolean {
  return op === 'eq'
}

/** The bounds of the position that a read starts after, which may be that of a row; undefined without one. */
function boundsOf(
  { sort, after }: Read,
  row: string | undefined,
  compiled: Compilation,
): Bounds[] | undefined {
  if (row) return boundsAfterRow(sort, row, compiled)
  return after && boundsAfter(sort, after, compiled)
}

/** A deep offset has an SQL string of its own, so that near pages are not treated as slow because a deep one was. */
function offsetOf(skip: number, parameters: Parameters): string {
  const bound = parameters.bind(skip)
  return ` OFFSET ${skip < DEEP ? bound : `(${bound})`}`
}

const DEEP = 10_000

/** SQLite runs the parts of a `UNION ALL` in turn and stops at the limit; D1 takes five at once. */
function oneAfterAnother(selects: readonly string[]): string {
  if (selects.length <= MAX_TERMS) return selects.join(' UNION ALL ')
  const first = selects.slice(0, MAX_TERMS - 1).join(' UNION ALL ')
  return `${first} UNION ALL SELECT * FROM (${oneAfterAnother(selects.slice(MAX_TERMS - 1))})`
}

const MAX_TERMS = 5
