/**
 * The code of a thread in the pool: it runs one statement after another on its own connection.
 *
 * @module
 */

import { parentPort, workerData } from 'node:worker_threads'
import type { Row, Statement } from '../layout/sql.ts'
import { retryWhileBusy } from './busy-retry.ts'
import { Connection } from './connection.ts'
import { addClock, addPatterns, checkPatterns } from './functions.ts'

/** The start data of a thread. */
export interface ReaderData {
  /** The database's file. */
  readonly path: string
  /** Its one number becomes non-zero when the running statement must end. */
  readonly cancelled: Int32Array<SharedArrayBuffer>
}

/** A message to a thread. */
export type Ask = Statement | 'close'

/** The result of a statement. */
export interface Found {
  readonly rows: readonly Row[]
  /** How long it ran, in milliseconds. */
  readonly tookMs: number
}

/** The driver's error. */
export interface Failure {
  readonly error: { readonly message: string; readonly errcode: unknown }
}

/** A message from a thread; `open` and `closed` are about its connection. */
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
    const rows = await retryWhileBusy(() => connection.rows(ask))
    return { rows, tookMs: performance.now() - began }
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: unknown }
    return { error: { message, errcode } }
  }
}

const say = (word: Answer): void => parentPort?.postMessage(word)

parentPort?.on('message', async (ask: Ask) => say(await answer(ask)))
say('open')
