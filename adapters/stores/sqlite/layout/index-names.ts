/**
 * The names of indexes, which say what they are: errors contain them, and an index without a model's need is known by it.
 *
 * @module
 */

import { caseKept, caseRestored } from './sql.ts'

/** The name of a unique index. Errors contain it, so it tells which fields clash. */
export function uniqueIndexName(table: string, fields: readonly string[]): string {
  return `${table}${UNIQUE}${caseKept(JSON.stringify(fields))}`
}

const UNIQUE = ' unique '
const ORDER = ' index '

/** The name of the index that serves an order. */
export function orderIndexName(table: string, keys: readonly string[]): string {
  return `${table}${ORDER}${caseKept(JSON.stringify(keys))}`
}

/** The fields of the unique index of a table that `name` is the name of; undefined if it is none. */
export function uniqueFieldsIn(table: string, name: string): readonly string[] | undefined {
  return listIn(name, `${table}${UNIQUE}`)
}

/** The strings in the list that follows `start`; undefined in any other name. */
export function listIn(name: string, start: string): readonly string[] | undefined {
  if (!name.startsWith(`${start}["`) || !name.endsWith('"]')) return undefined
  try {
    return JSON.parse(caseRestored(name.slice(start.length)))
  } catch {
    // Somebody else's.
    return undefined
  }
}

/** Only fieldgate's own: an index that you created by hand stays. */
export function isDeclaredIndex(table: string, name: string): boolean {
  return (uniqueFieldsIn(table, name) ?? listIn(name, `${table}${ORDER}`)) !== undefined
}
