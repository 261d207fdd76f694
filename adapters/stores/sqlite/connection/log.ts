/**
 * The write-ahead log of a file. SQLite restarts it only when nothing reads from it. With threads taking turns, one is
 * always reading, so the log would grow for as long as records are written.
 *
 * @module
 */

import { statSync } from 'node:fs'
import type { Connection } from './connection.ts'

/** Bytes beyond which readers have to pause. */
const LONG_BYTES = 16 * 1024 * 1024

/** The least time between two pauses, in milliseconds: readers of other processes do not pause. */
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

  /** Whether it should be emptied as soon as nothing reads. */
  isLong(): boolean {
    if (performance.now() < this.#emptied + REST_MS) return false
    try {
      return statSync(this.#path).size > LONG_BYTES
    } catch {
      return false
    }
  }

  /** Moves its contents into the database, while nothing else is reading. */
  empty(): void {
    this.#emptied = performance.now()
    try {
      this.#connection.db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // The disk is full, or another process is doing it. It will be tried again.
    }
  }
}
