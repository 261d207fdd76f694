/**
 * Requests on Node: srvx's, whose bodies can also be read without a web stream. Making one takes longer than to parse a
 * short body.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeRequest } from 'srvx/node'
import type { BodyReader, BodySource } from '../../src/ports/body-source.ts'

/** A request that node:http has received. */
export class ServedRequest extends NodeRequest implements BodySource {
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

type Result = ReadableStreamReadResult<Uint8Array>

interface Waiting {
  readonly resolve: (result: Result) => void
  readonly reject: (reason: unknown) => void
}

/** Reads a body as it arrives. Until it is read, the client has to wait. */
class Incoming implements BodyReader {
  readonly #message: IncomingMessage
  readonly #chunks: Uint8Array[] = []
  #waiting: Waiting | undefined
  #hasEnded = false
  #failure: unknown

  constructor(message: IncomingMessage) {
    this.#message = message
    message.on('data', (chunk: Buffer) => this.#arrived(chunk))
    message.once('end', () => this.#ended())
    message.once('error', (error) => this.#failed(error))
    message.once('close', () => this.#failed(new Error('the client has gone')))
    if (message.destroyed) this.#failed(message.errored ?? new Error('the client has gone'))
  }

  read(): Promise<Result> {
    const chunk = this.#chunks.shift()
    if (chunk) return Promise.resolve({ done: false, value: chunk })
    if (this.#hasEnded) return Promise.resolve({ done: true, value: undefined })
    if (this.#failure) return Promise.reject(this.#failure)
    if (this.#message.isPaused()) this.#message.resume()
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  #arrived(chunk: Uint8Array): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) waiting.resolve({ done: false, value: chunk })
    else {
      this.#chunks.push(chunk)
      this.#message.pause()
    }
  }

  #ended(): void {
    this.#hasEnded = true
    this.#waiting?.resolve({ done: true, value: undefined })
  }

  #failed(error: unknown): void {
    if (this.#hasEnded || this.#failure) return
    this.#failure = error
    this.#waiting?.reject(error)
  }
}
