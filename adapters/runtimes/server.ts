/**
 * What every `serve` takes and gives.
 *
 * @module
 */

import type { App } from '../../src/app.ts'

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
   * Bun it is how long a connection may be silent at all, in whole seconds up to 255. Deno has no such limit.
   */
  readonly sendTimeout?: number
  /**
   * How many proxies in front of the server append to `X-Forwarded-For`: `context.clientAddress` is the n-th address from
   * its right. Default 0: the header is not read, as any client can send one.
   */
  readonly trustProxy?: number
}

/** A server that accepts requests. */
export interface Served {
  /** Its address, without a slash at the end. */
  readonly url: string
  /**
   * Stops accepting, finishes what is in flight, then closes the app with its stores. Calling it twice is
   * harmless.
   */
  close(): Promise<void>
}

const DEFAULT_PORT = 3000

/** How long `close` waits for what is in flight, in milliseconds. */
export const GRACE_MS = 30_000

/**
 * How long a connection that ends is left to its client, in milliseconds: to take an answer that came before the end of
 * its request, or to finish asking when the server closes.
 */
export const LINGER_MS = 1000

/** How long a client may leave its response unread, in milliseconds. */
export const SEND_MS = 30_000

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
      void promise.finally(() => running.delete(promise))
    },
    async settled() {
      while (running.size > 0) await Promise.allSettled(running)
    },
  }
}

/**
 * Makes a server of what listens at `url`, as soon as the app is ready; rejects with the error of an app that never is.
 * `stop` ends the listening: once only, with the background work and the app after it.
 */
export async function served(
  url: string,
  app: App,
  work: Background,
  stop: () => Promise<void>,
): Promise<Served> {
  await app.ready().catch(async (error: unknown) => {
    await stop()
    throw error
  })
  let closing: Promise<void> | undefined
  const close = async () => {
    await stop()
    await work.settled()
    await app.close()
  }
  return {
    url,
    close: () => {
      closing ??= close()
      return closing
    },
  }
}
