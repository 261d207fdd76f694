/**
 * `serve` for Bun.
 *
 * @module
 */

import type { App } from '../../src/app/app.ts'
import { Arrivals } from './arrivals.ts'
import { ServerPlatform } from './client-address.ts'
import { leaving } from './leaving.ts'
import { isWorker } from './processes/channel.ts'
import { inProcesses, reuseForks } from './processes/serve.ts'
import {
  background,
  isUnmeasured,
  type Place,
  REQUEST_MS,
  SEND_MS,
  type Served,
  type ServeOptions,
  served,
  urlOf,
  warnOfIgnored,
  within,
} from './server.ts'

export type { Served, ServeOptions } from './server.ts'

/** How long a closing connection stays open, in milliseconds: its client may have to read a response or end a request. */
const LINGER_MS = 1000

/** The part of Bun that is used; Bun's own types would force them on every user of the package. */
interface Bun {
  serve(options: {
    readonly port: number
    readonly hostname?: string
    readonly maxRequestBodySize: number
    readonly idleTimeout: number
    readonly development: boolean
    readonly reusePort: boolean
    readonly fetch: (request: Request, server: BunServer) => Promise<Response>
  }): BunServer
}

interface BunServer {
  readonly port: number
  readonly pendingRequests: number
  requestIP(request: Request): { readonly address: string } | null
  timeout(request: Request, seconds: number): void
  stop(closeActive?: boolean): Promise<void>
}

/** The longest time that Bun accepts, in seconds. */
const MAX_SECONDS = 255

function seconds(ms: number): number {
  return Math.min(MAX_SECONDS, Math.ceil(ms / 1000))
}

/**
 * Serves `app` and resolves once it accepts requests. Rejects with the error of listening (its `code` is `EADDRINUSE`
 * for a port in use), with the error of `app.ready()`, or with a `TypeError` naming an option that makes no sense.
 *
 * `Bun.serve({ fetch: app.handle })` serves as well; this adds a close that waits for in-flight requests.
 */
export function serve(app: App, options: ServeOptions = {}): Promise<Served> {
  return inProcesses(app, options, serveHere, reuseForks, () =>
    warnOfIgnored(options, 'Bun', ['headersTimeout', 'keepAliveTimeout']),
  )
}

async function serveHere(app: App, options: ServeOptions, place: Place): Promise<Served> {
  const { port, hostname } = place
  const { Bun } = globalThis as unknown as { Bun: Bun }
  const work = background()
  const shared = { work, trustProxy: options.trustProxy }
  const clients = leaving()
  const arrivals = new Arrivals()
  const requestSeconds = seconds(options.requestTimeout ?? REQUEST_MS)
  const sendSeconds = seconds(options.sendTimeout ?? SEND_MS)
  const server = Bun.serve({
    port,
    ...(hostname !== undefined && { hostname }),
    // The app counts bytes itself, and responds with its own error message.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // Bun's own 10 s would cut a response that takes longer.
    idleTimeout: sendSeconds,
    // No error page with sources, whatever NODE_ENV says.
    development: false,
    // Without `development`, Bun 1.4 shares a port that is in use.
    reusePort: isWorker,
    async fetch(request, own) {
      // Bun counts from here even while a body arrives (1.4): its idle time would cut uploads and slow handlers.
      own.timeout(request, requestSeconds)
      // Read the address now: a closed connection has none.
      const peer = own.requestIP(request)?.address
      const turn = arrivals.arrive()
      const isRefused = turn instanceof Promise ? await turn : turn
      const platform = new ServerPlatform(shared, request, () => peer, isRefused)
      const response = await app.handle(request, undefined, platform)
      own.timeout(request, sendSeconds)
      if (isUnmeasured(request, response)) response.headers.set('Transfer-Encoding', 'chunked')
      return clients.sent(response)
    },
  })
  const stop = async (leaveMs: number) => {
    await clients.begin(leaveMs)
    const stopped = server.stop()
    // Bun waits for connections without a request, and for incomplete requests; this does not.
    while (!(await within(LINGER_MS, stopped))) {
      if (server.pendingRequests === 0) return void server.stop(true)
    }
  }
  const cut = () => void server.stop(true)
  return served({ url: urlOf(hostname, server.port), app, work, stop, cut }, options)
}
