/**
 * Responses on Node: srvx's, which stay plain values until their contents are read. The global Response costs more than
 * the rest of a request.
 *
 * @module
 */

import { FastResponse } from 'srvx/node'
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
