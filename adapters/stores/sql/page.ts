/**
 * The statement of a page of records in order.
 *
 * @module
 */

import type { SortKey } from '../../../src/ports/filter.ts'
import type { Stretch } from '../planner/seek.ts'
import { whereAll } from './filter.ts'

/** What a page consists of. */
export interface Page {
  /** The columns and the table: `a, b FROM t`. */
  readonly from: string
  readonly conditions: readonly string[]
  readonly sort: readonly SortKey[]
  /** What follows the position that the page starts after; without one it starts at the beginning. */
  readonly stretches?: readonly Stretch[] | undefined
  readonly skip?: number | undefined
  readonly limit: number
}

/** How a dialect writes the parts of such a statement. */
export interface PageDialect {
  /** An `ORDER BY` with a leading space, or nothing. */
  orderBy(sort: readonly SortKey[]): string
  /** A number of records. */
  count(records: number): string
  /** How many records to skip: one at least. */
  offset(records: number): string
  /** Selects, one after another; the rest does not run once there are enough rows. */
  oneAfterAnother(selects: readonly string[]): string
}

/** The statement that returns the page's records. */
export function selectPage(page: Page, dialect: PageDialect): string {
  const { from, conditions, sort, skip = 0, limit } = page
  const { stretches = [{ conditions: [], sort }] } = page
  const select = (more: readonly string[], keys: readonly SortKey[], records: number): string => {
    const where = whereAll(more.length === 0 ? conditions : [...conditions, ...more])
    return `SELECT ${from}${where}${dialect.orderBy(keys)} LIMIT ${dialect.count(records)}`
  }
  const offset = skip > 0 ? ` OFFSET ${dialect.offset(skip)}` : ''
  const [first, ...others] = stretches
  if (first && others.length === 0) return select(first.conditions, first.sort, limit) + offset
  const parts = stretches.map((one) => select(one.conditions, one.sort, limit + skip))
  return `${dialect.oneAfterAnother(parts)} LIMIT ${dialect.count(limit)}${offset}`
}
