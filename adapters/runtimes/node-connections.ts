/**
 * What the Node adapter does with connections: their requests take turns, and bodies come when they are wanted.
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
