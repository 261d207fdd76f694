/** What becomes of connections on Node: bodies that nobody has asked for or read, and which connections are open. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Sends `100 Continue` when the body is first read: a body that is refused before is never sent. */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request._read = function read(size) {
    expectNothing(request)
    if (!response.headersSent) response.writeContinue()
    request._read(size)
  }
}

/** Undoes `continueWhenRead`: the client is no longer asked for the body. */
function expectNothing(request: IncomingMessage): void {
  if (Object.hasOwn(request, '_read')) Reflect.deleteProperty(request, '_read')
}

export function socketsOf(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    // Node calls it after the last response.
    socket.destroySoon = () => hangUp(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

/** Connections that end as soon as their clients have read the response: what is sent on them is no request any more. */
export const left: WeakSet<Socket> = new WeakSet()

/** Closes a connection whose client still sends an unread body after the response: Node would read all of it. */
export async function leaveUnread(
  request: IncomingMessage,
  response: ServerResponse,
  socket: Socket,
): Promise<void> {
  // A short body has already arrived, except for its end.
  await nextTurn()
  if (request.complete) return
  response.shouldKeepAlive = false
  left.add(socket)
  // A client that waits to be asked for its body is not asked.
  expectNothing(request)
  socket.destroySoon = () => hangUp(socket)
}

/** From here on, what comes on a connection is no request: it is dropped. */
export function dropRest(socket: Socket): void {
  left.add(socket)
  // Node's parser lets go of a connection that somebody else reads.
  socket.removeAllListeners('data').on('data', () => {})
  // Where the parser has stopped reading, the stream still waits for what it was to bring.
  socket.push('')
  socket.resume()
}

/** How long a client may go on sending what is dropped, in milliseconds. */
const DROP_MS = 10_000

/**
 * Ends a connection, and closes it when its client has ended it too, or after a while: closed at once, what the client
 * still sends would be answered with a reset, and that drops what the client has not read of its responses.
 */
export function hangUp(socket: Socket): void {
  dropRest(socket)
  socket.end()
  socket.once('end', () => socket.destroy())
  const timer = setTimeout(() => socket.destroy(), DROP_MS).unref()
  // Of clients that come for one request each, it would hold thousands.
  socket.once('close', () => clearTimeout(timer))
}
