/**
 * Kept counts: exact, because what this connection has written since is counted in, and a write of another connection
 * ends them.
 *
 * @module
 */

import type { Filter } from '../../../../src/ports/filter.ts'
import type { CollectionSchema, ReadHints } from '../../../../src/ports/store.ts'
import { patiently } from '../connection/busy-retry.ts'
import type { Connection } from '../connection/connection.ts'
import { readerOf } from '../layout/rows.ts'
import type { Statement, Written } from '../sql.ts'
import { differenceBy, type Event, eventsOf, type Parse } from './effects.ts'

const MOST = 1000

/** Changes when another connection, of this process or another one, has committed. */
const DATA_VERSION: Statement = { sql: 'PRAGMA data_version', values: [] }

/** What is counted, and how. */
export interface Counting {
  readonly filter: Filter
  readonly statement: Statement
  readonly hints: ReadHints
  /** Asks the database. */
  count(): Promise<number>
}

interface Count {
  /** Pending at first: concurrent calls are counted once. */
  readonly counted: Promise<number>
  /** Those of the first caller. */
  readonly hints: ReadHints
  /** How many events of the collection are counted in. */
  upTo: number
  /** Known once it has been counted with no write meanwhile. */
  number?: number
}

/** The counts of a connection's collections. */
export class Counts {
  readonly #connection: Connection
  /** By collection. */
  readonly #kept = new Map<string, Collected>()
  #version: unknown

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Records a write to the collection; call it when the write is committed, before anything else runs. */
  written(collection: string, statement: Statement, written: Written): void {
    this.#kept.get(collection)?.note(eventsOf(statement, written))
  }

  /** The number that `counting` counts in the collection. */
  async of(schema: CollectionSchema, counting: Counting): Promise<number> {
    const { sql, values } = counting.statement
    const key = JSON.stringify([sql, values, counting.hints.timeLimitMs])
    for (;;) {
      await patiently(() => this.#forgetIfForeign())
      const kept = this.#kept.get(schema.name) ?? new Collected(readerOf(schema.shape))
      this.#kept.set(schema.name, kept)
      const known = kept.current(key, counting.filter)
      if (!known) return kept.begin(key, counting)
      if (known.number !== undefined) return known.number
      try {
        return await known.counted
      } catch (error) {
        // The first caller has gone; count again.
        if (!known.hints.signal?.aborted) throw error
      }
    }
  }

  /** Forgets what another connection may have changed. */
  #forgetIfForeign(): void {
    const [row] = this.#connection.rows(DATA_VERSION)
    if (row?.data_version !== this.#version) this.#kept.clear()
    this.#version = row?.data_version
  }
}

/** The most writes that a count looks at; after more it is as quickly counted again. */
const MOST_EVENTS = 100

/** The counts of one collection, and the latest writes. */
class Collected {
  readonly #parse: Parse
  readonly #counts = new Map<string, Count>()
  #events: Event[] = []
  /** How many events there have been. */
  #seen = 0

  constructor(parse: Parse) {
    this.#parse = parse
  }

  /** Notes what a write did; undefined if nobody knows. */
  note(events: readonly Event[] | undefined): void {
    this.#seen += events?.length ?? 1
    if (!events) this.#events = []
    else for (const event of events.slice(-MOST_EVENTS)) this.#events.push(event)
    // Not with each event: each time, the rest is copied.
    if (this.#events.length > 2 * MOST_EVENTS) this.#events = this.#events.slice(-MOST_EVENTS)
  }

  /** A count with everything that has been written; undefined if it has to be counted. */
  current(key: string, filter: Filter): Count | undefined {
    const count = this.#counts.get(key)
    if (!count || count.upTo === this.#seen) return count
    const missed = this.#seen - count.upTo
    if (count.number === undefined || missed > this.#events.length) return undefined
    for (const event of this.#events.slice(-missed)) {
      const difference = differenceBy(event, filter, this.#parse)
      if (difference === undefined) return undefined
      count.number += difference
    }
    count.upTo = this.#seen
    return count
  }

  begin(key: string, { count: ask, hints }: Counting): Promise<number> {
    if (this.#counts.size >= MOST) this.#counts.clear()
    const count: Count = { counted: ask(), hints, upTo: this.#seen }
    this.#counts.set(key, count)
    count.counted.then(
      (number) => {
        if (count.upTo === this.#seen) count.number = number
      },
      () => {
        if (this.#counts.get(key) === count) this.#counts.delete(key)
      },
    )
    return count.counted
  }
}
