/**
 * The write-ahead log of a file. SQLite starts it anew when nobody reads from it. While threads take turns somebody
 * always does, and it would grow for as long as records are written.
 *
 * @module
 */

import { statSync } from 'node:fs'
import type { Connection } from './connection.ts'

/** Bytes beyond which readers have to pause. */
const LONG = 16 * 1024 * 1024

/** So long after a pause is the next one, at the earliest, in milliseconds: readers of other processes do not pause. */
const REST_MS = 1000

/** The log of a connection's file. */
export class Log {
  readonly #connection: Connection
  readonly #path: string
  #emptied = Number.NEGATIVE_INFINITY

  constructor(connection: Connection, file: string) {
    this.#connection = connection
    this.#path = `${file}-wal`
  }

  /** Whether it is to be emptied as soon as nobody reads. */
  isLong(): boolean {
    if (performance.now() < this.#emptied + REST_MS) return false
    try {
      return statSync(this.#path).size > LONG
    } catch {
      return false
    }
  }

  /** Moves what it holds into the database, where nobody else is reading. */
  empty(): void {
    this.#emptied = performance.now()
    try {
      this.#connection.db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // A full disk, or another process is at it. It is tried again.
    }
  }
}
