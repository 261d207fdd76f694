/**
 * Requests on Node: srvx's, whose bodies can also be read without a web stream. Making one takes longer than to parse a
 * short body.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeRequest } from 'srvx/node'
import type { BodyPart, BodyReader, BodySource, Repeatable } from '../../src/ports/body-source.ts'

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
