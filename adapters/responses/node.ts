/**
 * Responses on Node: srvx's, which stay plain values until their contents are read. The global Response costs more than
 * the rest of a request.
 *
 * @module
 */

import { FastResponse } from 'srvx/node'

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

/** A standard Response whose headers can be read and set without creating its `Headers`. */
export class Response extends Plain {
  /** The headers as they were given, until something else than this class may change or read the response. */
  #given: Record<string, string> | undefined
  /** The body, if it is a string or nothing. */
  readonly #text: string | null | undefined

  constructor(body?: BodyInit | null, init?: ResponseInit) {
    super(body, init)
    // fieldgate's own code always passes them as a record.
    this.#given = init?.headers as Record<string, string> | undefined
    this.#text = typeof body === 'string' || body === null ? body : undefined
  }

  override get headers(): Headers {
    this.#given = undefined
    return super.headers
  }

  /** The standard Response that whatever needs one works on. */
  override get _response(): globalThis.Response {
    this.#given = undefined
    return super._response
  }

  /** What is sent. */
  override _toNodeResponse(): PlainResponse {
    const [given, body] = [this.#given, this.#text]
    if (given === undefined || body === undefined) return super._toNodeResponse()
    const headers: string[] = []
    for (const name in given) headers.push(name, given[name] as string)
    if (body !== null) headers.push('Content-Length', String(Buffer.byteLength(body)))
    return { status: this.status, statusText: '', headers, body }
  }

  /** The value of a header, or null. */
  header(name: string): string | null {
    const given = this.#given
    if (!given) return this.headers.get(name)
    const spelling = spellingIn(given, name)
    return spelling === undefined ? null : (given[spelling] ?? null)
  }

  /** Sets a header. */
  setHeader(name: string, value: string): void {
    const given = this.#given
    if (given) given[spellingIn(given, name) ?? name] = value
    else this.headers.set(name, value)
  }
}

/** How `headers` spell the name of a header that they have. */
function spellingIn(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  if (Object.hasOwn(headers, name)) return name
  const lower = name.toLowerCase()
  for (const given in headers) {
    if (given.length === lower.length && given.toLowerCase() === lower) return given
  }
  return undefined
}
