/**
 * One writer for all processes of `serve(app, { processes })`: the workers send their writes to the first process. Each
 * process for itself would wait for the others' locks, and find the pages that it has cached changed.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { isWorker, topic } from '#processes'
import { StoreUnavailable } from '../../../../src/ports/store/store-errors.ts'
import { sharing } from '../../gather.ts'
import type { RunAll, SqliteResult, Statement } from '../layout/sql.ts'
import { checkPatterns } from './functions.ts'

type Batch = readonly Statement[]

/** The first process's answer: of the driver's errors, their messages pass. */
type Reply =
  | { readonly written: readonly SqliteResult[] }
  | { readonly unavailable: string }
  | { readonly error: string }

const opened = topic<string, boolean>('sqlite: a file')
const writes = topic<{ readonly file: string; readonly batches: readonly Batch[] }, Reply[]>(
  'sqlite: writes',
)

/** What writes to the files that this process has open. */
const writers = new Map<string, (batches: readonly Batch[]) => Promise<Reply[]>>()

/** Lets workers write to `file` with `run`. Returns a function that ends this. */
export function lendWriter(file: string | undefined, run: RunAll): () => void {
  if (file === undefined || isWorker) return () => {}
  const gathering = new Gathering()
  const runAll = (batches: readonly Batch[]) =>
    gathering.run(() => Promise.all(batches.map((batch) => replyTo(batch, run))))
  writers.set(file, runAll)
  return () => {
    if (writers.get(file) === runAll) writers.delete(file)
  }
}

async function replyTo(batch: Batch, run: RunAll): Promise<Reply> {
  try {
    await checkPatterns(...batch)
    return { written: await run(batch) }
  } catch (error) {
    if (error instanceof StoreUnavailable) return { unavailable: error.message }
    return { error: (error as Error).message }
  }
}

opened.answer((file) => writers.has(file))

writes.answer(({ file, batches }) => {
  const run = writers.get(file)
  return run ? run(batches) : batches.map(() => ({ unavailable: 'the store has been closed' }))
})

/**
 * In a worker, what writes to `file` in the first process; undefined if that has not opened the file, or if there is one
 * process. Throws a `TypeError` for a database in memory, which processes can't share.
 */
export async function borrowedWriter(file: string | undefined): Promise<RunAll | undefined> {
  if (!isWorker) return undefined
  if (file === undefined) {
    throw new TypeError(
      `sqliteStore: each process would have a database of its own. Set 'path', or serve without 'processes'.`,
    )
  }
  if (!(await opened.ask(file))) return undefined
  // Those that come while others are on their way leave together afterwards: they would wait for that commit anyway, and a
  // message costs as much as a write.
  const send = sharing((batches: Batch[]) => writes.ask({ file, batches }), turn)
  return async (batch) => {
    const reply: Reply | undefined = await send(batch)
    if (reply && 'written' in reply) return reply.written
    if (reply && 'error' in reply) throw new Error(reply.error)
    throw new StoreUnavailable(reply?.unavailable ?? 'a write got no answer')
  }
}

/** The longest wait for others, in milliseconds. A wait is also never longer than the last commit took. */
const MAX_WAIT_MS = 10
/** Commits that take less than this, in milliseconds, are not worth a wait. */
const QUICK_MS = 1

/**
 * The writes of several processes until they begin, so that they wait for the disk together. After each commit, its writers and
 * those that came meanwhile will soon write again. Without patience the processes would take turns at the disk, each with its
 * part of the writes, and need twice as many commits as one process.
 */
class Gathering {
  /** Each begins a write, and settles after its commit. */
  #waiting: (() => Promise<unknown>)[] = []
  #expected = 0
  #commitMs = 0
  #isBusy = false
  #timer: ReturnType<typeof setTimeout> | undefined

  /** The result of `write`, which begins when as many have come as are expected, or after a moment. */
  run<T>(write: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => write().then(resolve, reject))
      this.#beginIfAll()
    })
  }

  #beginIfAll(): void {
    const { length } = this.#waiting
    if (this.#isBusy || length === 0) return
    if (length >= this.#expected || this.#commitMs < QUICK_MS) void this.#begin()
    else this.#timer ??= setTimeout(() => void this.#begin(), Math.min(this.#commitMs, MAX_WAIT_MS))
  }

  async #begin(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isBusy = true
    const writes = this.#waiting
    this.#waiting = []
    const from = performance.now()
    await Promise.all(writes.map((begin) => begin()))
    this.#commitMs = performance.now() - from
    // The event loop has waited for the disk: the sockets of who has come meanwhile are read only now.
    await turn()
    await turn()
    this.#isBusy = false
    this.#expected = writes.length + this.#waiting.length
    this.#beginIfAll()
  }
}
