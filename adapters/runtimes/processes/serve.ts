/** `serve` with the option `processes`: what it does in the first process, and in the workers. */

import process from 'node:process'
import type { App } from '../../../src/app/app.ts'
import {
  closable,
  GRACE_MS,
  listening,
  type Place,
  type Served,
  type ServeOptions,
  STORES_MS,
  urlOf,
  within,
} from '../server.ts'
import { endProcess } from '../signals.ts'
import { listenFailure, startFailure } from '../start-failure.ts'
import { isWorker, tellFirst, toldToClose, WORKER_VARIABLE, workerPort } from './channel.ts'
import type { ForkWith } from './first.ts'

type ServeHere<Options> = (app: App, options: Options, place: Place) => Promise<Served>

/** What starts processes of Deno and Bun that listen on one port: the kernel hands out the connections. */
export async function reuseForks(): Promise<ForkWith> {
  const { fork } = await import('node:child_process')
  const [, program = '', ...args] = process.argv
  return (variables) => fork(program, args, { env: { ...process.env, ...variables } })
}

/** How much later than they should have ended workers are killed, in milliseconds. */
const LATE_MS = 1000

if (isWorker) void toldToClose.then(endProcess)

/**
 * Serves `app` with `here`, in as many processes as `options` say; `forkOf` returns what starts them, and `advise` tells of
 * options that do nothing here. In a worker it never resolves, so that what follows `await serve(…)` in a program happens
 * once.
 */
export async function inProcesses<Options extends ServeOptions>(
  app: App,
  options: Options,
  here: ServeHere<Options>,
  forkOf: () => Promise<ForkWith>,
  advise: () => void = () => {},
): Promise<Served> {
  if (typeof app?.handle !== 'function') {
    throw new TypeError('serve(app) takes an app that createApp() returned')
  }
  const place = listening(options)
  const { processes = 1 } = options
  if (isWorker && processes > 1) return work(app, options, here, place)
  // An app beside one that has `processes`: the first process serves it.
  if (isWorker) return { url: urlOf(place.hostname, place.port), close: () => app.close() }
  advise()
  const serving =
    processes > 1 ? lead(app, place, options, processes, forkOf) : here(app, options, place)
  return serving.catch((error: unknown) => {
    throw listenFailure(error, place.port)
  })
}

let isLeading = false

async function lead(
  app: App,
  place: Place,
  { graceMs = GRACE_MS, signals = true }: ServeOptions,
  count: number,
  forkOf: () => Promise<ForkWith>,
): Promise<Served> {
  if (isLeading) throw new TypeError(`serve: only one app of a program can have 'processes'`)
  isLeading = true
  try {
    const [{ startWorkers, freePort }, fork] = await Promise.all([import('./first.ts'), forkOf()])
    // Once, before any other process looks: the workers find all tables and indexes.
    await app.ready()
    const variables = { [WORKER_VARIABLE]: `${await freePort(place)}` }
    const { url, end } = await startWorkers(app, count, () => fork(variables))
    const finish = async () => {
      const isFinished = await end(graceMs + STORES_MS + LATE_MS)
      const isClosed = await within(STORES_MS, app.close())
      return isFinished && isClosed
    }
    return closable(url, finish, signals)
  } catch (error) {
    isLeading = false
    throw startFailure(error)
  }
}

async function work<Options extends ServeOptions>(
  app: App,
  options: Options,
  here: ServeHere<Options>,
  place: Place,
): Promise<never> {
  try {
    const own = { ...place, port: workerPort }
    const { url } = await here(app, { ...options, signals: true }, own)
    await tellFirst({ url })
  } catch (error) {
    const { name, message, stack, code } = error as Error & { code?: unknown }
    await tellFirst({ failure: { name, message, stack, code } })
    process.exit(1)
  }
  return new Promise(() => {})
}
