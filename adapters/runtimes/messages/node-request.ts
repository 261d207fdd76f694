/** Requests on Node, whose parts are made of what node:http has received when somebody asks for them. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type {
  BodyPart,
  BodyReader,
  BodySource,
  Repeatable,
} from '../../../src/ports/services/body-source.ts'
import { linkAll, standIn } from './standard.ts'

/** After how many requests a process has much to do. */
const MANY = 1000
let served = 0

class Served implements BodySource, Repeatable {
  readonly #incoming: IncomingMessage
  readonly #response: ServerResponse
  /** As in the standard, GET and HEAD have none, whatever was sent. */
  readonly #mayHaveBody: boolean
  /** Whether the body is read, or has been, by what is no web stream. */
  #isTaken = false
  #url: string | undefined
  #headers: ReceivedHeaders | undefined
  #stream: ReadableStream<Uint8Array<ArrayBuffer>> | undefined
  #gone: AbortController | undefined
  #standard: Request | undefined

  constructor(incoming: IncomingMessage, response: ServerResponse) {
    this.#incoming = incoming
    this.#response = response
    const { method, headers } = incoming
    const isSent = (headers['content-length'] ?? headers['transfer-encoding']) !== undefined
    this.#mayHaveBody = isSent && method !== 'GET' && method !== 'HEAD'
    served += 1
    if (served === MANY) linkAll()
  }

  repeater(): () => Request {
    const [incoming, response] = [this.#incoming, this.#response]
    return () => new ServedRequest(incoming, response)
  }

  get method(): string {
    return this.#incoming.method ?? 'GET'
  }

  get url(): string {
    this.#url ??= urlOf(this.#incoming)
    return this.#url
  }

  get headers(): Headers {
    this.#headers ??= new ReceivedHeaders(this.#incoming)
    return this.#headers as unknown as Headers
  }

  /** Aborts if the connection closes before the response is there. */
  get signal(): AbortSignal {
    if (!this.#gone) {
      const [gone, incoming, response] = [new AbortController(), this.#incoming, this.#response]
      this.#gone = gone
      const close = () => {
        if (incoming.errored || !response.writableEnded) gone.abort(incoming.errored ?? undefined)
      }
      if (response.destroyed || isCutOff(incoming)) close()
      else response.once('close', close)
    }
    return this.#gone.signal
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (this.#standard) return this.#standard.body
    if (!this.#mayHaveBody || this.#isTaken) return null
    this.#stream ??= streamOf(this.#incoming)
    return this.#stream
  }

  get bodyUsed(): boolean {
    if (this.#isTaken || this.#standard?.bodyUsed === true) return true
    return this.#stream !== undefined && Readable.isDisturbed(this.#stream as never)
  }

  takeBody(): BodyReader | undefined {
    if (this.#stream || !this.#mayHaveBody) return undefined
    if (this.#isTaken) throw new TypeError('the body of this request has been read already')
    this.#isTaken = true
    return new Incoming(this.#incoming)
  }

  static standardOf(own: Served): Request {
    if (own.#standard) return own.#standard
    // Not what the app has put on the request instead: a body with limits would read itself.
    const its = <K extends keyof Served>(name: K): Served[K] =>
      Reflect.get(Served.prototype, name, own)
    const isRead = own.bodyUsed || own.#stream?.locked === true
    const body = isRead ? new Uint8Array() : its('body')
    const [method, headers, signal] = [its('method'), its('headers'), its('signal')]
    const init = { method, headers, signal, body, duplex: 'half' }
    const standard = new Request(its('url'), init)
    if (isRead) void standard.text()
    if (own.#headers) ReceivedHeaders.follow(own.#headers, standard.headers)
    own.#standard = standard
    return standard
  }
}

export const ServedRequest: new (
  incoming: IncomingMessage,
  response: ServerResponse,
) => Request & Served = standIn(Served, 'Request', Served.standardOf)

class Gone extends Error {
  override readonly message = 'the client has gone'
}

/** Whether the client has gone before the whole request was there. */
function isCutOff({ errored, destroyed, complete }: IncomingMessage): boolean {
  return errored !== null || (destroyed && !complete)
}

function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  // Of a body that the client has not sent to its end, Node would make an empty one.
  if (isCutOff(incoming)) return new ReadableStream({ start: (body) => body.error(new Gone()) })
  return Readable.toWeb(incoming) as ReadableStream<Uint8Array<ArrayBuffer>>
}

/** Names that Node keeps the first value of, where the standard joins all. */
const ONCE = new Set(
  [
    'age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since',
    'last-modified location max-forwards proxy-authorization referer retry-after server user-agent',
  ].flatMap((names) => names.split(' ')),
)

class ReceivedHeaders {
  readonly #incoming: IncomingMessage
  #standard: Headers | undefined

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming
  }

  get(name: string): string | null {
    const { headers, rawHeaders } = this.#incoming
    const lower = `${name}`.toLowerCase()
    const value = this.#standard ? undefined : headers[lower]
    if (typeof value === 'string' && !(ONCE.has(lower) && isRepeated(rawHeaders, lower)))
      return value
    const isMissing = !this.#standard && value === undefined && IS_NAME.test(name)
    return isMissing ? null : ReceivedHeaders.standardOf(this).get(name)
  }

  has(name: string): boolean {
    const value = this.#standard ? undefined : this.#incoming.headers[`${name}`.toLowerCase()]
    if (typeof value === 'string') return true
    const isMissing = !this.#standard && value === undefined && IS_NAME.test(name)
    return !isMissing && ReceivedHeaders.standardOf(this).has(name)
  }

  /** From now on, `own` are those of a standard request. */
  static follow(own: ReceivedHeaders, standard: Headers): void {
    own.#standard = standard
  }

  static standardOf(own: ReceivedHeaders): Headers {
    if (own.#standard) return own.#standard
    own.#standard = new Headers()
    const { rawHeaders } = own.#incoming
    for (let at = 0; at < rawHeaders.length; at += 2) {
      own.#standard.append(rawHeaders[at] as string, rawHeaders[at + 1] as string)
    }
    return own.#standard
  }
}

standIn(ReceivedHeaders, 'Headers', ReceivedHeaders.standardOf)

/** Names that need no look at what the standard says of them. */
const IS_NAME = /^[\w-]+$/

function isRepeated(rawHeaders: readonly string[], lower: string): boolean {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === lower.length && name.toLowerCase() === lower) count += 1
  }
  return count > 1
}

const ORIGIN = /^https?:\/\/(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d{0,5})?$/i
/** Paths and queries that are as a URL would spell them, if they have no dots in the place of a name. */
const USUAL = /^\/[\w\-.~!$&()*+,;=:@/%?[\]|]*$/
const DOTS = /\/(?:\.|%2e)/i

/** The URL of a request: the host is that of an absolute target, or else that of the header (RFC 9112, 3.2 and 3.3). */
function urlOf({ url: target = '/', headers, socket }: IncomingMessage): string {
  const scheme = 'encrypted' in socket && socket.encrypted ? 'https' : 'http'
  const whole = target.startsWith('/') ? undefined : URL.parse(target)
  const host = whole?.host || headers.host || addressOf(socket)
  // Most requests of a server name the same host.
  if (host !== last.host || scheme !== last.scheme) {
    last = { scheme, host, origin: originOf(`${scheme}://${host}`) }
  }
  const { origin } = last
  const path = target.startsWith('/') ? target : pathOf(target, whole)
  return USUAL.test(path) && !DOTS.test(path) ? origin + path : new URL(origin + path).href
}

let last = { scheme: '', host: '', origin: '' }

function originOf(given: string): string {
  const url = ORIGIN.test(given) ? URL.parse(given) : null
  return url?.origin ?? `${given.slice(0, given.indexOf(':'))}://${INVALID}`
}

function pathOf(target: string, whole: URL | null | undefined): string {
  if (whole) return whole.pathname.replace(/^\/?/, '/') + whole.search
  return target === '*' ? '/*' : '/'
}

/** In the place of a host that no URL can have. */
const INVALID = '_invalid_'

/** Where the client has connected to, which names no Host in HTTP/1.0. */
function addressOf({ localAddress = 'localhost', localFamily, localPort = 80 }: Socket): string {
  return `${localFamily === 'IPv6' ? `[${localAddress}]` : localAddress}:${localPort}`
}

/** Reads a body as it arrives. Until it is read, the client has to wait. */
class Incoming implements BodyReader {
  readonly #message: IncomingMessage
  readonly #parts: BodyPart[] = []
  /** How many bytes have not arrived yet; NaN if the client has not told. */
  #left: number
  #waiting: PromiseWithResolvers<BodyPart> | undefined
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
    this.#waiting = Promise.withResolvers<BodyPart>()
    return this.#waiting.promise
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
    this.#failure = error ?? new Gone()
    this.#waiting?.reject(this.#failure)
  }
}
