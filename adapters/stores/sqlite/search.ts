/**
 * The trigram index that serves `contains`: FTS5 over a collection's shadows, if SQLite has it.
 *
 * FTS5 is slow with one record at a time and fast with many. So a write only notes the changed rows, in a table beside
 * the index, and `mergeSearch` merges them all at once. The rows that may match are those that the index finds and
 * those noted; each is then checked itself, so outdated rows in the index do no harm. Terms of fewer than three
 * characters have no trigram and scan every row.
 *
 * @module
 */

import type { CollectionSchema } from '../../../src/ports/store.ts'
import type { Candidates, Search } from './compile.ts'
import type { Connection } from './connection.ts'
import { DEADLINE } from './functions.ts'
import { type Shadow, shadowsOf } from './shadow.ts'
import type { Row } from './sql.ts'
import { identifier, literal, type Statement } from './sql.ts'

const TRIGRAM = 3
/** If more rows than this match, the first in order are found sooner without the index. */
const FEW = 1000
/** How many rows are merged at once: this takes a few milliseconds. */
const MERGED = 1000

const indexOf = (table: string): string => identifier(`${table} search`)
const notesOf = (table: string): string => identifier(`${table} unsearched`)
const listOf = (shadows: readonly Shadow[]): string =>
  shadows.map(({ column }) => column).join(', ')

/** Whether this SQLite has full-text search. */
export function hasFullText(connection: Connection): boolean {
  const sql = "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"
  return connection.rows({ sql, values: [] }).length > 0
}

/** The conditions for any number of rows. */
export function candidatesIn(table: string): Candidates {
  return ({ column }, text, parameters) => {
    if (!isLonger(text)) return undefined
    const found = `${matching(table, column, parameters.bind(phraseOf(text)))} AND ${DEADLINE}`
    // The index's result is complete before any row is checked.
    return `rowid IN (${found} UNION ALL SELECT rowid FROM ${notesOf(table)})`
  }
}

/**
 * The conditions for the first rows in order. The index is queried for the `searches` beforehand, once for each,
 * because its time grows with the records. The notes are read in the same statement, because another process may merge
 * them before the next one.
 */
export async function foundIn(
  table: string,
  searches: readonly Search[],
  read: (statement: Statement) => Promise<readonly Row[]>,
): Promise<Candidates> {
  const found = new Map<string, string>()
  for (const { shadow, text } of searches.filter(({ text }) => isLonger(text))) {
    const sql = `SELECT rowid, 1 AS isFound FROM (${matching(table, shadow.column, '?1')} LIMIT ${FEW + 1}) UNION ALL SELECT rowid, 0 FROM ${notesOf(table)}`
    const rows = await read({ sql, values: [phraseOf(text)] })
    const isFew = rows.filter(({ isFound }) => isFound).length <= FEW
    if (isFew) found.set(shadow.column + text, JSON.stringify(rows.map(({ rowid }) => rowid)))
  }
  return ({ column }, text, parameters) => {
    const rowids = found.get(column + text)
    return rowids && `rowid IN (SELECT value FROM json_each(${parameters.bind(rowids)}))`
  }
}

function matching(table: string, column: string, phrase: string): string {
  return `SELECT rowid FROM ${indexOf(table)} WHERE ${column} MATCH ${phrase}`
}

function phraseOf(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

function isLonger(text: string): boolean {
  return text.length >= 2 * TRIGRAM || [...text].length >= TRIGRAM
}

/** Whether exactly the index of `schema` exists. */
export function hasSearch(connection: Connection, schema: CollectionSchema): boolean {
  const [wanted, existing] = [objectsFor(schema), objectsIn(connection, schema.name)]
  return (
    existing.size === wanted.size && [...wanted].every(([name, sql]) => existing.get(name) === sql)
  )
}

/**
 * Drops the index of a table, as far as it exists. Without full-text search the index itself stays, but writes no
 * longer use it.
 */
export function dropSearch(connection: Connection, table: string, fullText: boolean): void {
  for (const name of objectsIn(connection, table).keys()) {
    const isTrigger = name.startsWith(`${table} search `)
    if (name === `${table} search` && !fullText) continue
    connection.db.exec(`DROP ${isTrigger ? 'TRIGGER' : 'TABLE'} ${identifier(name)}`)
  }
}

/** Creates the index over the existing rows. */
export function makeSearch(connection: Connection, schema: CollectionSchema): void {
  for (const sql of objectsFor(schema).values()) connection.db.exec(sql)
  const shadows = [...shadowsOf(schema).values()]
  if (shadows.length === 0) return
  const index = indexOf(schema.name)
  const columns = listOf(shadows)
  connection.db.exec(
    `INSERT INTO ${index} (rowid, ${columns}) SELECT rowid, ${columns} FROM ${identifier(schema.name)}`,
  )
  // Many rows at once leave many segments, and every search would read each of them.
  connection.db.exec(`INSERT INTO ${index} (${index}) VALUES ('optimize')`)
}

/** Merges noted rows into the index; returns false if there may be more. */
export function mergeSearch(connection: Connection, schema: CollectionSchema): boolean {
  const [table, index, notes] = [schema.name, indexOf(schema.name), notesOf(schema.name)]
  const columns = listOf([...shadowsOf(schema).values()])
  const some = `SELECT rowid FROM ${notes} ORDER BY rowid LIMIT ${MERGED}`
  let taken = 0
  connection.transaction(() => {
    const run = (sql: string) => connection.write({ sql, values: [] }).changes
    run(`DELETE FROM ${index} WHERE rowid IN (${some})`)
    run(
      `INSERT INTO ${index} (rowid, ${columns}) SELECT rowid, ${columns} FROM ${identifier(table)} WHERE rowid IN (${some})`,
    )
    taken = run(`DELETE FROM ${notes} WHERE rowid IN (${some})`)
  })
  return taken < MERGED
}

/** The objects that make up the index: statements by the names of what they create. */
function objectsFor(schema: CollectionSchema): Map<string, string> {
  const { name: table } = schema
  const shadows = [...shadowsOf(schema).values()]
  if (shadows.length === 0) return new Map()
  const trigger = (event: string, on: string, row: string): [string, string] => {
    const name = `${table} search ${event}`
    const note = `INSERT OR IGNORE INTO ${notesOf(table)} VALUES (${row}.rowid)`
    return [
      name,
      `CREATE TRIGGER ${identifier(name)} AFTER ${on} ON ${identifier(table)} BEGIN ${note}; END`,
    ]
  }
  return new Map([
    [
      `${table} search`,
      `CREATE VIRTUAL TABLE ${indexOf(table)} USING fts5(${listOf(shadows)}, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1')`,
    ],
    [`${table} unsearched`, `CREATE TABLE ${notesOf(table)} (rowid INTEGER PRIMARY KEY)`],
    trigger('insert', 'INSERT', 'new'),
    trigger('update', `UPDATE OF ${listOf(shadows)}`, 'new'),
    trigger('delete', 'DELETE', 'old'),
  ])
}

function objectsIn(connection: Connection, table: string): Map<string, string> {
  const [index, notes] = [literal(`${table} search`), literal(`${table} unsearched`)]
  const sql = `SELECT name, sql FROM sqlite_master WHERE name IN (${index}, ${notes})
    OR type = 'trigger' AND tbl_name = ?1 AND substr(name, 1, length(${index}) + 1) = ${index} || ' '`
  const rows = connection.rows({ sql, values: [table] })
  return new Map(rows.map((row) => [String(row.name), String(row.sql)]))
}
