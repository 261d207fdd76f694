/** Compressed responses (RFC 9110, 8.4 and 12.5.3). */

import { CODINGS, withoutCodings } from '../cache/conditional.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { qualitiesIn } from '../http/response/qualities.ts'
import { addVary, headerOf, textOf } from '../http/response/respond.ts'
import { describeGuard } from '../records/engine/guards.ts'
import type { Context, Guard } from '../records/engine/route.ts'

type Bytes = Uint8Array<ArrayBuffer>

const MIN_BYTES = 1024
/** Longer texts are compressed as streams: others get their turn meanwhile. */
const MAX_AT_ONCE = 64 * 1024

/** Types that get smaller. */
const COMPRESSIBLE =
  /^(?:text\/[\w.+-]+|application\/(?:json|x-ndjson|ndjson|xml|javascript|wasm)|[a-z]+\/[\w.-]+\+(?:json|xml))$/

/** Headers of contents that are encoded already, that are asked for in ranges, or whose bytes are signed. */
const AS_IS = [
  'content-encoding',
  'content-range',
  'accept-ranges',
  'content-digest',
  'repr-digest',
]

const NO_TRANSFORM = /(?:^|,)\s*no-transform\s*(?:,|$)/i

/**
 * Compresses responses of 1 KiB and more as the client accepts it: with gzip, and with Brotli and Zstandard where the
 * runtime has them. Streams are compressed while they are sent. Events, files that can be asked for in ranges, encoded
 * contents and responses with `Cache-Control: no-transform` stay as they are. Conditional requests work as without it.
 *
 * ```ts
 * app.use(compress())
 * ```
 */
export function compress(): Guard {
  const guard: Guard = function compressGuard(request, context) {
    // Cloudflare asks Workers for what it decodes itself, and says what it was asked for.
    const { cf } = request as { readonly cf?: { readonly clientAcceptEncoding?: string } }
    const accept = cf?.clientAcceptEncoding ?? request.headers.get('accept-encoding')
    const known = request.headers.get('if-none-match') ?? ''
    takeCodedTags(request, accept)
    context.onResponse((response) => {
      if (response.status === 304)
        return isAsIs(response) ? undefined : tagged(response, known, accept)
      return isLeft(response, context) ? undefined : respond(response, accept)
    })
  }
  return Object.assign(describeGuard(guard, 'anyone', { refusals: [] }), { early: true })
}

/**
 * The best coding by weight; of equal ones the first of the runtime's. Without the header, the contents stay plain. And
 * whether the client refuses contents without a coding.
 */
function acceptedIn(header: string | null, codings: readonly string[]) {
  const weights = qualitiesIn(header ?? '')
  const any = weights.get('*')
  const weightOf = (name: string) =>
    weights.get(name) ?? (name === 'gzip' ? weights.get('x-gzip') : undefined) ?? any ?? 0
  const plain = weights.get('identity') ?? (any === 0 ? 0 : undefined)
  const taken = codings
    .filter((name) => weightOf(name) > 0 && weightOf(name) >= (plain ?? 0))
    .sort((a, b) => weightOf(b) - weightOf(a))
  return { taken, isForced: plain === 0 }
}

/**
 * Gives `request` the tags of the plain contents, which are those that routes know. A cache asks with the tags of all codings
 * that it has, for any client: those that this one does not accept stay unknown.
 */
function takeCodedTags(request: ApiRequest, accept: string | null): void {
  for (const name of ['if-match', 'if-none-match']) {
    const tags = request.headers.get(name)
    if (!tags?.includes('+')) continue
    const codings = name === 'if-match' ? CODINGS : acceptedIn(accept, CODINGS).taken
    const plain = withoutCodings(tags, codings)
    if (plain === tags) continue
    // The headers of a request on Workers cannot be changed.
    const headers = new Headers(request.headers)
    headers.set(name, plain)
    Object.defineProperty(request, 'headers', { value: headers, configurable: true })
  }
}

function isLeft(response: Response, context: Context): boolean {
  const [type = ''] = (headerOf(response, 'content-type') ?? '').toLowerCase().split(';')
  // Events would wait in the encoder.
  const isEvents = type.trim() === 'text/event-stream'
  if (response.status === 206 || isEvents || !COMPRESSIBLE.test(type.trim())) return true
  if (isAsIs(response)) return true
  const rules = [headerOf(response, 'cache-control'), context.headers.get('cache-control')]
  return rules.some((rule) => NO_TRANSFORM.test(rule ?? ''))
}

function isAsIs(response: Response): boolean {
  return AS_IS.some((name) => headerOf(response, name) !== null)
}

/** A 304 with the tag that the client has, among those `known`. */
function tagged(response: Response, known: string, accept: string | null): Response {
  const tag = headerOf(response, 'etag') ?? ''
  const { taken } = acceptedIn(accept, CODINGS)
  const has = taken.find((coding) => known.includes(codedTag(tag, coding)))
  return withHeaders(response, (headers) => has && headers.set('ETag', codedTag(tag, has)))
}

/** A weak tag says nothing about bytes, so it is the same for all codings. */
function codedTag(tag: string, coding: string): string {
  return tag.startsWith('W/') ? tag : `${tag.slice(0, -1)}+${coding}"`
}

const encoder = new TextEncoder()

async function respond(response: Response, accept: string | null): Promise<Response> {
  // Apps without this guard don't load it.
  const { codings, compressed, compressedAtOnce } = await import('#compression')
  const { taken, isForced } = acceptedIn(accept, codings)
  const [coding] = taken
  if (coding === undefined) return varied(response)
  const least = isForced ? 1 : MIN_BYTES
  const inCoding = (body: () => BodyInit) =>
    withHeaders(response, (headers) => encoded(headers, coding), body())
  const text = textOf(response)
  if (compressedAtOnce && text !== undefined && text.length <= MAX_AT_ONCE) {
    const bytes = encoder.encode(text)
    const isShort = bytes.length < least
    return isShort ? varied(response) : inCoding(() => compressedAtOnce(bytes, coding))
  }
  if (!response.body) return varied(response)
  const reader = (response.body as ReadableStream<Bytes>).getReader()
  const { parts, isWhole, next } = await beginningOf(reader, least)
  if (isWhole) return withWhole(response, parts)
  return inCoding(() => compressed(streamOf(parts, next, reader), coding))
}

/** `response` with a body that has been read and is too short to compress. */
function withWhole(response: Response, parts: readonly Bytes[]): Response {
  const length = String(parts.reduce((sum, part) => sum + part.length, 0))
  const body = new Blob([...parts])
  return withHeaders(response, (headers) => headers.set('Content-Length', length), body)
}

function encoded(headers: Headers, coding: string): void {
  headers.set('Content-Encoding', coding)
  headers.delete('Content-Length')
  const tag = headers.get('etag')
  if (tag) headers.set('ETag', codedTag(tag, coding))
}

/** `response` with other headers, and perhaps another body, that says what it depends on. */
function withHeaders(
  response: Response,
  change: (headers: Headers) => unknown,
  body: BodyInit | null = response.body,
): Response {
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  change(headers)
  // `encodeBody`: on Workers, the body is in its coding already.
  const init = { status, statusText, headers, encodeBody: 'manual' }
  const made = new Response(body, init)
  addVary(made, 'Accept-Encoding')
  return made
}

/** `response`, which says what it depends on. A copy would not know how long its body is. */
function varied(response: Response): Response {
  try {
    addVary(response, 'Accept-Encoding')
    return response
  } catch {
    // Its headers cannot be changed.
    return withHeaders(response, () => {})
  }
}

type Reader = ReadableStreamDefaultReader<Bytes>

interface Beginning {
  readonly parts: Bytes[]
  /** Whether there is no more. */
  readonly isWhole: boolean
  /** What has been asked for, and is not there yet. */
  readonly next?: ReturnType<Reader['read']>
}

/** At least `least` bytes, or all. What comes slowly is not waited for: it is a stream, and the client wants to see it. */
async function beginningOf(reader: Reader, least: number): Promise<Beginning> {
  const parts: Bytes[] = []
  const nextTurn = () => new Promise<undefined>((resolve) => setTimeout(resolve))
  for (let size = 0; size < least; ) {
    const next = reader.read()
    const found = size === 0 ? await next : await Promise.race([next, nextTurn()])
    if (found === undefined) return { parts, isWhole: false, next }
    if (found.done) return { parts, isWhole: true }
    parts.push(found.value)
    size += found.value.length
  }
  return { parts, isWhole: false }
}

/** What has been read, then the rest. */
function streamOf(parts: Bytes[], asked: Beginning['next'], reader: Reader): ReadableStream<Bytes> {
  let next = asked
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const part = parts.shift()
        if (part) return controller.enqueue(part)
        const { done, value } = await (next ?? reader.read())
        next = undefined
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
