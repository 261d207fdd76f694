/** Requests on Node: srvx's, but read without a web stream, which costs more than a short body; and their responses. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import type {
  BodyPart,
  BodyReader,
  BodySource,
  Repeatable,
} from '../../src/ports/services/body-source.ts'

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

/** Reads a body as it arrives. Until it is read, the client has to wait. */
class Incoming implements BodyReader {
  readonly #message: IncomingMessage
  readonly #parts: BodyPart[] = []
  /** How many bytes have not arrived yet; NaN if the client has not told. */
  #left: number
  #waiting: PromiseWithResolvers<BodyPart> | undefined
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
    this.#waiting = Promise.withResolvers<BodyPart>()
    return this.#waiting.promise
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
    if (response.socket) return listener(request, response)
    const { socket } = request
    hold(socket)
    response.once('socket', () => {
      release(socket)
      listener(request, response)
    })
  }
}

/** Whether a body comes with the request, even an empty one. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** A response as node:http takes it: names and values of headers in turn. */
interface Content {
  readonly status: number
  readonly statusText: string
  readonly headers: string[]
  readonly body?: unknown
}

/** A response of this runtime: one of srvx tells its contents, once. `bench/bridge` measures what that saves. */
type Made = Response & { _toNodeResponse?(): Content }

/**
 * Sends responses. Short ones wait for the end of the turn of the event loop and are sent together: a client woken by
 * the first finds the others too, and waking it costs more than the rest of a short response.
 */
export function outbox(): (response: ServerResponse, made: Made) => unknown {
  // `start` is the body if that is a stream.
  let waiting: { response: ServerResponse; content: Content; start: Start | undefined }[] = []
  const sendAll = () => {
    const all = waiting
    waiting = []
    for (const { response, content, start } of all) {
      if (start) sendStarted(response, content, start)
      else sendWhole(response, content, (content.body ?? null) as string | null)
    }
  }
  return (response, made) => {
    const content = made._toNodeResponse?.() ?? contentOf(made)
    const { body = null } = content
    const isText = body === null || typeof body === 'string'
    if (!isText && (!(body instanceof ReadableStream) || response.req.method === 'HEAD')) {
      return sendContent(response, content)
    }
    if (waiting.length === 0) setImmediate(sendAll)
    waiting.push({ response, content, start: isText ? undefined : new Start(body) })
    return undefined
  }
}

function contentOf({ status, statusText, headers, body }: Response): Content {
  return { status, statusText, headers: [...headers].flat(), body }
}

function sendContent(response: ServerResponse, content: Content): Promise<void> {
  return sendNodeResponse(response, { _toNodeResponse: () => content } as never)
}

function sendWhole(
  response: ServerResponse,
  { status, statusText, headers }: Content,
  body: string | null,
  encoding: BufferEncoding = 'utf8',
): void {
  // In Express, another middleware may have responded meanwhile.
  if (response.headersSent) return
  try {
    response.writeHead(status, statusText, headers)
    if (body !== null) {
      // Headers and body leave as one string. `end(body)` would add an empty piece, and the kernel gets several
      // pieces by way of a copy.
      response.write(body, encoding)
      response.socket?.uncork()
    }
    response.end()
  } catch {
    response.destroy()
  }
}

/** Longer bodies are sent as streams. */
const MAX_WHOLE = 64 * 1024

/**
 * What a stream has within this turn of the event loop. That is all if a handler returned `Response.json(value)`: the
 * global Response makes a stream of any body, and sending one costs more than the rest of a request.
 */
class Start {
  readonly pieces: Uint8Array[] = []
  #isAll = false
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
    // Whoever reads on finds the error too.
    this.#read().catch(() => {})
  }

  async #read(): Promise<void> {
    // A piece, and that there is no other.
    while (this.pieces.length < 2) {
      const { done, value } = await this.#reader.read()
      this.#isAll = done
      if (done) return
      this.pieces.push(value)
    }
  }

  /** Leaves to the next reader what has not come yet. The whole body if that is nothing and it is short. */
  end(): Buffer | undefined {
    this.#reader.releaseLock()
    const isShort = this.pieces.every(
      (piece) => piece instanceof Uint8Array && piece.length <= MAX_WHOLE,
    )
    return this.#isAll && isShort ? Buffer.concat(this.pieces) : undefined
  }
}

/** Sends what a stream had within the turn, and what comes after it. */
function sendStarted(response: ServerResponse, content: Content, start: Start): void {
  const whole = start.end()
  if (response.headersSent) return void (content.body as ReadableStream).cancel().catch(() => {})
  if (whole) {
    sendWhole(response, sized(content, whole.length), whole.toString('latin1'), 'latin1')
    return
  }
  try {
    const { status, statusText, headers } = content
    if (start.pieces.length > 0) response.writeHead(status, statusText, headers)
    for (const piece of start.pieces) response.write(piece)
    sendContent(response, content).catch(() => response.destroy())
  } catch {
    response.destroy()
  }
}

/** With its length, unless the headers say it, or that none is said: those of a server whose response is passed on. */
function sized(content: Content, length: number): Content {
  const { headers } = content
  const isFramed = headers.some((name, at) => at % 2 === 0 && FRAMING.has(name.toLowerCase()))
  return isFramed
    ? content
    : { ...content, headers: [...headers, 'Content-Length', String(length)] }
}

const FRAMING = new Set(['content-length', 'transfer-encoding'])
