/**
 * `serve` for Node 22 and newer. Request and Response are made lazily on node:http: bench/bridge has the figures.
 *
 * @module
 */

import { once } from 'node:events'
import type * as Http from 'node:http'
import module from 'node:module'
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { App } from '../../src/app/app.ts'
import { Arrivals } from './arrivals.ts'
import { ServerPlatform } from './client-address.ts'
import { ServedRequest } from './messages/node-request.ts'
import { continueWhenRead, leaveUnread, socketsOf } from './node-connections.ts'
import { hasBody, inTurn, outbox } from './node-messages.ts'
import { fail, malformed, refuse, refuseTunnel, respondOn } from './node-refusals.ts'
import { letGoOfStalled } from './node-stalled.ts'
import { inProcesses } from './processes/serve.ts'
import {
  background,
  type Place,
  REQUEST_MS,
  SEND_MS,
  type Served,
  type ServeOptions,
  served,
  urlOf,
} from './server.ts'

export type { Served, ServeOptions } from './server.ts'

/** Where to listen, and how long a client may take. */
export interface NodeServeOptions extends ServeOptions {
  /** The time limit for a request's headers, in milliseconds. Default 15,000; 0 for no limit. */
  readonly headersTimeout?: number
  /**
   * How long a connection stays open between requests, in milliseconds and up to a second longer. Default 5000; 0 for no
   * limit. Use more than the idle timeout of a load balancer in front, else some of its requests meet a closed connection.
   */
  readonly keepAliveTimeout?: number
}

const CHECK_MS = 1000
const KEEP_ALIVE_MS = 5000

/** Not imported: that would read all that it exports, and with it load what `fetch` is made of, see `messages/standard.ts`. */
const http: typeof Http = module.createRequire(process.execPath)('node:http')

/**
 * Serves `app` and resolves once it accepts requests. Rejects with the error of `listen` (e.g. `EADDRINUSE`), with the
 * error of `app.ready()`, or with a `TypeError` naming an option that makes no sense.
 *
 * ```ts
 * const { url } = await serve(app, { port: 3000 })
 * ```
 */
export function serve(app: App, options: NodeServeOptions = {}): Promise<Served> {
  for (const log of [process.stdout, process.stderr]) log.off('error', ignore).on('error', ignore)
  const fork = async () => (await import('./processes/fork-cluster.ts')).clusterFork
  return inProcesses(app, options, serveHere, fork)
}

/** A log that can't be written would end the process: its disk is full, or what reads it has gone. */
const ignore = (): void => {}

async function serveHere(app: App, options: NodeServeOptions, place: Place): Promise<Served> {
  const { port, hostname } = place
  const { headersTimeout = 15_000, requestTimeout = REQUEST_MS, sendTimeout = SEND_MS } = options
  const work = background()
  const shared = { work, trustProxy: options.trustProxy }
  const arrivals = new Arrivals()
  const send = outbox()
  const answer = async (
    request: Http.IncomingMessage,
    response: Http.ServerResponse,
  ): Promise<unknown> => {
    const { socket } = request
    // Read the address now: a closed connection has none.
    const { remoteAddress } = socket
    const refused = isUsual(request) ? undefined : malformed(request)
    const turn = arrivals.arrive()
    const isRefused = turn instanceof Promise ? await turn : turn
    let made = refused
    if (made) response.shouldKeepAlive = false
    else {
      const served = new ServedRequest(request, response)
      const known = new ServerPlatform(shared, served, () => remoteAddress, isRefused)
      made = await app.handle(served, undefined, known)
    }
    if (!request.complete && hasBody(request)) await leaveUnread(request, response, socket)
    // Closing: tell the client that this connection ends, so that it sends nothing more on it.
    if (!server.listening) response.shouldKeepAlive = false
    // Not awaited: that would hold on to the request for as long as a stream is open.
    return send(response, made, app.files?.logger)
  }
  const listener = inTurn((request, response) => {
    answer(request, response).catch((error: unknown) => fail(response, error))
  })
  const timeouts = {
    keepAliveTimeout: options.keepAliveTimeout ?? KEEP_ALIVE_MS,
    // Node refuses a limit above that of the whole request, which ends the headers anyway.
    headersTimeout: Math.min(headersTimeout, requestTimeout || headersTimeout),
    requestTimeout,
    connectionsCheckingInterval: CHECK_MS,
  }
  const server = http.createServer({ ...timeouts, requireHostHeader: false }, listener)
  server.on('checkExpectation', listener)
  server.on('checkContinue', (request, response) => {
    continueWhenRead(request, response)
    listener(request, response)
  })
  server.on('clientError', refuse)
  server.on('connect', refuseTunnel)
  server.on('connection', () => arrivals.connected())
  const sockets = socketsOf(server)
  server.listen(port, hostname, BACKLOG)
  await once(server, 'listening')
  // Its timer would keep the process alive if the server could not listen.
  server.once('close', letGoOfStalled(sockets, sendTimeout))
  const url = urlOf(hostname, (server.address() as AddressInfo).port)
  const cut = () => [...sockets].map((socket) => socket.destroy())
  const stopping = (leaveMs: number) => stop(server, sockets, leaveMs)
  const running = await served({ url, app, work, stop: stopping, cut }, options)
  // Node itself writes its compile cache when the process ends by itself, and so never on a platform that kills it.
  if (module.getCompileCacheDir?.() !== undefined) module.flushCompileCache()
  return running
}

/** Whether nothing about a request is for `malformed` to judge. */
function isUsual({ headers, httpVersion }: Http.IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host !== undefined
}

/**
 * Stops accepting, and resolves when the last connection has ended. Idle connections stay open for a while, so that a
 * client can send one more request and be told that the connection ends: data that it has sent may not have been read
 * yet, and would be lost.
 */
async function stop(
  server: Http.Server,
  sockets: ReadonlySet<Socket>,
  leaveMs: number,
): Promise<void> {
  const closed = once(server, 'close')
  await acceptWaiting(server)
  // Not the close of node:http, which closes idle connections at once.
  TcpServer.prototype.close.call(server)
  // Node treats a connection without a request, or with an incomplete one, as busy.
  const sweep = setInterval(async () => {
    // A late timer runs before data that has arrived meanwhile is read.
    await nextTurn()
    for (const socket of sockets) if (!respondOn(socket)) socket.destroy()
  }, leaveMs)
  await closed
  clearInterval(sweep)
  // Stops its timer, which looks for slow requests.
  server.close()
}

/** How many connections the kernel holds until they are accepted, if it has room for so many. */
const BACKLOG = 4096

/** Accepts the connections that the kernel holds, one per turn of the event loop: it would reset them. */
async function acceptWaiting(server: Http.Server): Promise<void> {
  let accepted = 0
  const count = () => {
    accepted += 1
  }
  server.on('connection', count)
  let before: number
  do {
    before = accepted
    await nextTurn()
    await nextTurn()
  } while (accepted > before && accepted < BACKLOG)
  server.off('connection', count)
}
