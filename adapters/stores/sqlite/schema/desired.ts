/**
 * What a collection's schema needs in the database: its table, its indexes and its triggers.
 *
 * @module
 */

import type { SortKey } from '../../../../src/ports/filter.ts'
import type { CollectionSchema } from '../../../../src/ports/store.ts'
import { totalOrder } from '../../planner/seek.ts'
import { logTriggers } from '../changes/log.ts'
import { fieldValue, SHADOW_PREFIX, type Shadow } from '../layout/records.ts'
import { STAMP, stampTrigger } from '../layout/schema-stamps.ts'
import { identifier, orderIndexName, uniqueIndexName } from '../layout/sql.ts'

export interface Index {
  readonly name: string
  readonly sql: string
  readonly fields?: readonly string[]
}

export function createTable(table: string, shadows: readonly Shadow[]): string {
  const columns = shadows.map(({ column }) => `, ${column} TEXT`).join('')
  return `CREATE TABLE IF NOT EXISTS ${table} (rowid INTEGER PRIMARY KEY, _id TEXT NOT NULL UNIQUE, ${STAMP} INTEGER, doc TEXT NOT NULL${columns})`
}

/**
 * The triggers that keep stamps and shadows true when another version of the app, or another program, writes, and those
 * that note changes.
 */
export function triggersOf(schema: CollectionSchema, shadows: readonly Shadow[]): Index[] {
  const { name: table } = schema
  const own = shadows.map((shadow) => shadowTrigger(table, shadow))
  return [stampTrigger(table), ...own, ...logTriggers(schema)]
}

/** Empties a shadow if its record is changed without it: whoever keeps it never leaves it the same. */
function shadowTrigger(table: string, { name: of, column, source }: Shadow): Index {
  const [name, on] = [`${table}${STALE}${of}`, identifier(table)]
  const [before, now] = ['old', 'new'].map((row) => source.replace('doc', `${row}.doc`))
  const isForeign = `new.${column} IS old.${column} AND new.${column} IS NOT NULL AND ${now} IS NOT ${before}`
  const empties = `UPDATE ${on} SET ${column} = NULL WHERE rowid = new.rowid`
  return {
    name,
    sql: `CREATE TRIGGER ${identifier(name)} AFTER UPDATE OF doc ON ${on} WHEN ${isForeign} BEGIN ${empties}; END`,
  }
}

/** The index of the records that lack a shadow: nearly always empty. All others have it. */
export function lackingIndex(table: string, { name: of, isLacking }: Shadow): Index {
  const name = `${table}${LACKING}${of}`
  return { name, sql: `${createIndex('INDEX', name, table, 'rowid')} WHERE ${isLacking}` }
}

const STALE = ' stale '
const LACKING = ' lacking '

/**
 * All indexes of a collection. NULLs never clash in SQLite, so unique indexes are always sparse. Plain ones end with
 * `_id`, as total orders do.
 */
export function indexesOf({ name: table, shape, unique, indexes }: CollectionSchema): Index[] {
  const on = ({ field, descending }: SortKey) =>
    `${fieldValue(field, shape)}${descending ? ' DESC' : ''}`
  return [
    ...unique.map((fields): Index => {
      const name = uniqueIndexName(table, fields)
      const keys = fields.map((field) => fieldValue(field, shape)).join(', ')
      return { name, fields, sql: createIndex('UNIQUE INDEX', name, table, keys) }
    }),
    ...indexes.map((declared): Index => {
      const written = declared.map(({ field, descending }) => (descending ? `-${field}` : field))
      const name = orderIndexName(table, written)
      const keys = totalOrder(declared).map(on).join(', ')
      return { name, sql: createIndex('INDEX', name, table, keys) }
    }),
  ]
}

/** Spelled as the database keeps it, so that it can be compared with what exists. */
function createIndex(kind: string, name: string, table: string, keys: string): string {
  return `CREATE ${kind} ${identifier(name)} ON ${identifier(table)} (${keys})`
}

/** Whether it serves a shadow of its table. */
export function isOfShadow({ table, name }: Readonly<Record<'table' | 'name', string>>): boolean {
  return [STALE, LACKING].some((kind) => name.startsWith(`${table}${kind}${SHADOW_PREFIX}`))
}
