/**
 * One writer for all processes of `serve(app, { processes })`: the workers send their writes to the first process. Each
 * process for itself would wait for the others' locks, and find the pages that it has cached changed.
 *
 * @module
 */

import { isWorker, topic } from '#processes'
import { StoreUnavailable } from '../../../src/ports/store.ts'
import { checkPatternsOf } from './functions.ts'
import { Gathering } from './gathering.ts'
import type { Statement, Written } from './sql.ts'

/** A write: its statements take effect together. */
export interface Batch {
  readonly statements: readonly Statement[]
  /** The collection that each writes to. */
  readonly collections: readonly string[]
}

/** Runs a write; settles after the commit. */
export type RunBatch = (batch: Batch) => Promise<readonly Written[]>

/** The first process's answer: the driver's errors pass as what is read of them. */
type Reply =
  | { readonly written: readonly Written[] }
  | { readonly unavailable: string }
  | { readonly error: { readonly message: string; readonly errcode?: unknown } }

const opened = topic<string, boolean>('sqlite: a file')
const writes = topic<{ readonly file: string; readonly batch: Batch }, Reply>('sqlite: a write')

/** What writes to the files that this process has open. */
const writers = new Map<string, RunBatch>()

/** Lets workers write to `file` with `run`. Returns a function that ends this. */
export function lendWriter(file: string | undefined, run: RunBatch): () => void {
  if (file === undefined || isWorker) return () => {}
  const gathering = new Gathering()
  const gathered: RunBatch = async (batch) => {
    await checkPatternsOf(batch.statements)
    return gathering.run(() => run(batch))
  }
  writers.set(file, gathered)
  return () => {
    if (writers.get(file) === gathered) writers.delete(file)
  }
}

/**
 * In a worker, what writes to `file` in the first process; undefined if that has not opened the file, or if there is one
 * process. Throws a `TypeError` for a database in memory, which processes can't share.
 */
export async function borrowedWriter(file: string | undefined): Promise<RunBatch | undefined> {
  if (!isWorker) return undefined
  if (file === undefined) {
    throw new TypeError(
      `sqliteStore: each process would have a database of its own. Set 'path', or serve without 'processes'.`,
    )
  }
  return (await opened.ask(file)) ? (batch) => writeThere(file, batch) : undefined
}

async function writeThere(file: string, batch: Batch): Promise<readonly Written[]> {
  const reply = await writes.ask({ file, batch })
  if ('written' in reply) return reply.written
  if ('unavailable' in reply) throw new StoreUnavailable(reply.unavailable)
  const { message, errcode } = reply.error
  throw Object.assign(new Error(message), { errcode })
}

opened.answer((file) => writers.has(file))

writes.answer(async ({ file, batch }) => {
  try {
    const run = writers.get(file)
    if (!run) return { unavailable: 'the store has been closed' }
    return { written: await run(batch) }
  } catch (error) {
    if (error instanceof StoreUnavailable) return { unavailable: error.message }
    const { message, errcode } = error as Error & { errcode?: unknown }
    return { error: { message, errcode } }
  }
})
