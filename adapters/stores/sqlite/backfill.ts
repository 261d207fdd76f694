/**
 * Fills the shadows that records lack, page by page: those that a changed model adds, and those of records that another
 * version of the app has written.
 *
 * @module
 */

import { after, type Soon } from '../../../src/ports/soon.ts'
import type { Runner } from './collection.ts'
import type { Search } from './compile.ts'
import { lackingIndex } from './schema.ts'
import { asText, type Shadow, shadowAt } from './shadow.ts'
import { every, exists, identifier, type Row, type Statement, some } from './sql.ts'

/** The next records that lack a shadow: rows with `rowid` and, under its number, the JSON that each shadow is made of. */
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

/** Some of the records that lack a shadow, quickly found; the same rows. */
function someUnfilled(table: string, shadow: Shadow, limit: number): Statement {
  return {
    sql: `${sourcesOf([shadow])} FROM ${lackingIn(table, shadow)} WHERE ${shadow.isLacking} LIMIT ?1`,
    values: [limit],
  }
}

/** Whether any record lacks one of the shadows: a row with `lacking`. */
function isAnyUnfilled(table: string, shadows: readonly Shadow[]): Statement {
  const found = shadows.map((shadow) => exists(lackingIn(table, shadow), shadow.isLacking))
  return { sql: `SELECT ${some(found)} AS lacking`, values: [] }
}

/** Writes the shadows of `rows`, except those that have changed since they were read. */
export function fill(table: string, shadows: readonly Shadow[], rows: readonly Row[]): Statement {
  const column = (at: number, offset: number) => `new.value ->> ${1 + 2 * at + offset}`
  const assignments = shadows.map(({ column: name }, at) => `${name} = ${column(at, 1)}`)
  const unchanged = shadows.map(({ source }, at) => `${source} IS ${column(at, 0)}`)
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

/** Fills the shadows that a search needs. */
export interface Filler {
  /** Whether a record lacked one of the shadows of `searches`; all have them now. */
  fill(searches: readonly Search[]): Soon<boolean>
  /** What `read` returns when no record lacks a shadow of `searches`. */
  filled<T>(searches: readonly Search[], read: () => Soon<T>): Soon<T>
}

/** How many records are filled at once. */
const PAGE = 200

/** Fills the shadows of `table`. */
export function fillerOf(
  table: string,
  { quick, read, write }: Pick<Runner, 'quick' | 'read' | 'write'>,
): Filler {
  const fillOne = async (shadow: Shadow): Promise<void> => {
    const rows = await read(someUnfilled(table, shadow, PAGE))
    if (rows.length > 0) await write(fill(table, [shadow], rows))
    if (rows.length === PAGE) await fillOne(shadow)
  }
  const fillAll = async (shadows: readonly Shadow[]): Promise<true> => {
    for (const shadow of shadows) await fillOne(shadow)
    return true
  }
  const filler: Filler = {
    fill(searches) {
      if (searches.length === 0) return false
      const shadows = [...new Set(searches.map(({ shadow }) => shadow))]
      const probe = isAnyUnfilled(table, shadows)
      const isAny = ([row]: readonly Row[]) => (row?.lacking === 1 ? fillAll(shadows) : false)
      return after(quick ? quick(probe) : read(probe), isAny)
    },
    filled(searches, search) {
      if (searches.length === 0) return search()
      if (quick) return after(filler.fill(searches), search)
      // Where a statement is a round trip, both go at once.
      const both = Promise.all([filler.fill(searches), search()])
      return both.then(([isFilled, found]) => (isFilled ? search() : found))
    },
  }
  return filler
}

function sourcesOf(shadows: readonly Shadow[]): string {
  return `SELECT rowid, ${shadows.map(({ source }, at) => `${source} AS "${at}"`).join(', ')}`
}

function lackingIn(table: string, shadow: Shadow): string {
  return `${identifier(table)} INDEXED BY ${identifier(lackingIndex(table, shadow).name)}`
}
