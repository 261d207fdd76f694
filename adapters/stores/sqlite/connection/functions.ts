/**
 * The SQL functions that fieldgate adds to node:sqlite. None of them throws: an exception that leaves an SQLite
 * function crashes Deno.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { RE2JS } from 're2js'
import type { Filter } from '../../../../src/ports/store/filter.ts'
import { InvalidPattern, StoreTimeout } from '../../../../src/ports/store/store-errors.ts'
import { MATCHES, type Statement } from '../layout/sql.ts'

const CLOCK = 'fieldgate_clock'

/**
 * True while a read may go on; afterwards SQLite itself fails, because of an invalid JSON path. Not every row calls the
 * clock, because a call from SQLite into JavaScript costs more than most conditions. One row in 16 does, because
 * records may be large; the product spreads these rows, so that no pattern in the rows of a collection or an index
 * skips them all.
 */
export const DEADLINE: string = `(rowid * 40503 >> 9 & 15 OR json_type('{}', ${CLOCK}()) = 'object')`

/**
 * `sql`, a read of few rows, without `DEADLINE` if an index gives the rows that match `filter` and no others: no row is then
 * read in vain, and checking the time is a seventh of the read. `planOf` returns SQLite's plan of a statement.
 */
export function withoutVainChecks(
  sql: string,
  filter: Filter,
  planOf: (sql: string) => readonly string[],
): string {
  if (!isConjunction(filter)) return sql
  const free = sql.replaceAll(`${DEADLINE} AND `, '').replaceAll(` WHERE ${DEADLINE}`, '')
  const plan = planOf(free)
  const conditions = sql.split(' AND ').length - 1
  // What the index finds stands in brackets, as in `(<expr>=? AND _id>?)`.
  const found = plan.flatMap((step) => step.slice(step.lastIndexOf('(')).match(/[=<>]\?/g) ?? [])
  const isSorted = plan.some((step) => step.includes('TEMP B-TREE'))
  return isSorted || found.length !== conditions ? sql : free
}

function isConjunction(filter: Filter): boolean {
  if (filter.op === 'and') return filter.filters.every(isConjunction)
  return COMPARISONS.has(filter.op)
}

const COMPARISONS: ReadonlySet<Filter['op']> = new Set(['eq', 'gt', 'gte', 'lt', 'lte'])

/** Adds the clock to a connection: statements that contain `DEADLINE` fail soon after `isOver` returns true. */
export function addClock(db: DatabaseSync, isOver: () => boolean): void {
  db.function(CLOCK, () => (isOver() ? 'time is up' : '$'))
}

export function tookTooLong(): StoreTimeout {
  return new StoreTimeout('a read took longer than its time limit')
}

/** Adds the function that matches a pattern, which must have been checked. */
export function addPatterns(db: DatabaseSync): void {
  db.function(MATCHES, { deterministic: true }, (pattern, value) => {
    const text = value instanceof Uint8Array ? new TextDecoder().decode(value) : value
    if (typeof text !== 'string') return null
    return compiled(String(pattern))?.test(text) ? 1 : 0
  })
}

/**
 * Rejects with `InvalidPattern` if a pattern of `statements` is not a valid regular expression, and with a `TypeError` if the
 * engine cannot be loaded; undefined, at once, if they have none.
 */
export function checkPatterns(...statements: readonly Statement[]): Promise<void> | undefined {
  const patterns = statements.flatMap((one) => one.patterns ?? [])
  return patterns.length > 0 ? checkAll(patterns) : undefined
}

async function checkAll(patterns: readonly string[]): Promise<void> {
  // Few apps match patterns; the others start without the engine.
  engine ??= await loaded()
  try {
    for (const pattern of patterns) compiled(pattern)
  } catch (error) {
    throw new InvalidPattern('not a valid regular expression', { cause: error })
  }
}

async function loaded(): Promise<typeof RE2JS> {
  // Within `try`, every bundler lets an app without the package pass; Turbopack refuses it with `catch` on the import.
  try {
    const found: Partial<typeof import('re2js')> = await import('re2js')
    // Next.js with webpack gives an empty module for a package that is absent, and no pattern would match anything.
    if (!found.RE2JS) throw new Error('re2js is an empty module')
    return found.RE2JS
  } catch (cause) {
    throw new TypeError("sqliteStore: 'allowRawRegex' needs re2js: npm install re2js", { cause })
  }
}

/** Matches in time linear in the length of the string, for any pattern. */
let engine: typeof RE2JS | undefined
let latest: { readonly pattern: string; readonly regex: RE2JS | undefined } | undefined

/** A statement uses the same pattern on every row. */
function compiled(pattern: string): RE2JS | undefined {
  if (latest?.pattern !== pattern) {
    latest = { pattern, regex: engine?.compile(pattern, engine.CASE_INSENSITIVE) }
  }
  return latest.regex
}
