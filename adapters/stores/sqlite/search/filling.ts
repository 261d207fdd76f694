/** Fills shadows that records lack: a changed model's at start-up, and before a search those of other versions' records. */

import type { MaybePromise } from '../../../../src/ports/promises/maybe-promise.ts'
import type { Filter } from '../../../../src/ports/store/filter.ts'
import type { ReadHints } from '../../../../src/ports/store/records.ts'
import { StoreTimeout } from '../../../../src/ports/store/store-errors.ts'
import { every } from '../../sql/filter.ts'
import { asText, type Search, type Shadow, searchesIn, shadowAt } from '../layout/records.ts'
import type { Runner } from '../layout/runner.ts'
import {
  exists,
  identifier,
  type Migration,
  migrate,
  type Row,
  type Statement,
  statement,
} from '../layout/sql.ts'
import { lackingIndex } from '../schema/steps-to.ts'

/** Fills what is lacking in one table. */
export type Filler = ReturnType<typeof fillerOf>

export function fillerOf(
  table: string,
  shadowsNow: () => ReadonlyMap<string, Shadow>,
  { quick, read, write }: Pick<Runner, 'quick' | 'read' | 'write'>,
) {
  /** By the columns of shadows; a collection searches few sets of them. */
  const probes = new Map<string, Statement>()

  /** The shadows of `searches` that records lack. */
  async function lackingFor(searches: readonly Search[]): Promise<readonly Shadow[]> {
    const shadows = [...new Set(searches.map(({ shadow }) => shadow))]
    const columns = shadows.map(({ column }) => column).join()
    const probe = probes.get(columns) ?? probeFor(table, shadows)
    probes.set(columns, probe)
    const [row] = await (quick ? quick(probe) : read(probe))
    return shadows.filter((_, at) => row?.[columnAt(at)] === 1)
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

  async function afterFilling<T>(
    searches: readonly Search[],
    search: () => MaybePromise<T>,
    hints?: ReadHints,
  ): Promise<T> {
    // Where a statement is a round trip, both go at once.
    const early = quick ? undefined : Promise.resolve(search()).then((result) => ({ result }))
    const [shadows, found] = await Promise.all([lackingFor(searches), early])
    if (found && shadows.length === 0) return found.result
    if (shadows.length > 0) await fill(shadows, hints)
    return search()
  }

  return {
    /** Resolves when the records have the shadows that `filter` searches; undefined, at once, if it searches nothing. */
    fill(filter: Filter): Promise<void> | undefined {
      const searches = searchesIn(filter, shadowsNow())
      return searches.length === 0 ? undefined : lackingFor(searches).then((all) => fill(all))
    },
    /** The result of `search`, which gets what `filter` searches, once the records have the shadows for it. */
    searched<T>(
      filter: Filter,
      search: (searches: readonly Search[]) => MaybePromise<T>,
      hints?: ReadHints,
    ): MaybePromise<T> {
      const searches = searchesIn(filter, shadowsNow())
      if (searches.length === 0) return search(searches)
      return afterFilling(searches, () => search(searches), hints)
    },
  }
}

/** Whether any record lacks each of the shadows: one row. */
function probeFor(table: string, shadows: readonly Shadow[]): Statement {
  const found = shadows.map((shadow) => exists(lackingIn(table, shadow), shadow.isLacking))
  return statement(`SELECT ${found.map((one, at) => `${one} AS ${columnAt(at)}`).join(', ')}`)
}

/** The column of the shadow with a number. A number alone is no name: libSQL numbers the columns of a row itself. */
function columnAt(number: number): string {
  return `s${number}`
}

const PAGE = 200

/** Fills the shadows of all records, which the index of those that lack them gives. */
export function* fillAll(table: string, shadows: readonly Shadow[]): Migration<void> {
  for (const shadow of shadows) {
    for (let filled = PAGE; filled > 0; ) {
      const some = `SELECT rowid, ${shadow.source} AS source FROM ${lackingIn(table, shadow)} WHERE ${shadow.isLacking} LIMIT ${PAGE}`
      const [rows = []] = yield [statement(some)]
      filled = 0
      for (const part of inParts(rows))
        filled += (yield [fill(table, shadow, part)])[0]?.length ?? 0
    }
  }
}

/** The table, by the index of the records that lack a shadow. */
function lackingIn(table: string, shadow: Shadow): string {
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
