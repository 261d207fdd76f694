/**
 * Fills the shadows that a changed model adds to records which are there already.
 *
 * @module
 */

import type { Row } from './collection.ts'
import { type Shadow, shadowText } from './shadow.ts'
import { identifier, Parameters, type Statement } from './sql.ts'

/** The next records of a table, in pages: rows with `rowid` and `doc`. */
export function recordsAfter(table: string, rowid: number, limit: number): Statement {
  const sql = `SELECT rowid, doc FROM ${identifier(table)} WHERE rowid > ?1 ORDER BY rowid LIMIT ?2`
  return { sql, values: [rowid, limit] }
}

/** Writes the shadows of a record, if it is still what was read. */
export function fill(table: string, { rowid, doc }: Row, shadows: readonly Shadow[]): Statement {
  const parameters = new Parameters()
  const record = JSON.parse(doc as string)
  const assignments = shadows.map((shadow) => {
    const text = shadowText(record, shadow)
    return `${shadow.column} = ${text === null ? 'NULL' : parameters.bind(text)}`
  })
  const unchanged = `rowid = ${parameters.bind(rowid as number)} AND doc = ${parameters.bind(doc as string)}`
  return parameters.statement(
    `UPDATE ${identifier(table)} SET ${assignments.join(', ')} WHERE ${unchanged}`,
  )
}
