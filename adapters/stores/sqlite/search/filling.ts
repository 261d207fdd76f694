/**
 * Fills the shadows that records lack because another version of the app has written them, before a search relies on them.
 *
 * @module
 */

import { type ReadHints, StoreTimeout } from '../../../../src/ports/store.ts'
import { migrate } from '../layout/migration.ts'
import type { Runner } from '../layout/runner.ts'
import type { Search, Shadow } from '../layout/shadows.ts'
import { exists, type Row, type Statement, statement } from '../layout/sql.ts'
import { fillAll, lackingIn } from '../schema/backfill.ts'

/** Fills what is lacking in one table. */
export interface Filler {
  /** Resolves when the records have the shadows that a write searches. */
  fill(searches: readonly Search[]): Promise<void>
  /** The result of a read that searches, once the records have the shadows for it. */
  searched<T>(searches: readonly Search[], search: () => Promise<T>, hints?: ReadHints): Promise<T>
}

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

  async function fill(shadows: readonly Shadow[], hints: ReadHints = {}): Promise<void> {
    const { timeLimitMs = Number.POSITIVE_INFINITY, signal } = hints
    const end = performance.now() + timeLimitMs
    await migrate(fillAll(table, shadows), async ([statement]) => {
      signal?.throwIfAborted()
      if (performance.now() > end) throw new StoreTimeout('a search took too long')
      if (!statement) return []
      return [statement.returns ? (await write(statement)).rows : await read(statement)]
    })
  }

  return {
    fill: async (searches) => fill(await lackingFor(searches)),
    async searched(searches, search, hints) {
      // Where a statement is a round trip, both go at once.
      const [shadows, early] = await Promise.all([
        lackingFor(searches),
        quick ? undefined : search().then((result) => ({ result })),
      ])
      if (early && shadows.length === 0) return early.result
      if (shadows.length > 0) await fill(shadows, hints)
      return search()
    },
  }
}

/** Whether any record lacks each of the shadows: one row, for `lackingOf`. */
function probeFor(table: string, shadows: readonly Shadow[]): Statement {
  const found = shadows.map((shadow) => exists(lackingIn(table, shadow), shadow.isLacking))
  return statement(`SELECT ${found.map((one, at) => `${one} AS ${columnAt(at)}`).join(', ')}`)
}

/** Those of the shadows that a record lacks. */
function lackingOf(shadows: readonly Shadow[], [row]: readonly Row[]): readonly Shadow[] {
  return shadows.filter((_, at) => row?.[columnAt(at)] === 1)
}

/** The column of the shadow with a number. A number alone is no name: libSQL numbers the columns of a row itself. */
function columnAt(number: number): string {
  return `s${number}`
}
