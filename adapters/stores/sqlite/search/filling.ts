/**
 * Searches among records that lack their shadow, because another version of the app has written them.
 *
 * @module
 */

import { type ReadHints, StoreTimeout } from '../../../../src/ports/store.ts'
import { type Shadow, shadowAt } from '../layout/shadows.ts'
import type { Row } from '../sql.ts'
import type { Runner } from '../statements/collection.ts'
import type { Lacking, Search } from '../statements/filter.ts'
import { fill, inParts, lackingOf, probeFor, someUnfilled } from './backfill.ts'

/** Fills what is lacking in one table. */
export interface Filler {
  /** Resolves when the records have the shadows that a write searches; undefined if they have them. */
  fill(searches: readonly Search[]): Promise<void> | undefined
  /**
   * The result of a read that searches. It is given what the records that lack a shadow would have there, so that it waits
   * for no write; they are filled meanwhile.
   */
  searched<T>(
    searches: readonly Search[],
    search: (lacking?: Lacking) => Promise<T>,
    hints?: ReadHints,
  ): Promise<T>
}

/** How many records are filled at once. */
const PAGE = 200
/** The most records whose texts a search looks at by itself; if more lack their shadow, it fills some first. */
const MOST = 1000

/** Fills the shadows of `table`. */
export function fillerOf(
  table: string,
  { quick, read, write }: Pick<Runner, 'quick' | 'read' | 'write'>,
): Filler {
  let isFilling = false

  /** How many of the records could be filled. */
  async function fillRows(shadow: Shadow, rows: readonly Row[]): Promise<number> {
    let filled = 0
    for (const part of inParts(rows)) filled += (await write(fill(table, [shadow], part))).changes
    return filled
  }

  async function fillPage(shadow: Shadow): Promise<boolean> {
    return (await fillRows(shadow, await read(someUnfilled(table, shadow, PAGE)))) > 0
  }

  async function fillAll(shadows: readonly Shadow[]): Promise<void> {
    for (const shadow of shadows) while (await fillPage(shadow));
  }

  /** Fills without anybody waiting for it. If it fails, the next search tries again. */
  async function fillSoon(lacking: ReadonlyMap<Shadow, readonly Row[]>): Promise<void> {
    if (isFilling) return
    isFilling = true
    try {
      for (const [shadow, rows] of lacking) await fillRows(shadow, rows)
    } catch {
      // The database is in use, or full.
    } finally {
      isFilling = false
    }
  }

  /** The records that lack a shadow, at most about `MOST`. */
  async function fewLacking(
    shadow: Shadow,
    { timeLimitMs = Number.POSITIVE_INFINITY, signal }: ReadHints,
  ): Promise<readonly Row[]> {
    const end = Date.now() + timeLimitMs
    for (;;) {
      const rows = await read(someUnfilled(table, shadow, MOST + 1))
      if (rows.length <= MOST || !(await fillPage(shadow))) return rows
      signal?.throwIfAborted()
      if (Date.now() > end) throw new StoreTimeout(`a search took longer than ${timeLimitMs} ms`)
    }
  }

  async function lackingIn(shadows: readonly Shadow[], hints: ReadHints): Promise<Lacking> {
    const found = new Map<Shadow, readonly Row[]>()
    for (const shadow of shadows) found.set(shadow, await fewLacking(shadow, hints))
    void fillSoon(found)
    const byColumn = new Map([...found].map(([shadow, rows]) => [shadow.column, rows]))
    return (shadow, text) => {
      const rows = byColumn.get(shadow.column) ?? []
      const holds = (row: Row) => textsOf(row, shadow).some((one) => one.includes(text))
      return rows.filter(holds).map((row) => row.rowid)
    }
  }

  /** The shadows of `searches` that records lack. */
  async function lackingFor(searches: readonly Search[]): Promise<readonly Shadow[]> {
    const shadows = [...new Set(searches.map(({ shadow }) => shadow))]
    const probe = probeFor(table, shadows)
    return lackingOf(shadows, await (quick ? quick(probe) : read(probe)))
  }

  return {
    fill(searches) {
      if (searches.length === 0) return undefined
      return lackingFor(searches).then((shadows) => fillAll(shadows))
    },
    async searched(searches, search, hints = {}) {
      if (searches.length === 0) return search()
      // Where a statement is a round trip, both go at once.
      const [lacking, early] = [lackingFor(searches), quick ? undefined : search()]
      const [shadows, found] = await Promise.all([lacking, early])
      if (shadows.length > 0) return search(await lackingIn(shadows, hints))
      return early ? (found as Awaited<typeof early>) : search()
    },
  }
}

/** The strings of a row's shadow. */
function textsOf(row: Row, { parts: [, ...rest] }: Shadow): readonly string[] {
  const shadow = shadowAt(JSON.parse(String(row[0])), ['', ...rest])
  return [shadow].flat(Number.POSITIVE_INFINITY).filter((text) => typeof text === 'string')
}
