/**
 * Fills the shadows that a changed model adds to existing records, page by page.
 *
 * @module
 */

import { asText, type Shadow, shadowAt } from './shadow.ts'
import type { Row } from './sql.ts'
import { every, identifier, jsonPath, type Statement, some } from './sql.ts'

/**
 * The next records that lack a shadow: rows with `rowid` and, under its number, the value that each shadow is made of.
 */
export function unfilled(
  table: string,
  shadows: readonly Shadow[],
  after: number,
  limit: number,
): Statement {
  const sources = shadows.map((shadow, at) => `${source(shadow)} AS "${at}"`)
  const lacking = some(
    shadows.map((shadow) => `${shadow.column} IS NULL AND ${source(shadow)} <> 'null'`),
  )
  return {
    sql: `SELECT rowid, ${sources.join(', ')} FROM ${identifier(table)} WHERE rowid > ?1 AND (${lacking}) ORDER BY rowid LIMIT ?2`,
    values: [after, limit],
  }
}

/** Writes the shadows of `rows`, except those that have changed since they were read. */
export function fill(table: string, shadows: readonly Shadow[], rows: readonly Row[]): Statement {
  const column = (at: number, offset: number) => `new.value ->> ${1 + 2 * at + offset}`
  const assignments = shadows.map(({ column: name }, at) => `${name} = ${column(at, 1)}`)
  const unchanged = shadows.map((shadow, at) => `${source(shadow)} IS ${column(at, 0)}`)
  const list = rows.map((row) => [
    row.rowid,
    ...shadows.flatMap((shadow, at) => {
      const json = row[at] as string | null
      return [json, json && asText(shadowAt(JSON.parse(json), ['', ...shadow.parts.slice(1)]))]
    }),
  ])
  return {
    sql: `UPDATE ${identifier(table)} AS old SET ${assignments.join(', ')} FROM json_each(?1) AS new WHERE old.rowid = new.value ->> 0 AND ${every(unchanged)}`,
    values: [JSON.stringify(list)],
  }
}

function source({ parts: [path = ''] }: Shadow): string {
  return `(doc -> ${jsonPath(path)})`
}
