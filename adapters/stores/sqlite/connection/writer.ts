/** Group commit: writes of one turn of the event loop, and of the turns right after it, wait for the disk only once. */

// Not the global one, which tests of users replace by one that stands still.
import { setImmediate } from 'node:timers'
import { setTimeout as pause } from 'node:timers/promises'
import { isBusy } from '../layout/errors.ts'
import type { SqliteResult, Statement } from '../layout/sql.ts'
import { type Connection, type Outcome, PATIENCE_MS, pauseAfter } from './connection.ts'

interface Pending {
  readonly statements: readonly Statement[]
  readonly since: number
  readonly resolve: (written: readonly SqliteResult[]) => void
  readonly reject: (error: unknown) => void
}

/** A batch of this size is committed immediately. */
const MAX_BATCH = 32

export class Writer {
  readonly #connection: Connection
  #queue: Pending[] = []
  #latest: Promise<unknown> | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Runs statements, of which either all take effect or none; settles after the commit, and calls `committed` right after
   * it. If they fail, the others of their transaction are not affected.
   */
  write(
    statements: readonly Statement[],
    committed: (written: readonly SqliteResult[]) => void,
  ): Promise<readonly SqliteResult[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly SqliteResult[]>()
    const settle = (written: readonly SqliteResult[]) => {
      committed(written)
      resolve(written)
    }
    // After the sockets that are readable now have been read.
    if (this.#queue.length === 0) setImmediate(() => this.#flushUnlessMore(1))
    this.#queue.push({ statements, since: performance.now(), resolve: settle, reject })
    this.#latest = promise
    return promise
  }

  /** Settles when all earlier writes are committed, or have failed: they do so in their order. */
  async drained(): Promise<void> {
    await Promise.allSettled([this.#latest])
  }

  /**
   * Commits once a turn has brought no further write. Otherwise, of many clients, one half would get its responses and
   * send more while the other half waits for the disk, and each half would pay for its own commit.
   */
  #flushUnlessMore(seen: number): void {
    const { length } = this.#queue
    if (length === seen || length >= MAX_BATCH) void this.#flush()
    else setImmediate(() => this.#flushUnlessMore(length))
  }

  /** Commits the waiting writes; tries again for a while if another connection has the lock. */
  async #flush(): Promise<void> {
    for (let looks = 0; this.#queue.length > 0; looks += 1) {
      const batch = this.#queue
      const outcomes = this.#outcomesOf(batch)
      this.#queue = batch.filter((_, at) => !outcomes[at])
      for (const [at, outcome] of outcomes.entries()) {
        if (!outcome) continue
        if ('error' in outcome) batch[at]?.reject(outcome.error)
        else batch[at]?.resolve(outcome.written)
      }
      if (this.#queue.length > 0) await pause(pauseAfter(looks))
    }
  }

  /** What has become of each; undefined of one that goes on waiting. */
  #outcomesOf(batch: readonly Pending[]): readonly (Outcome | undefined)[] {
    try {
      return this.#connection.writeAll(batch)
    } catch (error) {
      const latest = isBusy(error) ? performance.now() - PATIENCE_MS : Number.POSITIVE_INFINITY
      return batch.map(({ since }) => (since <= latest ? { error } : undefined))
    }
  }
}
