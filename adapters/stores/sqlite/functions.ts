/**
 * The SQL functions that the kit adds to node:sqlite. None of them throws: an exception that leaves a function
 * of SQLite's takes Deno down.
 *
 * @module
 */

import type { DatabaseSync } from 'node:sqlite'
import type { RE2JS } from 're2js'
import { InvalidPattern } from '../../../src/ports/store.ts'
import { MATCHES } from './compile.ts'

const CLOCK = 'fieldgate_clock'

/**
 * True while a read may go on; afterwards SQLite itself fails, on a JSON path that is none. Not every row asks: a call
 * from SQLite into JavaScript costs more than most conditions. One in 16 does, as records may be large, and the product
 * spreads them, so that no regularity in the rows of a collection or an index leaves them out.
 */
export const DEADLINE: string = `(rowid * 40503 >> 9 & 15 OR json_type('{}', ${CLOCK}()) = 'object')`

/** Adds the clock to a connection: statements with `DEADLINE` in them fail soon after `isOver` turns true. */
export function addClock(db: DatabaseSync, isOver: () => boolean): void {
  db.function(CLOCK, () => (isOver() ? 'time is up' : '$'))
}

/** Adds the function that matches a pattern, which must have been checked. */
export function addPatterns(db: DatabaseSync): void {
  db.function(MATCHES, { deterministic: true }, (pattern, text) => {
    if (typeof text !== 'string') return null
    return compiled(String(pattern))?.test(text) ? 1 : 0
  })
}

/** Rejects with `InvalidPattern` when one of `patterns` is no regular expression. */
export async function checkPatterns(patterns: readonly string[]): Promise<void> {
  // Few applications match patterns; the others start without the engine.
  engine ??= (await import('re2js')).RE2JS
  try {
    for (const pattern of patterns) compiled(pattern)
  } catch (error) {
    throw new InvalidPattern('not a valid regular expression', { cause: error })
  }
}

/** Matches in time linear in the text, whatever the pattern. */
let engine: typeof RE2JS | undefined
let latest: { readonly pattern: string; readonly regex: RE2JS | undefined } | undefined

/** A statement asks for the same pattern on every row. */
function compiled(pattern: string): RE2JS | undefined {
  if (latest?.pattern !== pattern) {
    latest = { pattern, regex: engine?.compile(pattern, engine.CASE_INSENSITIVE) }
  }
  return latest.regex
}
