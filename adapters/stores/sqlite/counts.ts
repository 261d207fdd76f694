/**
 * Cached counts: exact until a write.
 *
 * @module
 */

import type { ReadHints } from '../../../src/ports/store.ts'
import type { Connection } from './connection.ts'
import { patiently } from './patience.ts'
import type { Statement } from './sql.ts'

const MOST = 1000

/** Changes when another connection, of this process or another one, has committed. */
const DATA_VERSION: Statement = { sql: 'PRAGMA data_version', values: [] }

interface Count {
  readonly number: Promise<number>
  /** Those of the first caller. */
  readonly hints: ReadHints
}

/** The counts of a connection's collections. */
export class Counts {
  readonly #connection: Connection
  /** Includes pending ones: concurrent calls are counted once. */
  readonly #counts = new Map<string, Count>()
  /** How often each collection was written through this connection. */
  readonly #writes = new Map<string, number>()
  #version: unknown

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Records a write to the collection; call it before the write resolves. */
  written(collection: string): void {
    this.#writes.set(collection, (this.#writes.get(collection) ?? 0) + 1)
  }

  /** The number that `statement` counts in the collection. */
  async of(
    collection: string,
    { sql, values }: Statement,
    hints: ReadHints,
    count: () => Promise<number>,
  ): Promise<number> {
    for (;;) {
      const version = await patiently(() => this.#currentVersion())
      const writes = this.#writes.get(collection)
      const key = JSON.stringify([version, writes, sql, values, hints.timeLimitMs])
      const known = this.#counts.get(key)
      if (!known) return this.#begin(key, { number: count(), hints })
      try {
        return await known.number
      } catch (error) {
        // The first caller has gone; count again.
        if (!known.hints.signal?.aborted) throw error
      }
    }
  }

  #begin(key: string, count: Count): Promise<number> {
    if (this.#counts.size >= MOST) this.#counts.clear()
    this.#counts.set(key, count)
    count.number.catch(() => {
      if (this.#counts.get(key) === count) this.#counts.delete(key)
    })
    return count.number
  }

  /** Forgets what another connection may have changed. */
  #currentVersion(): unknown {
    const [row] = this.#connection.rows(DATA_VERSION)
    if (row?.data_version !== this.#version) this.#counts.clear()
    this.#version = row?.data_version
    return this.#version
  }
}
