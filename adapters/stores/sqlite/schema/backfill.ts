/**
 * Fills the shadows that records lack, page by page: those that a changed model adds, and those of records that another
 * version of the app has written.
 *
 * @module
 */

import { every, some } from '../../sql/conditions.ts'
import { asText, type Shadow, shadowAt } from '../layout/shadows.ts'
import { identifier, type Row, type Statement } from '../layout/sql.ts'

/** The next records that lack a shadow: rows with `rowid` and the JSON that each shadow is made of. */
export function unfilled(
  table: string,
  shadows: readonly Shadow[],
  after: number,
  limit: number,
): Statement {
  const lacking = some(shadows.map(({ isLacking }) => isLacking))
  return {
    sql: `${sourcesOf(shadows)} FROM ${identifier(table)} WHERE rowid > ?1 AND (${lacking}) ORDER BY rowid LIMIT ?2`,
    values: [after, limit],
  }
}

/** `rows` in parts that one statement takes, however long their texts are: D1 takes a parameter of 2 MB. */
export function inParts(rows: readonly Row[]): readonly (readonly Row[])[] {
  const parts: Row[][] = []
  let room = 0
  for (const row of rows) {
    const length = Object.values(row).reduce((sum: number, value) => sum + String(value).length, 0)
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

/** Writes the shadows of `rows`, except those that have changed since they were read. */
export function fill(table: string, shadows: readonly Shadow[], rows: readonly Row[]): Statement {
  const column = (at: number, offset: number) => `new.value ->> ${1 + 2 * at + offset}`
  const assignments = shadows.map(({ column: name }, at) => `${name} = ${column(at, 1)}`)
  const unchanged = shadows.map(({ source }, at) => `${source} IS ${column(at, 0)}`)
  const list = rows.map((row) => [
    row.rowid,
    ...shadows.flatMap((shadow, at) => {
      const json = row[columnAt(at)] as string | null
      return [json, json && asText(shadowAt(JSON.parse(json), ['', ...shadow.parts.slice(1)]))]
    }),
  ])
  return {
    sql: `UPDATE ${identifier(table)} AS old SET ${assignments.join(', ')} FROM json_each(?1) AS new WHERE old.rowid = new.value ->> 0 AND ${every(unchanged)}`,
    values: [JSON.stringify(list)],
  }
}

/** The column of the shadow with a number. A number alone is no name: libSQL numbers the columns of a row itself. */
export function columnAt(number: number): string {
  return `s${number}`
}

export function sourcesOf(shadows: readonly Shadow[]): string {
  return `SELECT rowid, ${shadows.map(({ source }, at) => `${source} AS ${columnAt(at)}`).join(', ')}`
}
