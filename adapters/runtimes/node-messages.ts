/** The order of requests of a connection on Node, and how responses are sent. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { setImmediate } from 'node:timers'
import { jsonLogger, type Logger } from '../../src/ports/services/logger.ts'
import type { PipedBody } from '../../src/ports/services/piped-body.ts'
import { stackText } from '../../src/ports/values/causes.ts'
import { jsonOf } from '../../src/ports/values/json.ts'
import type { Response as OwnClass, PlainResponse } from './messages/node-response.ts'
import { linkAll } from './messages/standard.ts'
import { left } from './node-connections.ts'
import { fail, respondOn } from './node-refusals.ts'

type Listener<T> = (request: IncomingMessage, response: ServerResponse, next?: T) => void

/** How many requests of a connection wait before its client is read no more. Unread, nobody sees that it has gone. */
const MOST_WAITING = 8

/**
 * `listener`, called for one request of a connection at a time. Node starts all pipelined requests of a packet at once,
 * and their responses wait in memory for their turn: 60 requests for a list of 10 MB would take 600 MB. It tells none
 * that waits that its client has gone.
 *
 * While more than a few wait, nothing is read from the connection: at most the 64 KiB of one read are held beside them.
 */
export function inTurn<T = never>(listener: Listener<T>): Listener<T> {
  const waiting = new WeakMap<Socket, number>()
  const isHeld = (socket: Socket) => (waiting.get(socket) ?? 0) > MOST_WAITING && !left.has(socket)
  const count = (socket: Socket, more: number) => {
    const before = waiting.get(socket)
    waiting.set(socket, (before ?? 0) + more)
    // Reading the body of the current request resumes the connection.
    if (before === undefined) socket.on('resume', () => isHeld(socket) && socket.pause())
    if (isHeld(socket)) socket.pause()
    else socket.resume()
  }
  return (request, response, next) => {
    const { socket } = request
    if (left.has(socket)) return
    // Node assigns the connection to a response when the previous one has been sent.
    if (response.socket || !respondOn(socket)) return listener(request, response, next)
    count(socket, 1)
    response.once('socket', () => {
      count(socket, -1)
      listener(request, response, next)
    })
  }
}

/** Whether a body comes with the request, even an empty one. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** JSON of a body that a parser has read. What is nested too deeply to be written becomes text that is refused, as the body was. */
export function jsonAsRead(body: unknown): string {
  try {
    return jsonOf(body)
  } catch (error) {
    if (error instanceof RangeError) return '['
    throw error
  }
}

/** A response of this runtime, or of srvx, which tells its contents too. `bench/bridge` measures what that saves. */
type Made = Response &
  Partial<Pick<InstanceType<typeof OwnClass>, 'plainHeaders' | 'plainText' | '_toNodeResponse'>>

/**
 * Sends responses. Short ones wait for the end of the turn of the event loop and are sent together: a client woken by
 * the first finds the others too, and waking it costs more than the rest of a short response.
 */
export function outbox(): (response: ServerResponse, made: Made, logger?: Logger) => void {
  let waiting: { response: ServerResponse; content: PlainResponse; body: string | null }[] = []
  const sendAll = () => {
    const all = waiting
    waiting = []
    for (const { response, content, body } of all) sendWhole(response, content, body)
  }
  return (response, made, logger = jsonLogger) => {
    // What is more or less than a length of your own says would be taken for a part of other responses.
    if (!made.plainHeaders) response.strictContentLength = true
    const content = contentOf(made)
    const { body = null } = content
    if (body === null || typeof body === 'string') {
      if (waiting.length === 0) setImmediate(sendAll)
      waiting.push({ response, content, body })
    } else if (body instanceof ReadableStream && response.req.method !== 'HEAD') {
      // Not with the others: reading it runs code of its request, which may ask its AsyncLocalStorage whose it is.
      setImmediate(sendStarted, response, content, logger, new Start(body))
    } else sendOther(response, content, logger)
  }
}

const encoder = new TextEncoder()
/** The most UTF-8 bytes per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3
/** What counts the bytes of a text: encoding it takes Node a third of the time of `Buffer.byteLength`. */
const scratch = new Uint8Array(64 * 1024 * MAX_BYTES_PER_UNIT)

function contentOf(made: Made): PlainResponse {
  const { plainHeaders: plain, plainText: text } = made
  if (!plain || text === undefined) return made._toNodeResponse?.() ?? partsOf(made)
  const headers: string[] = []
  for (const name in plain) headers.push(name, plain[name] as string)
  const content = { status: made.status, statusText: '', headers, body: text }
  if (text === null) return content
  const isShort = text.length * MAX_BYTES_PER_UNIT <= scratch.length
  const length = isShort ? encoder.encodeInto(text, scratch).written : Buffer.byteLength(text)
  headers.push('Content-Length', String(length))
  // ASCII has the same bytes in both, and for UTF-8 Node takes three times the memory first.
  return { ...content, encoding: length === text.length ? 'latin1' : 'utf8' }
}

function partsOf({ status, statusText, headers, body }: Response): PlainResponse {
  linkAll()
  return { status, statusText, headers: [...headers].filter(isOfResponse).flat(), body }
}

/** Whether a header is not about the connection that another server's response came on: Node would keep that of the client. */
function isOfResponse([name, value]: readonly [string, string]): boolean {
  return name !== 'keep-alive' && (name !== 'connection' || /\bclose\b/i.test(value))
}

/** Writes the head of a response. If nobody is there to get it, or Node refuses it, its body is left and this returns false. */
function begin(response: ServerResponse, content: PlainResponse): boolean {
  const { status, statusText, headers, body } = content
  try {
    if (!response.headersSent && !response.destroyed) {
      response.writeHead(status, statusText, headers)
      return true
    }
  } catch (error) {
    fail(response, error)
  }
  leave(body)
  return false
}

/** Sends a response whose body is no text and no stream, or is not wanted. */
function sendOther(response: ServerResponse, content: PlainResponse, logger: Logger): void {
  if (!begin(response, content)) return
  const { body } = content
  if (response.req.method === 'HEAD') {
    leave(body)
    response.end()
  } else if (body instanceof Readable) {
    pipeline(body, response, (error) => {
      if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') tellOfBroken(content, logger, error)
    })
  } else if (isPiped(body)) body.pipe(response)
  else response.end(body)
}

/** Nobody reads `body`. */
function leave(body: unknown): void {
  if (body instanceof ReadableStream) body.cancel().catch(() => {})
  else if (isPiped(body)) body.destroy()
}

function isPiped(body: unknown): body is PipedBody {
  return typeof body === 'object' && body !== null && 'pipe' in body
}

/** Logs what broke a body of which the client has got the start. */
function tellOfBroken({ headers }: PlainResponse, logger: Logger, error: unknown): void {
  // Names and values in turn: other headers may have this name as their value.
  const at = headers.findIndex((name, at) => at % 2 === 0 && /^x-request-id$/i.test(name))
  logger.error('a response broke off', { requestId: headers[at + 1], error: stackText(error) })
}

/** Sends `pieces`, and then what a stream has, as fast as the client takes it. */
async function sendStream(
  response: ServerResponse,
  content: PlainResponse,
  logger: Logger,
  pieces: readonly Uint8Array[],
): Promise<void> {
  const reader = (content.body as ReadableStream).getReader()
  let goOn = () => {}
  response.on('drain', () => goOn())
  response.once('close', () => {
    goOn()
    reader.cancel().catch(() => {})
  })
  try {
    for (const piece of pieces) response.write(piece)
    for (;;) {
      const { done, value } = await reader.read()
      if (response.destroyed) return void (await reader.cancel())
      if (done) return void response.end()
      if (response.write(value)) continue
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
    }
  } catch (error) {
    if (!response.destroyed) tellOfBroken(content, logger, error)
    response.destroy()
  }
}

function sendWhole(response: ServerResponse, content: PlainResponse, body: string | null): void {
  // In Express, another middleware may have responded meanwhile.
  if (response.headersSent || response.destroyed) return
  try {
    response.writeHead(content.status, content.statusText, content.headers)
    if (body !== null) {
      // Headers and body leave as one string. `end(body)` would add an empty piece, and the kernel gets several
      // pieces by way of a copy.
      response.write(body, content.encoding ?? 'utf8')
      response.socket?.uncork()
    }
    response.end()
  } catch (error) {
    fail(response, error)
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
function sendStarted(
  response: ServerResponse,
  content: PlainResponse,
  logger: Logger,
  start: Start,
): void {
  const whole = start.end()
  if (whole) {
    const text = whole.toString('latin1')
    sendWhole(response, { ...sized(content, whole.length), encoding: 'latin1' }, text)
  } else if (begin(response, content)) {
    void sendStream(response, content, logger, start.pieces)
  }
}

/** With its length, unless the headers say it, or that none is said: those of a server whose response is passed on. */
function sized(content: PlainResponse, length: number): PlainResponse {
  const { headers } = content
  const isFramed = headers.some((name, at) => at % 2 === 0 && FRAMING.has(name.toLowerCase()))
  return isFramed
    ? content
    : { ...content, headers: [...headers, 'Content-Length', String(length)] }
}

const FRAMING = new Set(['content-length', 'transfer-encoding'])
