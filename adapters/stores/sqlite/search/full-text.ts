/**
 * The trigram index that serves `contains`: FTS5 over a collection's shadows, if SQLite has it.
 *
 * FTS5 is slow with one record at a time (22 µs) and fast with many (7 µs). So a write only notes the changed rows, in a table beside
 * the index, and `mergeSearch` merges them all at once. The rows that may match are those that the index finds and
 * those noted; each is then checked itself, so outdated rows in the index do no harm.
 *
 * A term of one or two characters has no trigram, but begins some: the list of the index's trigrams, itself a table, tells
 * which rows have one that begins so. Each text ends with `END` in the index, so that a trigram begins at every character.
 */

import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import type { Connection } from '../connection/connection.ts'
import { SHADOW_PREFIX, shadowsOf } from '../layout/records.ts'
import { type Creation, identifier, listIn, literal, statement, trigger } from '../layout/sql.ts'
import {
  type Drop,
  dropOf,
  dropsBefore,
  type Existing,
  type Made,
  missingIn,
} from '../schema/steps-to.ts'

/** How many rows are merged at once: this takes a few milliseconds. */
const MERGED = 1000

/** Follows each text in the index. Capitals are in no fold. */
const END = 'EE'

/** One for each set of searched paths: versions of an app that search others may share the database. */
export interface SearchIndex {
  readonly name: string
  readonly index: string
  readonly trigrams: string
  /** The rows that have changed since they were merged. */
  readonly notes: string
  readonly columns: string
  /** Adds rows, with a `WHERE` or all. */
  readonly fill: string
}

export function searchIndexOf(schema: CollectionSchema): SearchIndex {
  const shadows = [...shadowsOf(schema).values()]
  const name = `${schema.name} search ${JSON.stringify(shadows.map((one) => one.name).sort())}`
  const index = identifier(name)
  const columns = shadows.map(({ column }) => column).join(', ')
  const texts = shadows.map(({ column }) => `${column} || ${literal(END)}`).join(', ')
  return {
    ...{ name, index, columns },
    trigrams: identifier(name + TRIGRAMS),
    notes: identifier(name + UNSEARCHED),
    fill: `INSERT INTO ${index} (rowid, ${columns}) SELECT rowid, ${texts} FROM ${identifier(schema.name)}`,
  }
}

/** What follows the index's name in those of its other tables, and of its triggers. */
const [TRIGRAMS, UNSEARCHED] = [' trigrams', ' unsearched'] as const
const TRIGGERS = [' insert', ' update', ' delete'] as const

/** The statements that create the index of `schema` over the existing rows; none if it is there. */
export function searchStepsTo(schema: CollectionSchema, existing: Existing): string[] {
  const parts = partsOf(schema)
  if (missingIn(existing, parts).length === 0) return []
  const { index, fill } = searchIndexOf(schema)
  return [
    ...dropsBefore(existing, parts),
    ...parts.map(({ sql }) => sql),
    fill,
    // Many rows at once leave many segments, and every search would read each of them.
    `INSERT INTO ${index} (${index}) VALUES ('optimize')`,
  ]
}

/** Drops the search indexes of other versions of `schema`. */
export function searchDropsOf(
  { made }: Existing,
  schema: CollectionSchema,
  fullText: boolean,
): readonly Drop[] {
  const own = new Set(partsOf(schema).map(({ name }) => name))
  // A script without the routers of the app doesn't know what they search.
  if (own.size === 0) return []
  return [...made.values()].flatMap((one): Drop[] => {
    const isIndex = isVirtual(one.sql) && !one.name.endsWith(TRIGRAMS)
    const isLeft = isOfSearch(schema.name, one) && !own.has(one.name)
    if (!isLeft || (isVirtual(one.sql) && !fullText)) return []
    return [{ sql: dropOf(one), ...(isIndex && { what: `the index ${one.name}` }) }]
  })
}

/** Whether it is a part of a search index of the table. */
function isOfSearch(table: string, { name }: Made): boolean {
  const part = [...TRIGGERS, TRIGRAMS, UNSEARCHED].find((one) => name.endsWith(one)) ?? ''
  const whole = name.slice(0, name.length - part.length)
  return listIn(whole, `${table} search `)?.every((path) => path.startsWith(SHADOW_PREFIX)) === true
}

function isVirtual(sql: string): boolean {
  return sql.startsWith('CREATE VIRTUAL')
}

/** Merges noted rows into the index; returns false if there may be more. */
export function mergeSearch(connection: Connection, { index, notes, fill }: SearchIndex): boolean {
  const some = `SELECT rowid FROM ${notes} ORDER BY rowid LIMIT ${MERGED}`
  let taken = 0
  connection.transaction(() => {
    const run = (sql: string) => connection.write(statement(sql)).changes
    run(`DELETE FROM ${index} WHERE rowid IN (${some})`)
    run(`${fill} WHERE rowid IN (${some})`)
    taken = run(`DELETE FROM ${notes} WHERE rowid IN (${some})`)
  })
  return taken < MERGED
}

function partsOf(schema: CollectionSchema): Creation[] {
  if (schema.searchable.length === 0) return []
  const { name: own, index, trigrams, notes, columns } = searchIndexOf(schema)
  const noting = (kind: string, event: string, row: string) => {
    const note = `INSERT OR IGNORE INTO ${notes} VALUES (${row}.rowid)`
    return trigger(`${own} ${kind}`, schema.name, event, '', note)
  }
  return [
    {
      name: own,
      sql: `CREATE VIRTUAL TABLE ${index} USING fts5(${columns}, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1')`,
    },
    {
      name: own + TRIGRAMS,
      sql: `CREATE VIRTUAL TABLE ${trigrams} USING fts5vocab(${index}, instance)`,
    },
    { name: own + UNSEARCHED, sql: `CREATE TABLE ${notes} (rowid INTEGER PRIMARY KEY)` },
    noting('insert', 'INSERT', 'new'),
    noting('update', `UPDATE OF ${columns}`, 'new'),
    noting('delete', 'DELETE', 'old'),
  ]
}
