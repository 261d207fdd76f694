/**
 * Group commit: the writes that arrive in one turn of the event loop, and in the turns right after it, share a
 * transaction, so they wait for the disk only once.
 *
 * @module
 */

import { isBusy, isUnusable } from '../layout/errors.ts'
import type { Statement, Written } from '../layout/sql.ts'
import { PATIENCE_MS, pauseAfter } from './busy-retry.ts'
import type { Connection } from './connection.ts'

interface Pending {
  /** Takes effect in the current transaction; returns what settles the promise after the commit. */
  readonly run: () => () => void
  /** When it was called, in milliseconds. */
  readonly since: number
  readonly reject: (error: unknown) => void
}

/** A batch of this size is committed immediately. */
const ENOUGH = 32

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
    const run = () => statements.map((one) => this.#connection.write(one))
    // A statement is one by itself.
    const work = statements.length === 1 ? run : () => this.#connection.asOne(run)
    return this.#queued(work, committed)
  }

  #queued<T>(work: () => T, committed: (result: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => {
        const result = work()
        return () => {
          committed(result)
          resolve(result)
        }
      }
      // After the sockets that are readable now have been read.
      if (this.#queue.length === 0) setImmediate(() => this.#flushUnlessMore(1))
      this.#queue.push({ run, since: performance.now(), reject })
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
    if (length === seen || length >= ENOUGH) this.#flush()
    else setImmediate(() => this.#flushUnlessMore(length))
  }

  /** Commits the waiting writes, or tries again later if another connection has the lock. */
  #flush(): void {
    const batch = this.#queue
    const settle: (() => void)[] = []
    try {
      this.#connection.transaction(() => {
        for (const pending of batch) settle.push(this.#run(pending))
      })
    } catch (error) {
      if (isBusy(error)) {
        this.#lookAgain(batch, error)
        return
      }
      settle.splice(
        0,
        settle.length,
        ...batch.map(
          ({ reject }) =>
            () =>
              reject(error),
        ),
      )
    }
    this.#done(settle)
  }

  #lookAgain(batch: readonly Pending[], error: unknown): void {
    const oldest = performance.now() - PATIENCE_MS
    for (const { since, reject } of batch) if (since <= oldest) reject(error)
    this.#queue = batch.filter(({ since }) => since > oldest)
    if (this.#queue.length === 0) {
      this.#done([])
      return
    }
    setTimeout(() => this.#flush(), pauseAfter(this.#looks))
    this.#looks += 1
  }

  #done(settle: readonly (() => void)[]): void {
    this.#queue = []
    this.#looks = 0
    for (const settled of settle) settled()
    for (const resolve of this.#drained.splice(0)) resolve()
  }

  /** A write that fails has changed nothing, but if the file fails, the transaction ends. */
  #run({ run, reject }: Pending): () => void {
    try {
      return run()
    } catch (error) {
      if (isUnusable(error)) throw error
      return () => reject(error)
    }
  }
}
