/**
 * Requests on Node: srvx's, whose bodies can also be read without a web stream. Making one takes longer than to parse a
 * short body. And what becomes of their connections.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { NodeRequest } from 'srvx/node'
import type {
  BodyPart,
  BodyReader,
  BodySource,
  Repeatable,
} from '../../src/ports/services/body-source.ts'
import { LINGER_MS } from './server.ts'

/** A request that node:http has received. */
export class ServedRequest extends NodeRequest implements BodySource, Repeatable {
  readonly #incoming: IncomingMessage
  #isTaken = false
  /** Whether a web stream reads the body. */
  #isStreamed = false

  constructor(req: IncomingMessage, res: ServerResponse) {
    super({ req, res })
    this.#incoming = req
  }

  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    this.#isStreamed = true
    return super.body
  }

  repeater(): () => Request {
    const incoming = this.#incoming
    const res = this.runtime?.node?.res as ServerResponse
    return () => new ServedRequest(incoming, res)
  }

  override get bodyUsed(): boolean {
    return this.#isTaken || super.bodyUsed
  }

  takeBody(): BodyReader | undefined {
    // As in the standard, these have no body, whatever was sent.
    if (this.#isStreamed || this.method === 'GET' || this.method === 'HEAD') return undefined
    if (this.#isTaken) throw new TypeError('the body of this request has been read already')
    this.#isTaken = true
    return new Incoming(this.#incoming)
  }
}

interface Waiting {
  readonly resolve: (part: BodyPart) => void
  readonly reject: (reason: unknown) => void
}

/** Reads a body as it arrives. Until it is read, the client has to wait. */
class Incoming implements BodyReader {
  readonly #message: IncomingMessage
  readonly #parts: BodyPart[] = []
  /** How many bytes have not arrived yet; NaN if the client has not told. */
  #left: number
  #waiting: Waiting | undefined
  #hasEnded = false
  #failure: unknown

  constructor(message: IncomingMessage) {
    this.#message = message
    this.#left = Number(message.headers['content-length'])
    message.on('data', this.#arrive)
    message.once('end', this.#end)
    message.once('error', this.#fail)
    message.once('close', this.#fail)
    if (message.destroyed) this.#fail(message.errored)
  }

  read(): Promise<BodyPart> {
    const part = this.#parts.shift()
    if (part) return Promise.resolve(part)
    if (this.#hasEnded) return Promise.resolve({ done: true, value: undefined })
    if (this.#failure) return Promise.reject(this.#failure)
    if (this.#message.isPaused()) this.#message.resume()
    const { promise, ...waiting } = Promise.withResolvers<BodyPart>()
    this.#waiting = waiting
    return promise
  }

  readonly #arrive = (value: Uint8Array): void => {
    this.#left -= value.length
    const part = { done: false, value, isLast: this.#left === 0 } as const
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) waiting.resolve(part)
    else {
      this.#parts.push(part)
      this.#message.pause()
    }
  }

  readonly #end = (): void => {
    this.#hasEnded = true
    this.#waiting?.resolve({ done: true, value: undefined })
  }

  readonly #fail = (error?: unknown): void => {
    if (this.#hasEnded || this.#failure) return
    this.#failure = error ?? new Error('the client has gone')
    this.#waiting?.reject(this.#failure)
  }
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/**
 * `listener`, called for one request of a connection at a time. Node starts all pipelined requests of a packet at once,
 * and their responses wait in memory for their turn: 60 requests for a list of 10 MB would take 600 MB.
 *
 * While requests wait, nothing more is read from the connection: at most the 64 KiB of one read are held.
 */
export function inTurn(listener: Listener): Listener {
  const waiting = new WeakMap<Socket, number>()
  const isHeld = (socket: Socket) => (waiting.get(socket) ?? 0) > 0
  const hold = (socket: Socket) => {
    const before = waiting.get(socket)
    waiting.set(socket, (before ?? 0) + 1)
    socket.pause()
    // Reading the body of the current request resumes the connection.
    if (before === undefined) socket.on('resume', () => isHeld(socket) && socket.pause())
  }
  const release = (socket: Socket) => {
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1)
    if (!isHeld(socket)) socket.resume()
  }
  return (request, response) => {
    // Node assigns the connection to a response when the previous one has been sent.
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

/** Sends `100 Continue` when the body is first read: a body that is refused before is never sent. */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request._read = function read(size) {
    expectNothing(request)
    if (!response.headersSent) response.writeContinue()
    request._read(size)
  }
}

/** Undoes `continueWhenRead`: the client is no longer asked for the body. */
export function expectNothing(request: IncomingMessage): void {
  if (Object.hasOwn(request, '_read')) Reflect.deleteProperty(request, '_read')
}

/** The open connections. */
export function socketsOf(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

/** Whether a body comes with the request, even an empty one. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/**
 * Closes a connection whose client still sends an unread body after the response. Node would read all of it, however
 * long.
 */
export async function leaveUnread(
  request: IncomingMessage,
  response: ServerResponse,
  socket: Socket,
): Promise<void> {
  // A short body has already arrived, except for its end.
  await nextTurn()
  if (request.complete) return
  response.shouldKeepAlive = false
  // A client that waits to be asked for its body is not asked.
  expectNothing(request)
  // Node does not read a body that is being read; this reads no more than one buffer.
  request.read(0)
  // The reset for further data could overtake the response, so give the client time to receive it.
  socket.destroySoon = () => {
    socket.end()
    setTimeout(() => socket.destroy(), LINGER_MS)
  }
}
