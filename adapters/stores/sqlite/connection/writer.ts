/** Group commit: writes of one turn of the event loop, and of the turns right after it, wait for the disk only once. */

import { isBusy } from '../layout/errors.ts'
import type { Statement, Written } from '../layout/sql.ts'
import { type Connection, type Outcome, PATIENCE_MS, pauseAfter } from './connection.ts'

interface Pending {
  readonly statements: readonly Statement[]
  readonly since: number
  readonly resolve: (written: readonly Written[]) => void
  readonly reject: (error: unknown) => void
}

/** A batch of this size is committed immediately. */
const MAX_BATCH = 32

/** The one writer of a connection. */
export class Writer {
  readonly #connection: Connection
  #queue: Pending[] = []
  /** How often in a row another connection had the lock. */
  #looks = 0
  #drained: (() => void)[] = []

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Runs statements, of which either all take effect or none; settles after the commit, and calls `committed` right after
   * it. If they fail, the others of their transaction are not affected.
   */
  write(
    statements: readonly Statement[],
    committed: (written: readonly Written[]) => void,
  ): Promise<readonly Written[]> {
    return new Promise((settle, reject) => {
      const resolve = (written: readonly Written[]) => {
        committed(written)
        settle(written)
      }
      // After the sockets that are readable now have been read.
      if (this.#queue.length === 0) setImmediate(() => this.#flushUnlessMore(1))
      this.#queue.push({ statements, since: performance.now(), resolve, reject })
    })
  }

  /** Settles when all earlier writes are committed, or have failed. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#queue.length === 0) resolve()
      else this.#drained.push(resolve)
    })
  }

  /**
   * Commits once a turn has brought no further write. Otherwise, of many clients, one half would get its responses and
   * send more while the other half waits for the disk, and each half would pay for its own commit.
   */
  #flushUnlessMore(seen: number): void {
    const { length } = this.#queue
    if (length === seen || length >= MAX_BATCH) this.#flush()
    else setImmediate(() => this.#flushUnlessMore(length))
  }

  /** Commits the waiting writes, or tries again later if another connection has the lock. */
  #flush(): void {
    const batch = this.#queue
    let outcomes: readonly Outcome[]
    try {
      outcomes = this.#connection.writeAll(batch)
    } catch (error) {
      if (isBusy(error)) {
        this.#lookAgain(batch, error)
        return
      }
      outcomes = batch.map(() => ({ error }))
    }
    this.#queue = []
    this.#rest()
    for (const [at, outcome] of outcomes.entries()) {
      if ('error' in outcome) batch[at]?.reject(outcome.error)
      else batch[at]?.resolve(outcome.written)
    }
  }

  #lookAgain(batch: readonly Pending[], error: unknown): void {
    const oldest = performance.now() - PATIENCE_MS
    for (const { since, reject } of batch) if (since <= oldest) reject(error)
    this.#queue = batch.filter(({ since }) => since > oldest)
    if (this.#queue.length === 0) this.#rest()
    else {
      setTimeout(() => this.#flush(), pauseAfter(this.#looks))
      this.#looks += 1
    }
  }

  #rest(): void {
    this.#looks = 0
    for (const resolve of this.#drained.splice(0)) resolve()
  }
}
