/**
 * The statement of an aggregate: groups of records with what is computed of each.
 *
 * @module
 */

import type { AggregateRead, GroupKey, GroupSort, Measure } from '../../../src/ports/aggregate.ts'
import { whereAll } from './filter.ts'

/** A measure of the values of a field. */
export type ValueMeasure = Exclude<Measure, { op: 'count' }>

/** A column of the rows. */
export interface GroupColumn {
  /** Its value, as SQL. */
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
  /** A number of rows. */
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
  const order = sort.map(({ column, descending }: GroupSort) =>
    dialect.order(columns[column]?.ordered ?? '', descending),
  )
  return `${from} GROUP BY ${keys.map(({ ordered }) => ordered).join(', ')} ORDER BY ${order.join(', ')} LIMIT ${dialect.count(limit)}`
}
