/**
 * One thread of the pool, as the others see it.
 *
 * @module
 */

import { Worker } from 'node:worker_threads'
import type { Answer, Ask, Failure, Found, ReaderData } from './reader.ts'
import type { Statement } from './sql.ts'

/** A statement under way, and who waits for it. */
export interface Job {
  readonly statement: Statement
  resolve(found: Found): void
  reject(reason: unknown): void
}

/** What the pool is told of a thread. */
export interface Events {
  /** Its connection is open. */
  started(): void
  /** It has answered, and is free. */
  free(): void
  /** It has ended, by itself for the reason `cause`. The job that it had gets no answer. */
  ended(thread: Thread, job: Job | undefined, cause: unknown): void
}

/** So long is waited for a statement that cannot be ended, in milliseconds. */
const CLOSE_MS = 5000

/** A thread with a connection of its own. It keeps the process alive only while it has a job. */
export class Thread {
  readonly #worker: Worker
  readonly #cancelled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  readonly #events: Events
  readonly #closed = Promise.withResolvers<void>()
  #job: Job | undefined
  #cause: unknown

  /** Throws where no thread can be started. */
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

  get job(): Job | undefined {
    return this.#job
  }

  /** Begins a job; the thread must be free. */
  run(job: Job): void {
    this.#job = job
    Atomics.store(this.#cancelled, 0, 0)
    this.#worker.ref()
    this.#tell(job.statement)
  }

  /** Ends the statement that runs, soon. Its answer is waited for before the next one. */
  cancel(): void {
    Atomics.store(this.#cancelled, 0, 1)
  }

  /** Ends the statement that runs, closes the connection and ends the thread, within a few seconds. */
  async close(): Promise<void> {
    this.cancel()
    this.#worker.ref()
    this.#tell('close')
    const timer = setTimeout(() => this.#closed.resolve(), CLOSE_MS)
    await this.#closed.promise
    clearTimeout(timer)
    this.#worker.unref()
    // Not waited for: it would be in vain while SQLite does not come back.
    void this.#worker.terminate()
  }

  #tell(ask: Ask): void {
    this.#worker.postMessage(ask)
  }

  #heard(answer: Answer): void {
    if (answer === 'open') this.#events.started()
    else if (answer === 'closed') this.#closed.resolve()
    else this.#answered(answer)
  }

  #answered(answer: Found | Failure): void {
    const job = this.#job
    this.#job = undefined
    this.#worker.unref()
    if ('error' in answer) {
      const { message, errcode } = answer.error
      job?.reject(Object.assign(new Error(message), { errcode }))
    } else {
      job?.resolve(answer)
    }
    this.#events.free()
  }

  #ended(): void {
    this.#closed.resolve()
    const job = this.#job
    this.#job = undefined
    this.#events.ended(this, job, this.#cause)
  }
}

/** The module of the thread: as it is written, or as it is published. */
function readerUrl(): URL {
  const { url } = import.meta
  return url.endsWith('.ts') ? new URL('./reader.ts', url) : new URL('./reader.js', url)
}
