/**
 * A small pool of threads for long reads, so that they hold up no other request.
 *
 * @module
 */

import { statSync } from 'node:fs'
import { StoreUnavailable } from '../../../../src/ports/store.ts'
import type { Statement } from '../layout/sql.ts'
import type { Connection } from './connection.ts'
import { tookTooLong } from './functions.ts'
import { type Events, type Found, type Job, Thread } from './thread.ts'

/** The pool cannot read, because threads do not start, e.g. because their module is missing. */
export class NoThreads extends Error {
  override readonly name = 'NoThreads'
}

/** Bytes of the write-ahead log beyond which readers have to pause. */
const LONG_BYTES = 16 * 1024 * 1024
/** The least time between two pauses, in milliseconds: readers of other processes do not pause. */
const REST_MS = 1000

/** When a waiting or running read must end. */
export interface Limits {
  /** The time in milliseconds, on the clock of `performance.now()`, after which it rejects with `StoreTimeout`. */
  readonly end: number
  /** When it aborts, the read rejects with its reason. */
  readonly signal?: AbortSignal | undefined
}

/** The threads that read one file: started on demand, with one statement each at a time, first come first served. */
export class Pool implements Events {
  readonly #path: string
  readonly #connection: Connection
  readonly #mostThreads: number
  readonly #threads = new Set<Thread>()
  readonly #queue = new Set<Job>()
  #hasStarted = false
  #closed = false
  /** When the write-ahead log was emptied. */
  #emptied = Number.NEGATIVE_INFINITY

  /** `connection` has the file `path` open. */
  constructor(path: string, connection: Connection, mostThreads: number) {
    this.#path = path
    this.#connection = connection
    this.#mostThreads = mostThreads
  }

  /**
   * The result of a statement. Rejects with the driver's error, with `StoreUnavailable` if its thread or the pool ends,
   * and with `NoThreads`.
   */
  async run(statement: Statement, { end, signal }: Limits): Promise<Found> {
    if (this.#closed) throw closed()
    const { promise, resolve, reject } = Promise.withResolvers<Found>()
    const job: Job = { statement, resolve, reject }
    const onAbort = () => this.#stop(job, signal?.reason)
    const onTime = () => this.#stop(job, tookTooLong())
    const hasEnd = end < Number.POSITIVE_INFINITY
    const timer = hasEnd ? setTimeout(onTime, Math.max(0, end - performance.now())) : undefined
    signal?.addEventListener('abort', onAbort)
    this.#queue.add(job)
    this.#begin()
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Ends all reads with `StoreUnavailable`, and the threads. */
  async close(): Promise<void> {
    this.#closed = true
    const threads = [...this.#threads]
    this.#stopAll(closed())
    await Promise.all(threads.map((thread) => thread.close()))
  }

  started(): void {
    this.#hasStarted = true
  }

  free(): void {
    this.#begin()
  }

  ended(thread: Thread, job: Job | undefined, cause: unknown): void {
    this.#threads.delete(thread)
    job?.reject(this.#without(cause))
    this.#begin()
  }

  /** Gives waiting jobs to free threads. */
  #begin(): void {
    if (this.#isLogLong()) {
      if (this.#running().length > 0) return
      this.#emptyLog()
    }
    for (const job of this.#queue) {
      const thread = this.#freeThread()
      if (!thread) return
      this.#queue.delete(job)
      thread.run(job)
    }
  }

  /**
   * Whether the write-ahead log should be emptied as soon as nothing reads. SQLite restarts it only when nothing reads from it:
   * with threads taking turns, one is always reading, so it would grow for as long as records are written.
   */
  #isLogLong(): boolean {
    if (performance.now() < this.#emptied + REST_MS) return false
    try {
      return statSync(`${this.#path}-wal`).size > LONG_BYTES
    } catch {
      return false
    }
  }

  #emptyLog(): void {
    this.#emptied = performance.now()
    try {
      this.#connection.db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // The disk is full, or another process is doing it. It will be tried again.
    }
  }

  #freeThread(): Thread | undefined {
    for (const thread of this.#threads) if (!thread.job) return thread
    if (this.#threads.size >= this.#mostThreads) return undefined
    try {
      const thread = new Thread(this.#path, this)
      this.#threads.add(thread)
      return thread
    } catch (error) {
      // If other threads are working, the jobs can wait for them.
      if (this.#threads.size === 0) this.#stopAll(this.#without(error))
      return undefined
    }
  }

  #without(cause: unknown): Error {
    return this.#hasStarted
      ? new StoreUnavailable('a thread for reads has ended', { cause })
      : new NoThreads('no thread for reads can be started', { cause })
  }

  #running(): Job[] {
    return [...this.#threads].flatMap(({ job }) => job ?? [])
  }

  #stopAll(reason: unknown): void {
    for (const job of [...this.#running(), ...this.#queue]) this.#stop(job, reason)
  }

  /** The caller no longer waits for the job. */
  #stop(job: Job, reason: unknown): void {
    job.reject(reason)
    if (this.#queue.delete(job)) return
    for (const thread of this.#threads) if (thread.job === job) thread.cancel()
  }
}

function closed(): StoreUnavailable {
  return new StoreUnavailable('the store has been closed')
}
