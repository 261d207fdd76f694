/**
 * Responses on Node, which stay plain values until somebody reads or changes them as a standard Response. The global
 * Response costs more than the rest of a request.
 *
 * @module
 */

import type { PipedBody } from '../../../src/ports/services/piped-body.ts'
import { standIn } from './standard.ts'

// biome-ignore lint/performance/noBarrelFile: '#response' is one of these two modules
export { sendsCodings, UNDONE } from './codings.ts'

/** A response as node:http takes it: names and values of headers in turn. */
export interface PlainResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: string[]
  readonly body?: unknown
  /** Of a body that is a string: what it is written in. Default `utf8`. */
  readonly encoding?: BufferEncoding
}

/** A standard Response whose headers can be read and set without making a `Headers` of them. */
class Plain {
  /** The headers by name, until something else than fieldgate may change or read the response. */
  plainHeaders: Record<string, string> | undefined
  /** The body, if it is a string or nothing. */
  readonly plainText: string | null | undefined
  readonly status: number
  /** The body, if it writes itself. */
  readonly #piped: PipedBody | undefined
  #headers: Headers | undefined
  #standard: globalThis.Response | undefined

  /** Takes the headers as a record, and keeps it. */
  constructor(
    body: BodyInit | PipedBody | null,
    init: { readonly status?: number; readonly headers: Record<string, string> },
  ) {
    const piped = typeof body === 'object' && body !== null ? (body as PipedBody) : undefined
    this.#piped = piped
    this.plainText = piped ? undefined : (body as string | null)
    this.plainHeaders = init.headers
    this.status = init.status ?? 200
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  get statusText(): string {
    return ''
  }

  get headers(): Headers {
    this.#headers ??= new Headers(this.plainHeaders)
    this.plainHeaders = undefined
    return this.#headers
  }

  static standardOf(own: Plain): globalThis.Response {
    const { headers, status } = own
    own.#standard ??= new globalThis.Response(own.#piped?.stream() ?? own.plainText, { status })
    // Whoever has got hold of the headers may still change them.
    const copies = own.#standard.headers
    for (const name of [...copies.keys()]) copies.delete(name)
    for (const [name, value] of headers) copies.append(name, value)
    return own.#standard
  }

  /** What is sent of a response that is no longer plain. */
  _toNodeResponse(): PlainResponse {
    const { status, plainText: text } = this
    const headers = [...this.headers].flat()
    if (this.#standard) return { status, statusText: '', headers, body: this.#standard.body }
    if (typeof text === 'string' && !this.#headers?.has('content-length')) {
      headers.push('Content-Length', String(Buffer.byteLength(text)))
    }
    return { status, statusText: '', headers, body: this.#piped ?? text }
  }
}

/** The class that fieldgate's responses are made of. */
export const Response: new (
  body: BodyInit | null,
  init: { readonly status?: number; readonly headers: Record<string, string> },
) => globalThis.Response & Plain = standIn(Plain, 'Response', Plain.standardOf)

/** The body as it is: it writes itself to node:http, and is a stream for whatever else reads it. */
export function bodyOf(body: PipedBody): BodyInit {
  return body as unknown as BodyInit
}
