/**
 * What runs on a thread of the pool: it answers one statement after another from a connection of its own.
 *
 * @module
 */

import { parentPort, workerData } from 'node:worker_threads'
import { Connection } from './connection.ts'
import { addClock, addPatterns, checkPatterns } from './functions.ts'
import { patiently } from './patience.ts'
import type { Row, Statement } from './sql.ts'

/** What a thread begins with. */
export interface ReaderData {
  /** The database's file. */
  readonly path: string
  /** Its one number is not 0 once the statement that runs is to end. */
  readonly cancelled: Int32Array<SharedArrayBuffer>
}

/** What a thread is told. */
export type Ask = Statement | 'close'

/** What a statement gave. */
export interface Found {
  readonly rows: readonly Row[]
  /** How long it ran, in milliseconds. */
  readonly tookMs: number
}

/** What the driver threw. */
export interface Failure {
  readonly error: { readonly message: string; readonly errcode: unknown }
}

/** What it says; `open` and `closed` are of its connection. */
export type Answer = Found | Failure | 'open' | 'closed'

const { path, cancelled }: ReaderData = workerData
const connection = new Connection(path, { readOnly: true })
addClock(connection.db, () => Atomics.load(cancelled, 0) !== 0)
addPatterns(connection.db)

async function answer(ask: Ask): Promise<Answer> {
  if (ask === 'close') {
    connection.close()
    return 'closed'
  }
  try {
    if (ask.patterns) await checkPatterns(ask.patterns)
    const began = performance.now()
    const rows = await patiently(() => connection.rows(ask))
    return { rows, tookMs: performance.now() - began }
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: unknown }
    return { error: { message, errcode } }
  }
}

const say = (word: Answer): void => parentPort?.postMessage(word)

parentPort?.on('message', async (ask: Ask) => say(await answer(ask)))
say('open')
