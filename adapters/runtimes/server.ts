/**
 * What every `serve` takes and gives.
 *
 * @module
 */

import type { App } from '../../src/app/app.ts'
import { endOnSignals } from './signals.ts'

/** Where to listen. */
export interface ServeOptions {
  /** Default 3000; 0 takes a free one. */
  readonly port?: number
  /**
   * A name or an address; brackets around one of IPv6 are taken off. Default: every interface, so that other machines
   * reach the server although its `url` names `localhost`. `127.0.0.1` keeps it to this machine.
   */
  readonly hostname?: string
  /**
   * Milliseconds without progress after which a client that does not read its response is let go. Default 30,000; 0 for
   * no limit. Progress is what the operating system takes, so that slow readers and slow handlers are not cut on Node. On
   * Bun it is how long a connection may be silent once its response is there, in whole seconds up to 255. Deno has no such
   * limit.
   */
  readonly sendTimeout?: number
  /**
   * Milliseconds for a whole request with its body. Default 300,000; 0 for no limit. Bun counts whole seconds up to 255,
   * the handler's time too where there is no body, and ends the connection without a response. Deno has no such limit. On
   * every runtime the app gives up earlier on the bodies that it reads: `createApp({ bodyTimeoutMs })`.
   */
  readonly requestTimeout?: number
  /**
   * How many proxies in front of the server append to `X-Forwarded-For`: `context.clientAddress` is the n-th address from
   * its right. Default 0: the header is not read, as any client can send one.
   */
  readonly trustProxy?: number
  /**
   * How long `close` waits for what is in flight, in milliseconds; what is left is cut then. Default 25,000, as Kubernetes
   * kills after 30 s. Use less where your platform waits less: `docker stop` waits for 10 s.
   */
  readonly graceMs?: number
  /**
   * Whether SIGTERM and SIGINT close the server and end the process: with exit code 0 when everything was finished, 1 when
   * the grace ran out. A second signal ends it at once. Default true.
   */
  readonly signals?: boolean
}

/** A server that accepts requests. */
export interface Served {
  /** Its address, without a slash at the end. */
  readonly url: string
  /**
   * Stops accepting, finishes what is in flight, then closes the app with its stores. Clients have half a second to use
   * their connections once more; on Deno and Bun the server accepts until then. Calling it twice is harmless.
   */
  close(): Promise<void>
}

const DEFAULT_PORT = 3000

const GRACE_MS = 25_000

/** How long the stores may take to close after that, in milliseconds. */
const STORES_MS = 3000

/** How long an idle connection is left to its client when the server closes, in milliseconds. */
const LEAVE_MS = 500

/**
 * How long a connection that ends is left to its client, in milliseconds: to take an answer that came before the end of
 * its request, or to finish asking when the server closes.
 */
export const LINGER_MS = 1000

/** How long a client may leave its response unread, in milliseconds. */
export const SEND_MS = 30_000

/** How long a request may take to arrive, in milliseconds. */
export const REQUEST_MS = 300_000

type Rule = readonly [must: string, test: (value: unknown) => boolean]

const MILLISECONDS: Rule = ['be a whole number of milliseconds, or 0 for no limit', isWhole]

/** The options of every runtime: what one of them has no use for may stand there all the same. */
const RULES: Readonly<Record<string, Rule>> = {
  port: ['be a whole number from 0 to 65535', (value) => isWhole(value) && value <= 65_535],
  hostname: [
    'be a name or an address',
    (value) => typeof value === 'string' && value.trim() !== '',
  ],
  headersTimeout: MILLISECONDS,
  requestTimeout: MILLISECONDS,
  sendTimeout: MILLISECONDS,
  trustProxy: ['be a whole number of proxies', isWhole],
  graceMs: ['be a whole number of milliseconds', isWhole],
  signals: ['be true or false', (value) => typeof value === 'boolean'],
}

/**
 * Where `options` say to listen. Throws a `TypeError` that names an option that is unknown or makes no sense, which each
 * runtime would take or refuse in a way of its own.
 */
export function listening(options: ServeOptions): {
  readonly port: number
  readonly hostname: string | undefined
} {
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(RULES, name) ? RULES[name] : undefined
    if (!rule) throw new TypeError(`serve: unknown option '${name}'`)
    const [must, test] = rule
    if (value !== undefined && !test(value)) throw new TypeError(`serve: '${name}' must ${must}`)
  }
  const { port = DEFAULT_PORT, hostname } = options
  return { port, hostname: hostname?.replace(/^\[(.*)\]$/, '$1') }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** The address of a server, as a client on the same machine would write it. */
export function urlOf(hostname: string | undefined, port: number): string {
  const everywhere = hostname === undefined || hostname === '0.0.0.0' || hostname === '::'
  const host = everywhere ? 'localhost' : hostname
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Work that goes on after an answer; closing waits for it. */
export interface Background {
  waitUntil(promise: Promise<unknown>): void
  settled(): Promise<void>
}

/** No background work yet. */
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
 * Makes a server of what listens at `url`, as soon as the app is ready; rejects with the error of an app that never is.
 * `stop` leaves idle connections to their clients for `leaveMs`, and settles when nothing listens and nothing is in
 * flight; `cut` ends what still is. Then the background work and the app end, each within its time.
 */
export async function served(
  { url, app, work, stop, cut }: Stoppable,
  { graceMs = GRACE_MS, signals = true }: ServeOptions,
): Promise<Served> {
  await app.ready().catch(async (error: unknown) => {
    await stop(0)
    throw error
  })
  const finish = async (): Promise<boolean> => {
    const until = performance.now() + graceMs
    const isStopped = await within(graceMs, stop(Math.min(LEAVE_MS, graceMs / 2)))
    if (!isStopped) cut()
    const isSettled = await within(until - performance.now(), work.settled())
    const isClosed = await within(STORES_MS, app.close())
    return isStopped && isSettled && isClosed
  }
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
