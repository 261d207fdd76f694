/**
 * Responses on Node: srvx's, which stay plain values until their contents are read. The global Response costs more than
 * the rest of a request.
 *
 * @module
 */

import { FastResponse } from 'srvx/node'

/** A standard Response whose headers can be read and set without creating its `Headers`. */
export class Response extends FastResponse {
  /** The headers as they were given, until `headers` is read. */
  #given: Record<string, string> | undefined

  constructor(body?: BodyInit | null, init?: ResponseInit) {
    super(body, init)
    // fieldgate's own code always passes them as a record.
    this.#given = init?.headers as Record<string, string> | undefined
  }

  override get headers(): Headers {
    this.#given = undefined
    return super.headers
  }

  /** Whether it has the header `name`, which is in lower case. */
  hasHeader(name: string): boolean {
    if (!this.#given) return this.headers.has(name)
    return Object.keys(this.#given).some((given) => given.toLowerCase() === name)
  }

  /** Sets a header. */
  setHeader(name: string, value: string): void {
    if (this.#given) this.#given[name] = value
    else this.headers.set(name, value)
  }
}
