/**
 * `serve` for Deno.
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
  type Served,
  type ServeOptions,
  served,
  urlOf,
  warnOfIgnored,
} from './server.ts'

export type { Served, ServeOptions } from './server.ts'

/** The part of Deno that is used; Deno's own types would force them on every user of the package. */
interface Deno {
  serve(
    options: {
      readonly port: number
      readonly hostname?: string
      readonly reusePort: boolean
      onListen(): void
    },
    handler: (
      request: Request,
      info: { readonly remoteAddr: { readonly hostname?: string } },
    ) => Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> }
}

/**
 * Serves `app` and resolves once it accepts requests. Rejects with the error of listening (its `code` is `EADDRINUSE`
 * for a port in use), with the error of `app.ready()`, or with a `TypeError` naming an option that makes no sense.
 *
 * `Deno.serve(app.handle)` serves as well; this adds a close that waits for in-flight requests.
 */
export function serve(app: App, options: ServeOptions = {}): Promise<Served> {
  return inProcesses(app, options, serveHere, reuseForks, () =>
    warnOfIgnored(options, 'Deno', [
      'headersTimeout',
      'requestTimeout',
      'sendTimeout',
      'keepAliveTimeout',
    ]),
  )
}

async function serveHere(app: App, options: ServeOptions, place: Place): Promise<Served> {
  const { port, hostname } = place
  const { serve: listen } = (globalThis as unknown as { Deno: Deno }).Deno
  const work = background()
  const shared = { work, trustProxy: options.trustProxy }
  const clients = leaving()
  const bodies = background()
  const arrivals = new Arrivals()
  let isLeft = false
  const server = listen(
    { port, ...(hostname !== undefined && { hostname }), reusePort: isWorker, onListen: () => {} },
    async (request, { remoteAddr }) => {
      const turn = arrivals.arrive()
      const isRefused = turn instanceof Promise ? await turn : turn
      if (isLeft) return clients.sent(unavailable())
      const peer = () => remoteAddr.hostname
      const platform = new ServerPlatform(shared, request, peer, isRefused)
      const answered = app.handle(request, undefined, platform)
      // Deno itself waits for requests without a body.
      if (request.method !== 'GET') bodies.waitUntil(answered)
      const response = await answered
      return clients.sent(isUnmeasured(request, response) ? unmeasured(response) : response)
    },
  )
  const stop = async (leaveMs: number) => {
    await clients.begin(leaveMs)
    // Deno's shutdown stops reading every body (2.9, denoland/deno#36809).
    isLeft = true
    await bodies.settled()
    await server.shutdown()
  }
  // Deno can only abort everything, and then throws past every handler with a half-read body (2.9).
  const cut = () => void server.shutdown()
  return served({ url: urlOf(hostname, server.addr.port), app, work, stop, cut }, options)
}

function unmeasured(response: Response): Response {
  return new Response(new ReadableStream({ start: (body) => body.close() }), response)
}

/** The response to a request that arrives while other requests' bodies are awaited. */
function unavailable(): Response {
  const requestId = crypto.randomUUID()
  const error = 'The service is unavailable. Try again shortly.'
  const headers = { 'Retry-After': '5', 'X-Request-Id': requestId }
  return Response.json({ success: false, error, requestId }, { status: 503, headers })
}
