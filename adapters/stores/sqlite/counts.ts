/**
 * Counts that are known already: exact until somebody writes.
 *
 * @module
 */

import type { Connection } from './connection.ts'
import type { Statement } from './sql.ts'

const MOST = 1000

/** Changes when another connection, of this process or another one, has committed. */
const DATA_VERSION: Statement = { sql: 'PRAGMA data_version', values: [] }

/** The counts of a connection's collections. */
export class Counts {
  readonly #connection: Connection
  readonly #counts = new Map<string, number>()
  /** How often each collection was written through this connection. */
  readonly #writes = new Map<string, number>()
  #version: unknown

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** The collection was written: to be told before the write is answered. */
  written(collection: string): void {
    this.#writes.set(collection, (this.#writes.get(collection) ?? 0) + 1)
  }

  /** What `statement` counts in the collection. */
  of(collection: string, { sql, values }: Statement, count: () => number): number {
    const [row] = this.#connection.rows(DATA_VERSION)
    if (row?.data_version !== this.#version || this.#counts.size >= MOST) this.#counts.clear()
    this.#version = row?.data_version
    const key = JSON.stringify([this.#writes.get(collection), sql, values])
    const known = this.#counts.get(key)
    if (known !== undefined) return known
    const counted = count()
    this.#counts.set(key, counted)
    return counted
  }
}
