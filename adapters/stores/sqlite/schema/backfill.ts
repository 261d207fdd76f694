/**
 * Fills the shadows that records lack: those that a changed model adds, and those of records that another version of the app
 * has written.
 *
 * @module
 */

import { every } from '../../sql/filter.ts'
import type { Migration } from '../layout/migration.ts'
import { asText, type Shadow, shadowAt } from '../layout/shadows.ts'
import { identifier, type Row, type Statement } from '../layout/sql.ts'
import { lackingIndex } from './desired.ts'

/** How many records are filled at once. */
const PAGE = 200

/** Fills the shadows of all records, which the index of those that lack them gives. */
export function* fillAll(table: string, shadows: readonly Shadow[]): Migration<void> {
  for (const shadow of shadows) {
    for (let filled = PAGE; filled > 0; ) {
      const [rows = []] = yield [someUnfilled(table, shadow)]
      filled = 0
      for (const part of inParts(rows))
        filled += (yield [fill(table, shadow, part)])[0]?.length ?? 0
    }
  }
}

/** Some records that lack a shadow: rows with `rowid` and the JSON that it is made of. */
function someUnfilled(table: string, shadow: Shadow): Statement {
  return {
    sql: `SELECT rowid, ${shadow.source} AS source FROM ${lackingIn(table, shadow)} WHERE ${shadow.isLacking} LIMIT ${PAGE}`,
    values: [],
  }
}

/** The table, by the index of the records that lack a shadow. */
export function lackingIn(table: string, shadow: Shadow): string {
  return `${identifier(table)} INDEXED BY ${identifier(lackingIndex(table, shadow).name)}`
}

/** `rows` in parts that one statement takes, however long their texts are: D1 takes a parameter of 2 MB. */
function inParts(rows: readonly Row[]): readonly (readonly Row[])[] {
  const parts: Row[][] = []
  let room = 0
  for (const row of rows) {
    const { length } = String(row.source)
    if (length > room) {
      parts.push([])
      room = MAX_TEXT_LENGTH
    }
    room -= length
    parts.at(-1)?.push(row)
  }
  return parts
}

/** Beside each text stands its shadow, and a UTF-16 unit may be three bytes. */
const MAX_TEXT_LENGTH = 250_000

/** Writes the shadow of `rows`, except those that have changed since they were read; a row for each. */
function fill(table: string, { column, source, parts }: Shadow, rows: readonly Row[]): Statement {
  const list = rows.map(({ rowid, source: json }) => {
    return [rowid, json, asText(shadowAt(JSON.parse(String(json)), ['', ...parts.slice(1)]))]
  })
  const isSame = ['old.rowid = new.value ->> 0', `${source} IS new.value ->> 1`]
  return {
    sql: `UPDATE ${identifier(table)} AS old SET ${column} = new.value ->> 2 FROM json_each(?1) AS new WHERE ${every(isSame)} RETURNING rowid`,
    values: [JSON.stringify(list)],
    returns: true,
  }
}
