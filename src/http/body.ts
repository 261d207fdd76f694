/**
 * Reading request bodies, counting bytes and time.
 *
 * @module
 */

import { deadlineOf } from './deadline.ts'
import { HttpError } from './errors.ts'
import { parseJson } from './json.ts'
import {
  bodyCutOff,
  bodyTooLarge,
  bodyTooSlow,
  unsupportedBody,
  unsupportedEncoding,
} from './refusals.ts'

/** What a body may take. */
export interface BodyLimits {
  /** Bytes that a JSON body may have. */
  readonly maxBodySize: number
  /** Milliseconds in which a body has to arrive; a large one is given more, see `eachChunk`. */
  readonly bodyTimeoutMs: number
}

/** Whether a Content-Type is `application/json` or `application/*+json`. */
export function isJson(contentType: string | null): boolean {
  return (
    contentType !== null && /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i.test(contentType)
  )
}

/**
 * The request's JSON body, `undefined` when it has none. Throws 415 for another media type (`refuse` gives
 * the refusal), 413 over `maxBodySize` bytes, 408 for one that comes too slowly, 400 for anything that is not JSON in
 * UTF-8.
 */
export async function readJson(
  request: Request,
  limits: BodyLimits,
  refuse: () => HttpError = () => unsupportedBody('application/json'),
): Promise<unknown> {
  const contentType = request.headers.get('content-type')
  const json = isJson(contentType)
  if (contentType !== null && !json) throw refuse()
  refuseEncoded(request)
  const bytes = await readBytes(request, limits)
  if (bytes.length === 0) return undefined
  if (!json) throw refuse()
  return parseJson(bytes)
}

/** Refuses a compressed body: what it unpacks to would have no bound. */
export function refuseEncoded(request: Request): void {
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') throw unsupportedEncoding()
}

/**
 * The whole body, empty where there is none; throws 413 and 408 as `limits` say. Content-Length only refuses early: the
 * bytes that come are counted.
 */
export async function readBytes(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const { maxBodySize, bodyTimeoutMs } = limits
  if (Number(request.headers.get('content-length')) > maxBodySize) throw bodyTooLarge(maxBodySize)
  const chunks: Uint8Array[] = []
  let size = 0
  await eachChunk(request, bodyTimeoutMs, (chunk) => {
    size += chunk.length
    if (size > maxBodySize) throw bodyTooLarge(maxBodySize)
    chunks.push(chunk)
  })
  const [only] = chunks
  return chunks.length === 1 && only ? only : joined(chunks, size)
}

/** What a body may take longer by for each mebibyte that has arrived. */
const MS_PER_MIB = 16_000
const MIB = 1024 * 1024

/** The body as the runtime gives it; the request itself may have one with limits in its place. */
export function rawBody(request: Request): ReadableStream<Uint8Array> | null {
  return Object.hasOwn(request, 'body')
    ? (Reflect.get(Object.getPrototypeOf(request), 'body', request) as typeof request.body)
    : request.body
}

/** The chunks of a body, one after the other, and the end of waiting for them. */
export interface Chunks {
  /** The next chunk. Rejects with 408 for a body that is late, and with a 400 when the client goes away. */
  next(): Promise<ReadableStreamReadResult<Uint8Array>>
  /** Forgets the clock. */
  stop(): void
}

/**
 * Hands `take` the bytes of a body as they arrive, one chunk after the other. Throws what `take` throws, 408 for a
 * body that takes longer than `timeoutMs` and another second for each 64 KiB that has come, and `cutOff` when the
 * client goes away.
 */
export async function eachChunk(
  request: Request,
  timeoutMs: number,
  take: (chunk: Uint8Array) => void | Promise<void>,
  cutOff: (cause: unknown) => HttpError = bodyCutOff,
): Promise<void> {
  const chunks = chunksOf(request, timeoutMs, cutOff)
  try {
    for (let read = await chunks.next(); !read.done; read = await chunks.next()) {
      await take(read.value)
    }
  } finally {
    // The reader is not cancelled: on Node that would end the connection before a refusal has been sent.
    chunks.stop()
  }
}

const NOTHING: Chunks = {
  next: () => Promise.resolve({ done: true, value: undefined }),
  stop() {},
}

/** The chunks of a body, which has the time that `eachChunk` gives it. */
export function chunksOf(
  request: Request,
  timeoutMs: number,
  cutOff: (cause: unknown) => HttpError = bodyCutOff,
): Chunks {
  const body = rawBody(request)
  if (!body) return NOTHING
  const reader = body.getReader()
  let allowed = timeoutMs
  let isLate = false
  let giveUp = (): void => {}
  const deadline = deadlineOf(request)
  deadline?.pause()
  const stop = (): void => {
    clearTimeout(timer)
    deadline?.resume()
  }
  const wait = (waited: number): ReturnType<typeof setTimeout> => {
    const until = allowed
    return setTimeout(() => {
      isLate = allowed <= until
      if (!isLate) timer = wait(until)
      else {
        stop()
        giveUp()
      }
    }, until - waited)
  }
  let timer = wait(0)
  const counted = (read: ReadableStreamReadResult<Uint8Array>) => {
    if (!read.done) allowed += (read.value.length / MIB) * MS_PER_MIB
    return read
  }
  return {
    // Not raced against one promise for all chunks: it would keep every chunk until it settles.
    next: () =>
      new Promise((resolve, reject) => {
        giveUp = () => reject(bodyTooSlow())
        // The runtime's error when a client goes away in the middle of its body is no failure of ours.
        const broken = (cause: unknown) =>
          reject(cause instanceof HttpError ? cause : cutOff(cause))
        if (isLate) giveUp()
        else reader.read().then((read) => resolve(counted(read)), broken)
      }),
    stop,
  }
}

/** Chunks of `size` bytes together, in one piece. */
export function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}
