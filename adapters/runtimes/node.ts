/**
 * `serve` for Node 22 and newer. Request and Response are srvx's, made lazily over node:http: bench/bridge has
 * the figures.
 *
 * @module
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import type { App } from '../../src/app.ts'
import {
  background,
  DEFAULT_PORT,
  GRACE_MS,
  type Served,
  type ServeOptions,
  served,
  urlOf,
} from './server.ts'

/** Where to listen, and how long a client may take. */
export interface NodeServeOptions extends ServeOptions {
  /** Milliseconds for a request's headers. Default 15,000; 0 for no limit. */
  readonly headersTimeout?: number
  /** Milliseconds for a whole request, its body too. Default 28,000; 0 for no limit. */
  readonly requestTimeout?: number
}

/** How much of a body that nobody wanted is read all the same, so that the connection can be kept. */
const DRAIN_BYTES = 64 * 1024
/** How long a client may take to read an answer that came before the end of its request. */
const LINGER_MS = 1000
const CHECK_MS = 1000

/**
 * Serves `app` and resolves once it accepts requests. Rejects with the error of `listen`, `EADDRINUSE` for
 * one, or with that of `app.ready()`.
 *
 * ```ts
 * const { url, close } = await serve(app, { port: 3000 })
 * process.once('SIGTERM', close)
 * ```
 */
export async function serve(app: App, options: NodeServeOptions = {}): Promise<Served> {
  const {
    port = DEFAULT_PORT,
    hostname,
    headersTimeout = 15_000,
    requestTimeout = 28_000,
  } = options
  const work = background()
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (hasBody(request)) cutUnread(request, response)
    const made = await app.handle(new NodeRequest({ req: request, res: response }), undefined, work)
    // The client hears that this connection ends, and sends nothing more on it: the server is closing, or
    // the answer came before the end of a body that nobody reads.
    const unread = hasBody(request) && !request.complete
    if (!server.listening || unread) response.shouldKeepAlive = false
    await sendNodeResponse(response, made)
  }
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => response.destroy())
  }
  const timeouts = { headersTimeout, requestTimeout, connectionsCheckingInterval: CHECK_MS }
  const server = createServer(timeouts, listener)
  server.on('checkExpectation', listener)
  server.on('clientError', refuse)
  server.listen(port, hostname)
  await once(server, 'listening')
  await app.ready().catch(async (error: unknown) => {
    await stop(server)
    throw error
  })
  const address = server.address() as AddressInfo
  return served(urlOf(hostname, address.port), app, work, () => stop(server))
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  // An answer that was under way before leaves its connection open, and idle.
  const sweep = setInterval(() => server.closeIdleConnections(), 100)
  const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** Node reads what is left of a body after the answer, however long; this ends the connection instead. */
function cutUnread(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  // Before Node's own listener, which leaves a request alone that is being read.
  response.prependOnceListener('finish', () => {
    if (request.complete) return
    // Closing at once would reset the connection, and the client might never see its answer.
    socket.destroySoon = () => socket.end()
    let left = DRAIN_BYTES
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) request.pause()
    })
    const late = setTimeout(() => socket.destroy(), LINGER_MS)
    request.once('end', () => clearTimeout(late))
  })
}

const STATUSES: Readonly<Record<string, readonly [number, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
}

/** What is no HTTP, or comes too slowly, never reaches the app; it gets the envelope all the same. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const [status, text] = STATUSES[error.code ?? ''] ?? [400, 'Bad Request']
  const body = JSON.stringify({ success: false, error: `${text}.` })
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}
