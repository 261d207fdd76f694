/** The code of a thread in the pool: it runs one statement after another on its own connection. */

import { parentPort, workerData } from 'node:worker_threads'
import { Connection, retryWhileBusy } from './connection/connection.ts'
import { addClock, addPatterns, checkPatterns } from './connection/functions.ts'
import type { Answer, Ask, ReaderData } from './connection/pool.ts'

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
    await checkPatterns(ask)
    const began = performance.now()
    const rows = await retryWhileBusy(() => connection.rows(ask))
    return { rows, tookMs: performance.now() - began }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

const say = (word: Answer): void => parentPort?.postMessage(word)

parentPort?.on('message', async (ask: Ask) => say(await answer(ask)))
say('open')
