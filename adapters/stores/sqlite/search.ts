/**
 * The trigram index that serves `contains`: FTS5 over a collection's shadows, where SQLite has it.
 *
 * FTS5 is slow with one record at a time and fast with many, so writes only note the rows that have changed, in a
 * table beside it, and `mergeSearch` takes them over in one go. The rows that may match are those that the index
 * finds and those noted; each is then looked at itself, so what the index holds of old rows does no harm. Terms of
 * fewer than three characters have no trigram and are looked for in every row.
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
/** Of rows beyond this number so many match that the first in order are found sooner without the index. */
const FEW = 1000
/** How many rows are taken over at once: a few milliseconds. */
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
    // What the index finds is taken together before any row is looked at.
    return `rowid IN (${found} UNION ALL SELECT rowid FROM ${notesOf(table)})`
  }
}

/**
 * The conditions for the first rows in order. The index is asked for the `searches` beforehand, once for each: what it
 * takes grows with the records. The notes are read in the same statement, since another process may take them over
 * before the next.
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

/** Whether the index of `schema` is there, and no other. */
export function hasSearch(connection: Connection, schema: CollectionSchema): boolean {
  const [wanted, existing] = [objectsFor(schema), objectsIn(connection, schema.name)]
  return (
    existing.size === wanted.size && [...wanted].every(([name, sql]) => existing.get(name) === sql)
  )
}

/** Drops the index of a table, whatever there is of it. Without full-text search only the writes are rid of it. */
export function dropSearch(connection: Connection, table: string, fullText: boolean): void {
  for (const name of objectsIn(connection, table).keys()) {
    const isTrigger = name.startsWith(`${table} search `)
    if (name === `${table} search` && !fullText) continue
    connection.db.exec(`DROP ${isTrigger ? 'TRIGGER' : 'TABLE'} ${identifier(name)}`)
  }
}

/** Makes the index over the rows that are there. */
export function makeSearch(connection: Connection, schema: CollectionSchema): void {
  for (const sql of objectsFor(schema).values()) connection.db.exec(sql)
  const shadows = [...shadowsOf(schema).values()]
  if (shadows.length === 0) return
  const index = indexOf(schema.name)
  const columns = listOf(shadows)
  connection.db.exec(
    `INSERT INTO ${index} (rowid, ${columns}) SELECT rowid, ${columns} FROM ${identifier(schema.name)}`,
  )
  // Many rows at once leave many parts behind, and every search would look into each of them.
  connection.db.exec(`INSERT INTO ${index} (${index}) VALUES ('optimize')`)
}

/** Takes noted rows over into the index; false when there may be more. */
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

/** What the index is made of: statements by the names of what they make. */
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
