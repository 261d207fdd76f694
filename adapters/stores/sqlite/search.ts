/**
 * The trigram index that serves `contains`: FTS5 over a collection's shadows, if SQLite has it.
 *
 * FTS5 is slow with one record at a time and fast with many. So a write only notes the changed rows, in a table beside
 * the index, and `mergeSearch` merges them all at once. The rows that may match are those that the index finds and
 * those noted; each is then checked itself, so outdated rows in the index do no harm.
 *
 * A term of one or two characters has no trigram, but begins some: the list of the index's trigrams, itself a table, tells
 * which rows have one that begins so. Each text ends with `END` in the index, so that a trigram begins at every character.
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

/** Follows each text in the index. Capitals are in no fold. */
const END = 'EE'

const indexOf = (table: string): string => identifier(`${table} search`)
const trigramsOf = (table: string): string => identifier(`${table} search trigrams`)
const notesOf = (table: string): string => identifier(`${table} unsearched`)
const listOf = (shadows: readonly Shadow[]): string =>
  shadows.map(({ column }) => column).join(', ')
const indexedOf = (shadows: readonly Shadow[]): string =>
  shadows.map(({ column }) => `${column} || ${literal(END)}`).join(', ')

/** Whether this SQLite has full-text search. */
export function hasFullText(connection: Connection): boolean {
  const sql = "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"
  return connection.rows({ sql, values: [] }).length > 0
}

/** The conditions for any number of rows. A term without a trigram may be in most of them: it scans. */
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
  for (const { shadow, text } of searches) {
    if (text === '') continue
    const { sql, values } = isLonger(text)
      ? { sql: matching(table, shadow.column, '?1'), values: [phraseOf(text)] }
      : beginning(table, shadow, text)
    const some = `SELECT rowid, 1 AS isFound FROM (${sql} LIMIT ${FEW + 1})`
    const noted = `SELECT rowid, 0 FROM ${notesOf(table)}`
    const [row] = await read({
      sql: `SELECT sum(isFound) AS found, json_group_array(rowid) AS rowids FROM (${some} UNION ALL ${noted})`,
      values,
    })
    if (Number(row?.found) <= FEW) found.set(shadow.column + text, String(row?.rowids))
  }
  return ({ column }, text, parameters) => {
    const rowids = found.get(column + text)
    return rowids && `rowid IN (SELECT value FROM json_each(${parameters.bind(rowids)}))`
  }
}

/** The rows with a trigram that begins with `text`, a row once for each. */
function beginning(table: string, { name }: Shadow, text: string): Statement {
  const range = 'term >= ?1 AND term <= ?1 || char(1114111, 1114111)'
  return {
    sql: `SELECT doc AS rowid FROM ${trigramsOf(table)} WHERE ${range} AND col = ?2`,
    // FTS5 takes these two for an error of UTF-8. In a phrase it does so by itself.
    values: [text.replaceAll(/[\ufffe\uffff]/g, '\ufffd'), name],
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
  for (const [name, sql] of objectsIn(connection, table)) {
    if (sql.startsWith('CREATE VIRTUAL') && !fullText) continue
    connection.db.exec(
      `DROP ${sql.startsWith('CREATE TRIGGER') ? 'TRIGGER' : 'TABLE'} ${identifier(name)}`,
    )
  }
}

/** Creates the index over the existing rows. */
export function makeSearch(connection: Connection, schema: CollectionSchema): void {
  for (const sql of objectsFor(schema).values()) connection.db.exec(sql)
  const shadows = [...shadowsOf(schema).values()]
  if (shadows.length === 0) return
  const index = indexOf(schema.name)
  connection.db.exec(
    `INSERT INTO ${index} (rowid, ${listOf(shadows)}) SELECT rowid, ${indexedOf(shadows)} FROM ${identifier(schema.name)}`,
  )
  // Many rows at once leave many segments, and every search would read each of them.
  connection.db.exec(`INSERT INTO ${index} (${index}) VALUES ('optimize')`)
}

/** Merges noted rows into the index; returns false if there may be more. */
export function mergeSearch(connection: Connection, schema: CollectionSchema): boolean {
  const [table, index, notes] = [schema.name, indexOf(schema.name), notesOf(schema.name)]
  const shadows = [...shadowsOf(schema).values()]
  const some = `SELECT rowid FROM ${notes} ORDER BY rowid LIMIT ${MERGED}`
  let taken = 0
  connection.transaction(() => {
    const run = (sql: string) => connection.write({ sql, values: [] }).changes
    run(`DELETE FROM ${index} WHERE rowid IN (${some})`)
    run(
      `INSERT INTO ${index} (rowid, ${listOf(shadows)}) SELECT rowid, ${indexedOf(shadows)} FROM ${identifier(table)} WHERE rowid IN (${some})`,
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
    [
      `${table} search trigrams`,
      `CREATE VIRTUAL TABLE ${trigramsOf(table)} USING fts5vocab(${indexOf(table)}, instance)`,
    ],
    [`${table} unsearched`, `CREATE TABLE ${notesOf(table)} (rowid INTEGER PRIMARY KEY)`],
    trigger('insert', 'INSERT', 'new'),
    trigger('update', `UPDATE OF ${listOf(shadows)}`, 'new'),
    trigger('delete', 'DELETE', 'old'),
  ])
}

function objectsIn(connection: Connection, table: string): Map<string, string> {
  const [index, trigrams, notes] = ['search', 'search trigrams', 'unsearched'].map((part) =>
    literal(`${table} ${part}`),
  )
  const sql = `SELECT name, sql FROM sqlite_master WHERE name IN (${index}, ${trigrams}, ${notes})
    OR type = 'trigger' AND tbl_name = ?1 AND substr(name, 1, length(${index}) + 1) = ${index} || ' '`
  const rows = connection.rows({ sql, values: [table] })
  return new Map(rows.map((row) => [String(row.name), String(row.sql)]))
}
