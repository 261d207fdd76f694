/** A small pool of threads for long reads, so that they hold up no other request. */

import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { withTimeout } from '../../../../src/ports/promises/with-timeout.ts'
import { StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import { unlessAborted } from '../../unless-aborted.ts'
import type { Row, Statement } from '../layout/sql.ts'
import type { Connection } from './connection.ts'
import { tookTooLong } from './functions.ts'

export interface ReaderData {
  readonly path: string
  /** Its one number becomes non-zero when the running statement must end. */
  readonly cancelled: Int32Array<SharedArrayBuffer>
}

export type Ask = Statement | 'close'

export interface Found {
  readonly rows: readonly Row[]
  readonly tookMs: number
}

/** A message from a thread; `open` and `closed` are about its connection. */
export type Answer = Found | { readonly error: string } | 'open' | 'closed'

/** A running statement, and its caller. */
interface Job extends PromiseWithResolvers<Found> {
  readonly statement: Statement
}

/** How long to wait for a statement that cannot be interrupted, in milliseconds. */
const CLOSE_MS = 5000

/** A thread with its own connection. It keeps the process alive only while it has a job. */
class Thread {
  readonly #worker: Worker
  readonly #cancelled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  readonly #pool: Pool
  readonly #closed = Promise.withResolvers<void>()
  job: Job | undefined

  /** Throws if no thread can be started. */
  constructor(path: string, pool: Pool) {
    this.#pool = pool
    const workerData: ReaderData = { path, cancelled: this.#cancelled }
    this.#worker = new Worker(readerUrl(), { workerData })
    this.#worker.unref()
    this.#worker.on('message', (answer: Answer) => this.#heard(answer))
    let cause: unknown
    this.#worker.on('error', (error) => {
      cause = error
    })
    this.#worker.on('exit', () => {
      this.#closed.resolve()
      pool.ended(this, cause)
    })
  }

  /** Begins a job; the thread must be free. */
  run(job: Job): void {
    this.job = job
    Atomics.store(this.#cancelled, 0, 0)
    this.#worker.ref()
    this.#worker.postMessage(job.statement satisfies Ask)
  }

  /** Ends the running statement, soon. Its result is awaited before the next job. */
  cancel(): void {
    Atomics.store(this.#cancelled, 0, 1)
  }

  /** Ends the running statement, closes the connection and ends the thread, within a few seconds. */
  async close(): Promise<void> {
    this.cancel()
    this.#worker.ref()
    this.#worker.postMessage('close' satisfies Ask)
    const timer = setTimeout(() => this.#closed.resolve(), CLOSE_MS)
    await this.#closed.promise
    clearTimeout(timer)
    this.#worker.unref()
    // Not awaited: it never settles while SQLite does not return.
    void this.#worker.terminate()
  }

  #heard(answer: Answer): void {
    if (answer === 'open') this.#pool.started()
    else if (answer === 'closed') this.#closed.resolve()
    else {
      const { job } = this
      this.job = undefined
      this.#worker.unref()
      if ('error' in answer) job?.reject(new Error(answer.error))
      else job?.resolve(answer)
      this.#pool.begin()
    }
  }
}

/** The module of the thread: the source, or the published file, which lies beside the module that this one is part of. */
function readerUrl(): URL {
  const { url } = import.meta
  return beside(url.endsWith('.ts') ? '../reader.ts' : './reader.js', url)
}

/** Bundlers would look for both files if they saw their names in a `new URL`. */
function beside(file: string, url: string): URL {
  return new URL(file, url)
}

/** The pool cannot read, because threads do not start, e.g. because their module is missing. */
export class NoThreads extends Error {
  override readonly name = 'NoThreads'
}

/** Bytes of the write-ahead log beyond which readers have to pause. */
const LONG_BYTES = 16 * 1024 * 1024
/** The least time between two pauses, in milliseconds: readers of other processes do not pause. */
const REST_MS = 1000

/** The threads that read one file: started on demand, with one statement each at a time, first come first served. */
export class Pool {
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
   * The result of a statement. Rejects with the driver's error, with `StoreTimeout` when the clock of `performance.now()` is
   * at `end`, with the signal's reason, with `StoreUnavailable` if its thread or the pool ends, and with `NoThreads`.
   */
  async run(statement: Statement, end: number, signal?: AbortSignal): Promise<Found> {
    if (this.#closed) throw closed()
    const job: Job = { statement, ...Promise.withResolvers<Found>() }
    this.#queue.add(job)
    this.begin()
    const stop = (reason: unknown) => this.#stop(job, reason)
    const ms = Math.max(0, end - performance.now())
    const isLimited = ms < Number.POSITIVE_INFINITY
    const inTime = () => withTimeout(ms, () => job.promise, tookTooLong, stop)
    return unlessAborted(isLimited ? inTime() : job.promise, signal, stop)
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

  /** A thread has ended, for a reason. Its job, if it had one, gets no result. */
  ended(thread: Thread, cause: unknown): void {
    this.#threads.delete(thread)
    thread.job?.reject(this.#without(cause))
    this.begin()
  }

  /** Gives waiting jobs to free threads. */
  begin(): void {
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
