/**
 * One thread of the pool, as seen from outside.
 *
 * @module
 */

import { Worker } from 'node:worker_threads'
import { errorOf, type Failure } from '../layout/errors.ts'
import type { Row, Statement } from '../layout/sql.ts'

/** The start data of a thread. */
export interface ReaderData {
  readonly path: string
  /** Its one number becomes non-zero when the running statement must end. */
  readonly cancelled: Int32Array<SharedArrayBuffer>
}

/** A message to a thread. */
export type Ask = Statement | 'close'

/** The result of a statement. */
export interface Found {
  readonly rows: readonly Row[]
  readonly tookMs: number
}

/** A message from a thread; `open` and `closed` are about its connection. */
export type Answer = Found | { readonly error: Failure } | 'open' | 'closed'

/** A running statement, and its caller. */
export interface Job {
  readonly statement: Statement
  resolve(found: Found): void
  reject(reason: unknown): void
}

/** What the pool is told about a thread. */
export interface Events {
  started(): void
  /** It has finished a job, and is free. */
  free(): void
  /** It has ended by itself; `cause` is the reason. Its job, if it had one, gets no result. */
  ended(thread: Thread, job: Job | undefined, cause: unknown): void
}

/** How long to wait for a statement that cannot be interrupted, in milliseconds. */
const CLOSE_MS = 5000

/** A thread with its own connection. It keeps the process alive only while it has a job. */
export class Thread {
  readonly #worker: Worker
  readonly #cancelled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  readonly #events: Events
  readonly #closed = Promise.withResolvers<void>()
  /** What it does now. */
  job: Job | undefined
  #cause: unknown

  /** Throws if no thread can be started. */
  constructor(path: string, events: Events) {
    this.#events = events
    const workerData: ReaderData = { path, cancelled: this.#cancelled }
    this.#worker = new Worker(readerUrl(), { workerData })
    this.#worker.unref()
    this.#worker.on('message', (answer: Answer) => this.#heard(answer))
    this.#worker.on('error', (error) => {
      this.#cause = error
    })
    this.#worker.on('exit', () => this.#ended())
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
    if (answer === 'open') this.#events.started()
    else if (answer === 'closed') this.#closed.resolve()
    else {
      const { job } = this
      this.job = undefined
      this.#worker.unref()
      if ('error' in answer) job?.reject(errorOf(answer.error))
      else job?.resolve(answer)
      this.#events.free()
    }
  }

  #ended(): void {
    this.#closed.resolve()
    const { job } = this
    this.job = undefined
    this.#events.ended(this, job, this.#cause)
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
