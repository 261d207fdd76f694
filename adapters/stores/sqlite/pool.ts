/**
 * A small pool of threads for the reads that take long, so that they hold up nobody else.
 *
 * @module
 */

import { StoreUnavailable } from '../../../src/ports/store.ts'
import { tookTooLong } from './clock.ts'
import type { Log } from './log.ts'
import type { Found } from './reader.ts'
import type { Statement } from './sql.ts'
import { type Events, type Job, Thread } from './thread.ts'

/** Nothing can be read here, because threads do not start: their module is not there, for one. */
export class NoThreads extends Error {
  override readonly name = 'NoThreads'
}

/** When a read that waits or runs is to end. */
export interface Limits {
  /** The time in milliseconds, as `performance.now()` has it, after which it rejects with `StoreTimeout`. */
  readonly end: number
  /** It rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The threads that read one file: started when they are needed, in use one statement each, first come first served. */
export class Pool implements Events {
  readonly #path: string
  readonly #log: Log
  readonly #mostThreads: number
  readonly #threads = new Set<Thread>()
  readonly #queue = new Set<Job>()
  #hasStarted = false
  #closed = false

  constructor(path: string, log: Log, mostThreads: number) {
    this.#path = path
    this.#log = log
    this.#mostThreads = mostThreads
  }

  /**
   * What a statement gives. Rejects with what the driver throws, with `StoreUnavailable` when its thread or the pool
   * ends, and with `NoThreads`.
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

  /** Gives what waits to threads that are free. */
  #begin(): void {
    if (this.#log.isLong()) {
      if (this.#running().length > 0) return
      this.#log.empty()
    }
    for (const job of this.#queue) {
      const thread = this.#freeThread()
      if (!thread) return
      this.#queue.delete(job)
      thread.run(job)
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
      // With others at work it can wait.
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

  /** Nobody waits for the job any more. */
  #stop(job: Job, reason: unknown): void {
    job.reject(reason)
    if (this.#queue.delete(job)) return
    for (const thread of this.#threads) if (thread.job === job) thread.cancel()
  }
}

function closed(): StoreUnavailable {
  return new StoreUnavailable('the store has been closed')
}
