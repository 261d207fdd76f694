/* @ts-self-types="./node.d.ts" */
/**
 * Responses on Node: srvx's, which stay plain values until someone looks inside. The global one costs more than
 * all the rest of a request.
 *
 * @module
 */

import { FastResponse } from 'srvx/node'

export class Response extends FastResponse {
  /** The headers as they were given, until someone asks for them as `Headers`. */
  #given

  constructor(body, init) {
    super(body, init)
    this.#given = init?.headers
  }

  get headers() {
    this.#given = undefined
    return super.headers
  }

  hasHeader(name) {
    if (!this.#given) return this.headers.has(name)
    return Object.keys(this.#given).some((given) => given.toLowerCase() === name)
  }

  setHeader(name, value) {
    if (this.#given) this.#given[name] = value
    else this.headers.set(name, value)
  }
}
