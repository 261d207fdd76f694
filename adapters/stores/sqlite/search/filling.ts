/**
 * Fills the shadows that records lack because another version of the app has written them, before a search relies on them.
 *
 * @module
 */

import { type ReadHints, StoreTimeout } from '../../../../src/ports/store.ts'
import type { Runner } from '../layout/runner.ts'
import type { Search, Shadow } from '../layout/shadows.ts'
import type { Statement } from '../layout/sql.ts'
import { exists, identifier, type Row } from '../layout/sql.ts'
import { columnAt, fill, inParts, sourcesOf } from '../schema/backfill.ts'
import { lackingIndex } from '../schema/desired.ts'

/** Fills what is lacking in one table. */
export interface Filler {
  /** Resolves when the records have the shadows that a write searches. */
  fill(searches: readonly Search[]): Promise<void>
  /** The result of a read that searches, once the records have the shadows for it. */
  searched<T>(searches: readonly Search[], search: () => Promise<T>, hints?: ReadHints): Promise<T>
}

/** How many records are filled at once. */
const PAGE = 200

/** Fills the shadows of `table`. */
export function fillerOf(
  table: string,
  { quick, read, write }: Pick<Runner, 'quick' | 'read' | 'write'>,
): Filler {
  /** By the columns of shadows; a collection searches few sets of them. */
  const probes = new Map<string, Statement>()

  /** The shadows of `searches` that records lack. */
  async function lackingFor(searches: readonly Search[]): Promise<readonly Shadow[]> {
    const shadows = [...new Set(searches.map(({ shadow }) => shadow))]
    const columns = shadows.map(({ column }) => column).join()
    const probe = probes.get(columns) ?? probeFor(table, shadows)
    probes.set(columns, probe)
    return lackingOf(shadows, await (quick ? quick(probe) : read(probe)))
  }

  /** How many of some records that lack a shadow could be filled. */
  async function fillPage(shadow: Shadow): Promise<number> {
    let filled = 0
    for (const part of inParts(await read(someUnfilled(table, shadow, PAGE)))) {
      filled += (await write(fill(table, [shadow], part))).changes
    }
    return filled
  }

  async function fillAll(shadows: readonly Shadow[], hints: ReadHints = {}): Promise<void> {
    const { timeLimitMs = Number.POSITIVE_INFINITY, signal } = hints
    const end = performance.now() + timeLimitMs
    for (const shadow of shadows) {
      while ((await fillPage(shadow)) > 0) {
        signal?.throwIfAborted()
        if (performance.now() > end) throw new StoreTimeout('a search took too long')
      }
    }
  }

  return {
    fill: async (searches) => fillAll(await lackingFor(searches)),
    async searched(searches, search, hints) {
      // Where a statement is a round trip, both go at once.
      const [shadows, early] = await Promise.all([
        lackingFor(searches),
        quick ? undefined : search().then((result) => ({ result })),
      ])
      if (early && shadows.length === 0) return early.result
      await fillAll(shadows, hints)
      return search()
    },
  }
}

/** Some of the records that lack a shadow, quickly found; the same rows. */
function someUnfilled(table: string, shadow: Shadow, limit: number): Statement {
  return {
    sql: `${sourcesOf([shadow])} FROM ${lackingIn(table, shadow)} WHERE ${shadow.isLacking} LIMIT ?1`,
    values: [limit],
  }
}

/** Whether any record lacks each of the shadows: one row, for `lackingOf`. */
export function probeFor(table: string, shadows: readonly Shadow[]): Statement {
  const found = shadows.map((shadow) => exists(lackingIn(table, shadow), shadow.isLacking))
  return {
    sql: `SELECT ${found.map((one, at) => `${one} AS ${columnAt(at)}`).join(', ')}`,
    values: [],
  }
}

/** Those of the shadows that a record lacks. */
export function lackingOf(shadows: readonly Shadow[], [row]: readonly Row[]): readonly Shadow[] {
  return shadows.filter((_, at) => row?.[columnAt(at)] === 1)
}

function lackingIn(table: string, shadow: Shadow): string {
  return `${identifier(table)} INDEXED BY ${identifier(lackingIndex(table, shadow).name)}`
}
