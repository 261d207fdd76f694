/** The statements of a page of records in order, and of groups of records with what is computed of each. */

import type {
  AggregateRead,
  GroupKey,
  GroupSort,
  Measure,
} from '../../../src/ports/store/aggregate.ts'
import type { Filter, SortKey } from '../../../src/ports/store/filter.ts'
import { namesOne, type Stretch } from '../planner/seek.ts'
import { whereAll } from './filter.ts'

/** What a page consists of. */
export interface Page {
  /** The columns and the table: `a, b FROM t`. */
  readonly from: string
  readonly filter: Filter
  /** Those of the filter, and what else holds for each record. */
  readonly conditions: readonly string[]
  readonly sort: readonly SortKey[]
  /** What follows the position that the page starts after; without one it starts at the beginning. */
  readonly stretches?: readonly Stretch[] | undefined
  readonly skip?: number | undefined
  readonly limit: number
}

/** How a dialect writes the parts of such a statement. */
export interface PageDialect {
  /** One key of an order. */
  order(key: SortKey): string
  count(records: number): string
  /** How many records to skip: one at least. */
  offset(records: number): string
  /** Selects, one after another; the rest does not run once there are enough rows. */
  oneAfterAnother(selects: readonly string[]): string
}

/** The statement that returns the page's records. */
export function selectPage(page: Page, dialect: PageDialect): string {
  const { from, conditions, sort, skip = 0, limit } = page
  const isOne = namesOne(page.filter) && !page.stretches && skip === 0
  if (isOne) return `SELECT ${from}${whereAll(conditions)}`
  const { stretches = [{ conditions: [], sort }] } = page
  const select = (more: readonly string[], keys: readonly SortKey[], records: number): string => {
    const where = whereAll(more.length === 0 ? conditions : [...conditions, ...more])
    const order = orderBy(keys.map((key) => dialect.order(key)))
    return `SELECT ${from}${where}${order} LIMIT ${dialect.count(records)}`
  }
  const offset = skip > 0 ? ` OFFSET ${dialect.offset(skip)}` : ''
  const [first, ...others] = stretches
  if (first && others.length === 0) return select(first.conditions, first.sort, limit) + offset
  const parts = stretches.map((one) => select(one.conditions, one.sort, limit + skip))
  return `${dialect.oneAfterAnother(parts)} LIMIT ${dialect.count(limit)}${offset}`
}

/** `keys` as an `ORDER BY` with a leading space, or nothing. */
export function orderBy(keys: readonly string[]): string {
  return keys.length === 0 ? '' : ` ORDER BY ${keys.join(', ')}`
}

/** A measure of the values of a field. */
export type ValueMeasure = Exclude<Measure, { op: 'count' }>

/** A column of the rows. */
export interface GroupColumn {
  readonly sql: string
  /** The same as sorts compare it. */
  readonly ordered: string
}

/** How a dialect writes the parts of such a statement. */
export interface GroupDialect {
  /** A key: `ordered` is also what records are grouped by. */
  key(key: GroupKey): GroupColumn
  measure(measure: ValueMeasure): GroupColumn
  /** One key of an order; null comes first ascending and last descending. */
  order(ordered: string, descending: boolean): string
  count(rows: number): string
}

/** The statement of the rows of `read`; its columns are named by their places: `"0"`. */
export function selectGroups(
  { by, measures, sort, limit }: AggregateRead,
  table: string,
  conditions: readonly string[],
  dialect: GroupDialect,
): string {
  const keys = by.map((key) => dialect.key(key))
  const values = measures.map((one) =>
    one.op === 'count' ? { sql: 'count(*)', ordered: 'count(*)' } : dialect.measure(one),
  )
  const columns = [...keys, ...values]
  const list = columns.map(({ sql }, at) => `${sql} AS "${at}"`).join(', ')
  const from = `SELECT ${list} FROM ${table}${whereAll(conditions)}`
  if (keys.length === 0) return from
  // By its place where it is sorted as it is: a field that is called `0` would be taken for the first column.
  const order = sort.map(({ column, descending }: GroupSort) => {
    const { sql, ordered } = columns[column] as GroupColumn
    return dialect.order(ordered === sql ? String(column + 1) : ordered, descending)
  })
  return `${from} GROUP BY ${keys.map(({ ordered }) => ordered).join(', ')}${orderBy(order)} LIMIT ${dialect.count(limit)}`
}
