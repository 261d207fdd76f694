/** What every `serve` takes and returns. */

import type { App } from '../../src/app/app.ts'
import { runBackground } from '../../src/background/run.ts'
import { checkOptions, each, flag, type Rule, wholeNumber } from '../../src/model/option-rules.ts'
import { jsonLogger } from '../../src/ports/services/logger.ts'
import { WITHOUT_BODY } from '../../src/ports/services/statuses.ts'
import { type End, endOnSignals } from './signals.ts'
import { startFailure } from './start-failure.ts'

/** Where to listen. */
export interface ServeOptions {
  /** The port to listen on. Default 3000; 0 takes a free one. */
  readonly port?: number
  /**
   * A name or an address; an IPv6 address may be in brackets. Default: every interface, so other machines can reach the
   * server although its `url` says `localhost`. `127.0.0.1` limits it to this machine.
   */
  readonly hostname?: string
  /**
   * Milliseconds without progress after which the connection of a client that does not read its response is closed.
   * Default 30,000; 0 for no limit. On Node, progress is what the operating system takes, so slow readers and slow
   * handlers are not cut off. On Bun, it is how long a connection may be silent once its response is there, in whole
   * seconds up to 255. Deno has no such limit.
   */
  readonly sendTimeout?: number
  /**
   * The time limit for a whole request with its body, in milliseconds. Default 300,000; 0 for no limit. Bun counts
   * whole seconds up to 255, includes the handler's time if there is no body, and closes the connection without a
   * response. Deno has no such limit. On every runtime, the app has a shorter limit for the bodies that it reads:
   * `createApp({ bodyTimeoutMs })`.
   */
  readonly requestTimeout?: number
  /**
   * How many proxies in front of the server append to `X-Forwarded-For`: `context.clientAddress` is the n-th address
   * from its right. Default 0: the header is ignored, because any client can send one.
   */
  readonly trustProxy?: number
  /**
   * How long `close` waits for in-flight requests, in milliseconds; then it cuts them off. Default 25,000, because
   * Kubernetes kills after 30 s. Use less if your platform waits less: `docker stop` waits for 10 s.
   */
  readonly graceMs?: number
  /**
   * Whether SIGTERM and SIGINT close the server and end the process: with exit code 0 if everything was finished, 1 if
   * the time ran out. A second signal ends it at once. Default true.
   */
  readonly signals?: boolean
  /**
   * Whether this server also runs the jobs, consumers and webhooks of the app. Default true. Use false if a process of
   * its own does, with `runBackground`.
   */
  readonly background?: boolean
  /**
   * How many processes serve. Default 1: this one. With more, this process starts that many, which run the same program
   * and serve on the same port; it replaces those that die, and serves nothing itself. They all run what comes before
   * `serve`; what follows `await serve(…)` happens in the first process alone.
   */
  readonly processes?: number
}

/** A server that accepts requests. */
export interface Served {
  /** Its address, without a trailing slash. */
  readonly url: string
  /**
   * Stops accepting connections, waits for in-flight requests, then closes the app with its stores. For half a second,
   * clients may send one more request on their open connections; on Deno and Bun the server accepts connections until
   * then. Calling it twice is harmless.
   */
  close(): Promise<void>
}

/** How long `close` waits for in-flight requests, in milliseconds. */
export const GRACE_MS = 25_000

/** How long the stores may take to close after that, in milliseconds. */
export const STORES_MS = 3000

/** How long an idle connection stays open when the server closes, in milliseconds. */
const LEAVE_MS = 500

/** How long a client may leave its response unread, in milliseconds. */
export const SEND_MS = 30_000

/** How long a request may take to arrive, in milliseconds. */
export const REQUEST_MS = 300_000

const MILLISECONDS = wholeNumber('be a whole number of milliseconds, or 0 for no limit')

/** The options of all runtimes: an option that one of them ignores is still accepted. */
const RULES: Readonly<Record<string, Rule>> = {
  port: wholeNumber('be a whole number from 0 to 65535', 0, 65_535),
  hostname: {
    must: 'be a name or an address',
    test: (value) => typeof value === 'string' && value.trim() !== '',
  },
  ...each(MILLISECONDS, 'headersTimeout', 'requestTimeout', 'sendTimeout', 'keepAliveTimeout'),
  trustProxy: wholeNumber('be a whole number of proxies'),
  graceMs: wholeNumber('be a whole number of milliseconds'),
  ...each(flag, 'signals', 'background'),
  processes: wholeNumber('be a whole number of processes, at least 1', 1),
}

export interface Place {
  readonly port: number
  readonly hostname: string | undefined
}

/** Where `options` say to listen. Throws a `TypeError` naming an option that makes no sense: runtimes react differently. */
export function listening(options: ServeOptions): Place {
  checkOptions(options, RULES, 'serve')
  const { port = 3000, hostname } = options
  return { port, hostname: hostname?.replace(/^\[(.*)\]$/, '$1') }
}

/** Warns of the options in `ignored` that are given, because this runtime has nothing that they could set. */
export function warnOfIgnored(
  options: ServeOptions,
  runtime: string,
  ignored: readonly string[],
): void {
  const given = new Map(Object.entries(options))
  const names = ignored.filter((name) => given.get(name) !== undefined)
  if (names.length === 0) return
  jsonLogger.warn(
    `serve: ${names.map((name) => `'${name}'`).join(', ')} ${names.length === 1 ? 'does' : 'do'} nothing on ${runtime}. Put a proxy that limits slow clients in front of the server`,
  )
}

/** The address of a server, as a client on the same machine would write it. */
export function urlOf(hostname: string | undefined, port: number): string {
  const everywhere = hostname === undefined || hostname === '0.0.0.0' || hostname === '::'
  const host = everywhere ? 'localhost' : hostname
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Whether `response` does not say how long the body of a GET would be: Bun and Deno would say that it is empty. */
export function isUnmeasured({ method }: Request, { status, headers }: Response): boolean {
  return method === 'HEAD' && !WITHOUT_BODY.includes(status) && !headers.has('content-length')
}

/** Work that continues after a response; closing waits for it. */
export interface Background {
  waitUntil(promise: Promise<unknown>): void
  settled(): Promise<void>
}

export function background(): Background {
  const running = new Set<Promise<unknown>>()
  return {
    waitUntil(promise) {
      running.add(promise)
      const done = () => running.delete(promise)
      promise.then(done, done)
    },
    async settled() {
      while (running.size > 0) await Promise.allSettled(running)
    },
  }
}

/**
 * Makes a server of what listens at `url`, as soon as the app is ready; rejects if the app fails to start. `stop` keeps
 * idle connections open for `leaveMs`, and settles when nothing listens and no request is in flight; `cut` ends those
 * that still are. Then the background work and the app end, each within its time limit.
 */
export async function served(
  { url, app, work, stop, cut }: Stoppable,
  { graceMs = GRACE_MS, signals = true, background = true }: ServeOptions,
): Promise<Served> {
  const begin = background ? () => runBackground(app) : () => app.ready()
  const running = await begin().catch(async (error: unknown) => {
    await stop(0)
    throw startFailure(error)
  })
  const finish = async (): Promise<boolean> => {
    const until = performance.now() + graceMs
    // An app that was put together by hand may have none.
    app.endStreams?.()
    // What runs beside requests gets half of the time before its signal aborts, and the rest to end.
    if (running) work.waitUntil(running.close(graceMs / 2))
    const isStopped = await within(graceMs, stop(Math.min(LEAVE_MS, graceMs / 2)))
    if (!isStopped) cut()
    const isSettled = await within(until - performance.now(), work.settled())
    const isClosed = await within(STORES_MS, app.close())
    return isStopped && isSettled && isClosed
  }
  return closable(url, finish, signals)
}

/** The server at `url`, which `finish` ends; `signals` is whether SIGTERM and SIGINT do, and end the process. */
export function closable(url: string, finish: End, signals: boolean): Served {
  let closing: Promise<boolean> | undefined
  const end = () => {
    closing ??= finish().finally(release)
    return closing
  }
  const release = signals ? endOnSignals(end) : () => {}
  return { url, close: async () => void (await end()) }
}

/** Something that listens, and how it ends. */
interface Stoppable {
  readonly url: string
  readonly app: App
  readonly work: Background
  readonly stop: (leaveMs: number) => Promise<void>
  readonly cut: () => void
}

/** Whether `work` settles in time; rejects if it does. */
export async function within(ms: number, work: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms))
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
