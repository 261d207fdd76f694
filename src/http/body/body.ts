/** Reading request bodies, with limits on bytes, time and values. */

import { nextTurn } from '../../ports/promises/turns.ts'
import type { BodyPart, BodyReader, BodySource } from '../../ports/services/body-source.ts'
import { joined } from '../../ports/values/bytes.ts'
import { type Deadline, deadlineOf } from '../deadline.ts'
import { HttpError } from '../errors/errors.ts'
import * as http from '../errors/refusals.ts'
import { GOOD_MS, standing } from '../request/given-auth.ts'
import { ofPlatform } from '../request/of-platform.ts'
import { jsonParser, MAX_NESTING } from './json-parser.ts'

/** The limits of a body. */
export interface BodyLimits {
  /** The most bytes of a JSON body. */
  readonly maxBodySize: number
  /** The most keys and values in the JSON of a body. */
  readonly maxBodyValues: number
  /** Milliseconds within which a body has to arrive; a large one gets more, see `eachChunk`. */
  readonly bodyTimeoutMs: number
}

/** Whether a Content-Type is `application/json` or `application/*+json`, in UTF-8. */
export function isJson(contentType: string | null): boolean {
  if (contentType === null) return false
  if (!/^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i.test(contentType)) return false
  const parameters = contentType.matchAll(/;\s*([\w-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;]*)/g)
  return [...parameters].every(([, name = '', value = '']) => {
    return name.toLowerCase() !== 'charset' || /^"?utf-?8"?$/i.test(value)
  })
}

/**
 * The request's JSON body; `undefined` if it has none. Throws 415 for another media type (`refuse` makes the error),
 * 413 over `maxBodySize` bytes or `maxBodyValues` keys and values, 408 if it arrives too slowly, and 400 if it is not JSON
 * in UTF-8.
 */
export async function readJson(
  request: Request,
  limits: BodyLimits,
  refuse: () => HttpError = () => notJson(request.headers.get('content-type')),
): Promise<unknown> {
  const known = arrived.get(request)
  if (known) return structuredClone(known.json)
  const { headers } = request
  const [contentType, encoding] = [headers.get('content-type'), headers.get('content-encoding')]
  const length = headers.get('content-length')
  const json = contentType === 'application/json' || isJson(contentType)
  if (contentType !== null && !json) throw refuse()
  refuseEncoded(encoding)
  const bytes = await readBytes(request, limits, length)
  if (bytes.length === 0) return undefined
  if (!json) throw refuse()
  return parseJson(bytes, limits.maxBodyValues)
}

/** The 415 of a type; JSON in another charset is told that it is that. */
function notJson(type: string | null): HttpError {
  const isAlmost = type?.toLowerCase().includes('json')
  return http.unsupportedBody(isAlmost ? 'application/json in UTF-8' : 'application/json')
}

/** The JSON of requests whose body arrived as a part of another one. */
const arrived = new WeakMap<Request, { readonly json: unknown }>()

/** Says that the body of `request` has arrived, and is `json`; undefined if it has none. */
export function hasArrived(request: Request, json: unknown): void {
  arrived.set(request, { json })
}

/** Refuses a compressed body: its unpacked size would have no limit. `encoding` is its Content-Encoding. */
export function refuseEncoded(encoding: string | null): void {
  if (encoding !== null && encoding.toLowerCase() !== 'identity') throw http.unsupportedEncoding()
}

/** The whole body, empty if there is none; throws 413 and 408 by `limits`, whatever Content-Length says. */
export async function readBytes(
  request: Request,
  { maxBodySize, bodyTimeoutMs }: BodyLimits,
  length: string | null,
): Promise<Uint8Array> {
  if (Number(length) > maxBodySize) throw http.bodyTooLarge(maxBodySize)
  const chunks: Uint8Array[] = []
  let size = 0
  await eachChunk(request, bodyTimeoutMs, (chunk) => {
    size += chunk.length
    if (size > maxBodySize) throw http.bodyTooLarge(maxBodySize)
    chunks.push(chunk)
  })
  const [only] = chunks
  return chunks.length === 1 && only ? only : joined(chunks)
}

/** Extra milliseconds for each byte of a body that has arrived: a second for 64 KiB. */
const MS_PER_BYTE = 1000 / (64 * 1024)

/** How long the rest of a refused body is read, in milliseconds, and how many bytes of it. */
const DROP_MS = 10_000
const DROP_BYTES = 64 * 1024 * 1024

/** The body as the runtime provides it; the request's own `body` may be one with limits. */
export function rawBody(request: Request): ReadableStream<Uint8Array> | null {
  return Object.hasOwn(request, 'body') ? ofPlatform(request, 'body') : request.body
}

/**
 * Passes the bytes of a body to `take` as they arrive, one chunk after the other. Throws what `take` throws, 408 if the
 * body takes longer than `timeoutMs` plus a second for each 64 KiB received, and `cutOff` if the client goes away.
 */
export async function eachChunk(
  request: Request,
  timeoutMs: number,
  take: (chunk: Uint8Array) => void | Promise<void>,
  cutOff?: (cause: unknown) => HttpError,
): Promise<void> {
  const chunks = chunksOf(request, timeoutMs, cutOff)
  if (!chunks) return
  try {
    for (let part = await chunks.next(); !part.done; part = await chunks.next()) {
      await take(part.value)
      if (part.isLast) return
    }
  } catch (error) {
    void chunks.drop()
    throw error
  } finally {
    chunks.stop()
  }
}

/** The chunks of a body; undefined if there is none. */
export function chunksOf(
  request: Request & Partial<BodySource>,
  timeoutMs: number,
  cutOff: (cause: unknown) => HttpError = http.bodyCutOff,
): Chunks | undefined {
  const reader = request.takeBody?.() ?? rawBody(request)?.getReader()
  if (!reader) return undefined
  // A body that has arrived as a part of another one takes no time of its own.
  const deadline = arrived.has(request) ? undefined : deadlineOf(request)
  deadline?.hold()
  return new Chunks(request, reader, deadline, timeoutMs, cutOff)
}

/** The chunks of a body, one after the other, with the time limit of `eachChunk`. */
class Chunks {
  readonly #since = performance.now()
  readonly #request: Request
  readonly #reader: BodyReader
  readonly #deadline: Deadline | undefined
  readonly #cutOff: (cause: unknown) => HttpError
  #timer: ReturnType<typeof setTimeout> | undefined
  #allowedMs: number
  #isLate = false
  #isGone = false
  #reject: ((reason: unknown) => void) | undefined

  constructor(
    request: Request,
    reader: BodyReader,
    deadline: Deadline | undefined,
    timeoutMs: number,
    cutOff: (cause: unknown) => HttpError,
  ) {
    this.#request = request
    this.#reader = reader
    this.#deadline = deadline
    this.#cutOff = cutOff
    this.#allowedMs = timeoutMs
    this.#timer = setTimeout(() => this.#check(timeoutMs), timeoutMs)
  }

  /** The next chunk. Rejects with 408 if the body is late, and with a 400 if the client goes away. */
  next(): Promise<BodyPart> {
    // Not `Promise.race` with one promise for all chunks: it would keep every chunk in memory until it settles.
    const { promise, resolve, reject } = Promise.withResolvers<BodyPart>()
    this.#reject = reject
    if (this.#isLate) reject(http.bodyTooSlow())
    else this.#reader.read().then((part) => this.#pass(part, resolve), this.#fail)
    return promise
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#deadline?.release()
  }

  /**
   * Reads on for nothing: many clients send all of a body before they read that it is refused, and some runtimes leave
   * that to who has begun to read it. On Node, cancelling would close the connection before the response is sent.
   */
  async drop(): Promise<void> {
    const until = performance.now() + DROP_MS
    let left = this.#isGone ? 0 : DROP_BYTES
    try {
      // Who sends too slowly is not waited for.
      for (let count = 1; left > 0 && !this.#isLate && performance.now() < until; count += 1) {
        // Others get their turn, but not at each chunk: refusals would come faster than their bodies go.
        if (count % 8 === 0) await nextTurn()
        const part = await this.#reader.read()
        left = part.done ? 0 : left - part.value.length
      }
    } catch {
      // The connection has ended.
    }
  }

  #pass(part: BodyPart, resolve: (part: BodyPart) => void): void {
    if (!part.done) this.#allowedMs += part.value.length * MS_PER_BYTE
    const isLong = (part.done || part.isLast) && performance.now() - this.#since > GOOD_MS
    const asked = isLong ? standing.of(this.#request)?.() : undefined
    if (asked) asked.then(() => resolve(part), this.#reject)
    else resolve(part)
  }

  /** When a client goes away in the middle of its body, the runtime's error is not a failure of the server. */
  readonly #fail = (cause: unknown): void => {
    this.#isGone = true
    this.#reject?.(cause instanceof HttpError ? cause : this.#cutOff(cause))
  }

  /** Waits on, if more time is allowed by now than has passed. */
  #check(passedMs: number): void {
    const untilMs = this.#allowedMs
    if (untilMs > passedMs) {
      this.#timer = setTimeout(() => this.#check(untilMs), untilMs - passedMs)
      return
    }
    this.#isLate = true
    this.stop()
    this.#reject?.(http.bodyTooSlow())
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The value of a body of JSON. Throws a 413 if it has more than `most` keys and values, and a 400 for anything that is not
 * JSON in UTF-8, or nests deeper than 1,000 levels. A byte order mark is skipped.
 */
export function parseJson(bytes: Uint8Array, most: number): unknown {
  try {
    const text = utf8.decode(bytes)
    // Each value takes two characters, as does each level, so ordinary bodies need no check.
    const isShort = text.length <= 2 * Math.min(MAX_NESTING, most)
    return isShort ? JSON.parse(text) : jsonParser(most)(text)
  } catch (error) {
    throw error instanceof HttpError ? error : http.invalidJson()
  }
}
