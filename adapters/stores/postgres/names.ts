/**
 * The names of what belongs to a table, which say what it is.
 *
 * @module
 */

import type { SortKey } from '../../../src/ports/filter.ts'
import { shortName } from './sql.ts'

/** The name of a table's primary key. */
export function primaryKeyName(table: string): string {
  return shortName(`${table}_pkey`)
}

/** The name of a unique constraint. Errors contain it, so it tells which fields clash. */
export function uniqueName(table: string, fields: readonly string[]): string {
  return shortName(`${table}_unique_${fields.join('_and_')}`)
}

/** The name of the index that serves an order. */
export function orderName(table: string, keys: readonly SortKey[]): string {
  const words = keys.map(({ field, descending }) => (descending ? `${field}_desc` : field))
  return shortName(`${table}_order_${words.join('_and_')}`)
}

/** The name of the index that serves a search. */
export function searchName(table: string, path: string): string {
  return shortName(`${table}_search_${path}`)
}
