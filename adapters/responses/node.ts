/**
 * Responses on Node: srvx's, which stay plain values until their contents are read. The global Response costs more than
 * the rest of a request. And how both are sent.
 *
 * @module
 */

import type { ServerResponse } from 'node:http'
import { FastResponse, sendNodeResponse } from 'srvx/node'
import type { PipedBody } from '../../src/ports/services/piped-body.ts'

/** A response as node:http takes it: names and values of headers in turn. */
export interface PlainResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: string[]
  readonly body?: unknown
}

/** srvx's class, with the members that it shares with its own sender. */
const Plain = FastResponse as unknown as new (
  body?: BodyInit | null,
  init?: ResponseInit,
) => globalThis.Response & {
  get _response(): globalThis.Response
  _toNodeResponse(): PlainResponse
}

/** A standard Response whose headers can be read and set without making a `Headers` of them. */
export class Response extends Plain {
  /** The headers by name, until something else than fieldgate may change or read the response. */
  plainHeaders: Record<string, string> | undefined
  /** The body, if it is a string or nothing. */
  readonly plainText: string | null | undefined
  /** The body, if it writes itself, and what reads it instead. */
  readonly #piped: PipedBody | undefined
  #read: globalThis.Response | undefined

  constructor(body?: BodyInit | PipedBody | null, init?: ResponseInit) {
    const piped = typeof body === 'object' && body !== null && 'pipe' in body ? body : undefined
    super(piped ? null : (body as BodyInit | null | undefined), init)
    this.#piped = piped
    // fieldgate's own code always passes them as a record.
    this.plainHeaders = init?.headers as Record<string, string> | undefined
    this.plainText = typeof body === 'string' || body === null ? body : undefined
  }

  override get headers(): Headers {
    this.plainHeaders = undefined
    return super.headers
  }

  /** The standard Response that whatever needs one works on. */
  override get _response(): globalThis.Response {
    this.plainHeaders = undefined
    if (!this.#piped) return super._response
    this.#read ??= new globalThis.Response(this.#piped.stream(), this)
    return this.#read
  }

  /** What is sent. */
  override _toNodeResponse(): PlainResponse {
    if (this.#piped) return { ...super._toNodeResponse(), body: this.#read?.body ?? this.#piped }
    const [plain, body] = [this.plainHeaders, this.plainText]
    if (plain === undefined || body === undefined) return super._toNodeResponse()
    const headers: string[] = []
    for (const name in plain) headers.push(name, plain[name] as string)
    if (body !== null) headers.push('Content-Length', String(Buffer.byteLength(body)))
    return { status: this.status, statusText: '', headers, body }
  }
}

/** The body as it is: it writes itself to node:http, and is a stream for whatever else reads it. */
export function bodyOf(body: PipedBody): BodyInit {
  return body as unknown as BodyInit
}

/** A response to be sent, of which `start` is the body if that is a stream. */
interface Waiting {
  readonly response: ServerResponse
  readonly content: PlainResponse
  readonly start: Start | undefined
}

/** A response of this runtime: one of srvx tells its contents, once. `bench/bridge` measures what that saves. */
type Made = globalThis.Response & { _toNodeResponse?(): PlainResponse }

/**
 * Sends responses. Short ones wait for the end of the turn of the event loop and are sent together: a client woken by
 * the first finds the others too, and waking it costs more than the rest of a short response.
 */
export function outbox(): (response: ServerResponse, made: Made) => unknown {
  let waiting: Waiting[] = []
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

function contentOf({ status, statusText, headers, body }: globalThis.Response): PlainResponse {
  return { status, statusText, headers: [...headers].flat(), body }
}

function sendContent(response: ServerResponse, content: PlainResponse): Promise<void> {
  return sendNodeResponse(response, { _toNodeResponse: () => content } as never)
}

function sendWhole(
  response: ServerResponse,
  { status, statusText, headers }: PlainResponse,
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
function sendStarted(response: ServerResponse, content: PlainResponse, start: Start): void {
  const whole = start.end()
  if (response.headersSent) {
    void (content.body as ReadableStream).cancel().catch(() => {})
    return
  }
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
function sized(content: PlainResponse, length: number): PlainResponse {
  const { headers } = content
  const isFramed = headers.some((name, at) => at % 2 === 0 && FRAMING.has(name.toLowerCase()))
  return isFramed
    ? content
    : { ...content, headers: [...headers, 'Content-Length', String(length)] }
}

const FRAMING = new Set(['content-length', 'transfer-encoding'])
