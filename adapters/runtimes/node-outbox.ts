/** Sends responses on node:http. */

import type { ServerResponse } from 'node:http'
import { sendNodeResponse } from 'srvx/node'

/** A response as node:http takes it: names and values of headers in turn. */
interface Content {
  readonly status: number
  readonly statusText: string
  readonly headers: string[]
  readonly body?: unknown
}

/** The plain contents of srvx's own responses: `bench/bridge` measures what it saves to send a string at once. */
interface PlainResponse {
  _toNodeResponse?(): Content
}

/**
 * Sends responses. Short ones wait for the end of the turn of the event loop and are sent together: a client woken by
 * the first finds the others too, and waking it costs more than the rest of a short response.
 */
export function outbox(): (response: ServerResponse, made: Response & PlainResponse) => unknown {
  let waiting: (() => void)[] = []
  const sendAll = () => {
    const all = waiting
    waiting = []
    for (const sendOne of all) sendOne()
  }
  const atEndOfTurn = (sendOne: () => void) => {
    if (waiting.length === 0) setImmediate(sendAll)
    waiting.push(sendOne)
  }
  return (response, made) => {
    // It returns them only once.
    const content = made._toNodeResponse?.() ?? contentOf(made)
    const { body = null } = content
    if (body === null || typeof body === 'string') {
      return atEndOfTurn(() => sendWhole(response, content, body))
    }
    if (!(body instanceof ReadableStream) || response.req.method === 'HEAD') {
      return sendContent(response, content)
    }
    const start = new Start(body)
    return atEndOfTurn(() => {
      const whole = start.end()
      if (response.headersSent) return void body.cancel().catch(() => {})
      if (whole)
        sendWhole(response, sized(content, whole.length), whole.toString('latin1'), 'latin1')
      else sendOn(response, content, start.pieces)
    })
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

/** Sends `pieces` and what comes after them. */
function sendOn(response: ServerResponse, content: Content, pieces: readonly Uint8Array[]): void {
  try {
    const { status, statusText, headers } = content
    if (pieces.length > 0) response.writeHead(status, statusText, headers)
    for (const piece of pieces) response.write(piece)
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
