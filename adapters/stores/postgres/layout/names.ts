/**
 * The names of what belongs to a table, which say what it is.
 *
 * @module
 */

import type { SortKey } from '../../../../src/ports/filter.ts'
import { checksum, shortName } from './sql.ts'

/** The name of a table's primary key. */
export function primaryKeyName(table: string): string {
  return shortName(`${table}_pkey`)
}

/** The names of the constraints of a table's unique sets. Errors contain them, so they tell which fields clash. */
export function uniqueNames(table: string, sets: readonly (readonly string[])[]): string[] {
  return distinct(
    sets.map((fields) => `${table}_unique_${fields.join('_and_')}`),
    sets,
  )
}

/** The names of the indexes that serve a table's orders. */
export function orderNames(table: string, orders: readonly (readonly SortKey[])[]): string[] {
  const names = orders.map((keys) => {
    const words = keys.map(({ field, descending }) => (descending ? `${field}_desc` : field))
    return `${table}_order_${words.join('_and_')}`
  })
  return distinct(
    names,
    orders.map((keys) => keys.map(({ field, descending }) => [field, descending])),
  )
}

/**
 * `names` of different `things`. If fields have names like `a_and_b`, several may be the same: all of these end with a
 * checksum, because the index that already has the name may be of any of them.
 */
function distinct(names: readonly string[], things: readonly unknown[]): string[] {
  const texts = things.map((thing) => JSON.stringify(thing))
  return names.map((name, at) => {
    const text = texts[at] ?? ''
    const isShared = names.some((other, index) => other === name && texts[index] !== text)
    return shortName(isShared ? `${name}_${checksum(text)}` : name)
  })
}

/** The name of the index that serves filters by the elements of a list. */
export function listName(table: string, field: string): string {
  return shortName(`${table}_list_${field}`)
}

/** The name of the index that serves a search; `label` as `searchLabel` has it. */
export function searchName(table: string, label: string): string {
  return shortName(`${table}_search_${label}`)
}
