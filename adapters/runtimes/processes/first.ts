/** The first process of `serve(app, { processes })`: it starts, replaces, answers and ends the workers. */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { App } from '../../../src/app/app.ts'
import type { Place } from '../server.ts'
import { answerAsks, contentOf, type FromWorker, type ToWorker } from './channel.ts'

/** Starts the program of this process once more, with these variables beside those of this process. */
export type ForkWith = (variables: Readonly<Record<string, string>>) => ChildProcess

/** The port of `place`, or a free one for 0. Rejects if it is in use: workers could share it with another server. */
export async function freePort({ port, hostname }: Place): Promise<number> {
  const server = createServer().listen(port, hostname)
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return address.port
}

export interface Workers {
  readonly url: string
  /** Tells them to finish; kills those that have not ended after `limitMs`. Resolves to whether all have finished. */
  end(limitMs: number): Promise<boolean>
}

/** A worker that has lived this long, in milliseconds, did not die of its start. */
const SETTLED_MS = 10_000
/** The first and the longest pause before a worker is replaced, in milliseconds. */
const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 10_000

/**
 * Starts `count` workers with `fork` and resolves when all accept requests. The first one starts alone, so that what
 * fails in all of them fails once. Rejects with its error, and ends the others.
 */
export async function startWorkers(
  app: App,
  count: number,
  fork: () => ChildProcess,
): Promise<Workers> {
  const { logger } = app.files
  const workers = new Set<ChildProcess>()
  let isEnding = false
  let pauseMs = FIRST_PAUSE_MS

  /** Resolves to the worker's address once it accepts requests. */
  async function start(): Promise<string> {
    const worker = fork()
    workers.add(worker)
    worker.once('exit', () => workers.delete(worker))
    // A message that can't be sent: the worker has ended, which 'exit' tells.
    worker.on('error', () => {})
    const url = await addressOf(worker)
    const startedAt = performance.now()
    worker.once('exit', (code, signal) => {
      if (isEnding) return
      if (performance.now() - startedAt > SETTLED_MS) pauseMs = FIRST_PAUSE_MS
      logger.error(`A process of the server has ended (${signal ?? `exit code ${code}`}).`, {
        pid: worker.pid,
      })
      replace()
    })
    return url
  }

  function replace(): void {
    setTimeout(() => {
      if (isEnding) return
      start().catch((error: unknown) => {
        if (isEnding) return
        logger.error('A process of the server could not be started.', { error: String(error) })
        replace()
      })
    }, pauseMs)
    pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS)
  }

  async function end(limitMs: number): Promise<boolean> {
    isEnding = true
    const ended = [...workers].map(async (worker) => {
      const exit = once(worker, 'exit')
      send(worker, { fieldgate: { close: true } })
      const timer = setTimeout(() => worker.kill('SIGKILL'), limitMs)
      const [code] = await exit
      clearTimeout(timer)
      return code === 0
    })
    return (await Promise.all(ended)).every(Boolean)
  }

  try {
    const url = await start()
    await Promise.all(Array.from({ length: count - 1 }, start))
    return { url, end }
  } catch (error) {
    isEnding = true
    for (const worker of workers) worker.kill('SIGKILL')
    throw error
  }
}

/** The address that a worker reports; meanwhile and afterwards, what it asks is answered. */
function addressOf(worker: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message) => {
      const { asks, url, failure } = contentOf<FromWorker>(message)
      if (asks) answerAsks(asks, (answers) => send(worker, answers))
      if (url !== undefined) resolve(url)
      if (failure) reject(Object.assign(new Error(failure.message), failure))
    })
    worker.once('exit', (code, signal) => {
      const failed = () =>
        reject(new Error(`a process ended before it served: ${signal ?? `exit code ${code}`}`))
      // What it said last may arrive after its end.
      worker.once('disconnect', failed)
      setTimeout(failed, worker.connected ? LAST_WORDS_MS : 0)
    })
  })
}

/** How long the last message of a process that has ended may take, in milliseconds. */
const LAST_WORDS_MS = 1000

function send(worker: ChildProcess, message: ToWorker): void {
  // A worker that has ended needs no message; without the function, its absence would be an event.
  if (worker.connected) worker.send(message, () => {})
}
