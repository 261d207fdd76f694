/**
 * What the Node adapter does with connections: their requests take turns, and clients that do not read are let go.
 *
 * @module
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/**
 * `listener` for one request of a connection at a time. Node starts every request that one packet holds at once, and
 * their responses wait in memory for their turn: 60 requests for a list of 10 MB would take 600 MB.
 *
 * While requests wait, nothing more is read from the connection: at most what one read has brought, 64 KiB.
 */
export function inTurn(listener: Listener): Listener {
  const waiting = new WeakMap<Socket, number>()
  const isHeld = (socket: Socket) => (waiting.get(socket) ?? 0) > 0
  const hold = (socket: Socket) => {
    const before = waiting.get(socket)
    waiting.set(socket, (before ?? 0) + 1)
    socket.pause()
    // Whoever reads the body of the request that is under way starts the connection again.
    if (before === undefined) socket.on('resume', () => isHeld(socket) && socket.pause())
  }
  const release = (socket: Socket) => {
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1)
    if (!isHeld(socket)) socket.resume()
  }
  return (request, response) => {
    // Node hands the connection to a response when the one before has been sent.
    if (response.socket) {
      listener(request, response)
      return
    }
    const { socket } = request
    hold(socket)
    response.once('socket', () => {
      release(socket)
      listener(request, response)
    })
  }
}

/** Sends `100 Continue` when somebody reads the body: what is refused before that is never sent. */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request._read = function read(size) {
    expectNothing(request)
    if (!response.headersSent) response.writeContinue()
    request._read(size)
  }
}

/** Takes back `continueWhenRead`: the client is not asked for the body any more. */
export function expectNothing(request: IncomingMessage): void {
  if (Object.hasOwn(request, '_read')) Reflect.deleteProperty(request, '_read')
}

/** The connections that are open. */
export function socketsOf(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

/** How far a connection has come in sending. */
interface Progress {
  readonly queued: number
  readonly written: number
  readonly since: number
}

/** The most that passes between two looks, in milliseconds. */
const LOOK_MS = 1000

/**
 * Ends the connections on which a response waits and nothing has been sent for `sendTimeout` milliseconds, 0 for no
 * limit. Sending is what the kernel takes off the queue: a client that reads slowly is not cut, and one that only
 * writes is. Returns what stops it.
 */
export function letGoOfStalled(sockets: ReadonlySet<Socket>, sendTimeout: number): () => void {
  if (sendTimeout === 0) return () => {}
  const progress = new WeakMap<Socket, Progress>()
  const look = () => {
    const now = performance.now()
    for (const socket of sockets) {
      const queued = queuedOn(socket)
      if (queued === 0) continue
      const last = progress.get(socket)
      if (last?.queued !== queued || last.written !== socket.bytesWritten) {
        progress.set(socket, { queued, written: socket.bytesWritten, since: now })
      } else if (now - last.since >= sendTimeout) {
        // A reset: an orderly end would wait behind what the client does not read.
        socket.resetAndDestroy()
      }
    }
  }
  const timer = setInterval(look, Math.min(LOOK_MS, Math.ceil(sendTimeout / 4)))
  return () => clearInterval(timer)
}

/** The bytes that the kernel has not taken yet. `writableLength` counts a write as a whole until its end. */
function queuedOn(socket: Socket): number {
  if (socket.writableLength === 0) return 0
  const { _handle: handle } = socket as { _handle?: { readonly writeQueueSize?: number } | null }
  return handle?.writeQueueSize ?? socket.writableLength
}
