/**
 * Group commit: the writes that arrive in one turn of the event loop, and in the turns right after it, share a
 * transaction, so that they share the one wait for the disk.
 *
 * @module
 */

import type { Written } from './collection.ts'
import type { Connection } from './connection.ts'
import { isUnusable } from './errors.ts'
import type { Statement } from './sql.ts'

interface Pending {
  readonly statement: Statement
  readonly resolve: (written: Written) => void
  readonly reject: (error: unknown) => void
}

/** So many writes wait for no others. */
const ENOUGH = 32

/** The one writer of a connection. */
export class Writer {
  readonly #connection: Connection
  #queue: Pending[] = []

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Runs a statement; settles after the commit. One that fails leaves the others of its transaction alone. */
  write(statement: Statement): Promise<Written> {
    return new Promise((resolve, reject) => {
      // After the sockets that are readable now have been read.
      if (this.#queue.length === 0) setImmediate(() => this.#flushUnlessMore(1))
      this.#queue.push({ statement, resolve, reject })
    })
  }

  /**
   * Commits once a turn has brought no further write. Else of many clients one half would be answered and ask again
   * while the other half waits for the disk, and each half would pay for a commit of its own.
   */
  #flushUnlessMore(seen: number): void {
    const { length } = this.#queue
    if (length === seen || length >= ENOUGH) this.flush()
    else if (length > 0) setImmediate(() => this.#flushUnlessMore(length))
  }

  /** Commits what waits. */
  flush(): void {
    const batch = this.#queue
    if (batch.length === 0) return
    this.#queue = []
    const settle: (() => void)[] = []
    try {
      this.#connection.transaction(() => {
        for (const pending of batch) settle.push(this.#run(pending))
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
      return
    }
    for (const settled of settle) settled()
  }

  /** A statement that fails has changed nothing; but a file that fails ends the transaction. */
  #run({ statement, resolve, reject }: Pending): () => void {
    try {
      const written = this.#connection.write(statement)
      return () => resolve(written)
    } catch (error) {
      if (isUnusable(error)) throw error
      return () => reject(error)
    }
  }
}
