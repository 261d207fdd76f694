/** Applies the body limits to all code that reads the body: guards, hooks and handlers, by any method. */

import { bodyTooLarge, invalidForm, unsupportedBody } from '../errors/refusals.ts'
import { assignBody, shieldedBody } from '../request/shield.ts'
import { type BodyLimits, chunksOf, parseJson, rawBody, readBytes, refuseEncoded } from './body.ts'

const LIMITS = Symbol('limits')
const STREAM = Symbol('stream')

interface Limited extends Request {
  [LIMITS]: BodyLimits
  [STREAM]?: ReadableStream<Uint8Array> | null
}

/**
 * Puts `limits` on every way of reading the body of `request`: beyond them, reading rejects with an `HttpError`, 413 or
 * 408, and `json()` with a 400 if the body is not JSON. Nothing is read or wrapped until the first call.
 *
 * The methods are set on the request itself, because your code gets this very object from the runtime.
 */
export function limitBody(request: Request, limits: BodyLimits): void {
  try {
    // Descriptors take ten times as long.
    Object.assign(request, METHODS)
  } catch {
    // Hono's requests have methods that are read-only.
    Object.defineProperties(request, READ_ONLY)
  }
  Object.defineProperty(request, 'body', BODY)
  ;(request as Limited)[LIMITS] = limits
}

const BODY: PropertyDescriptor & ThisType<Limited> = {
  configurable: true,
  get() {
    // Always the same stream, as in the platform's Request.
    if (this[STREAM] === undefined) this[STREAM] = limitedStream(this)
    return shieldedBody(this, this[STREAM])
  },
  set: assignBody,
}

const METHODS: object & ThisType<Limited> = {
  async arrayBuffer() {
    return bufferOf(await bytesOf(this))
  },
  async blob() {
    const bytes = await bytesOf(this)
    return new Blob([bufferOf(bytes)], { type: this.headers.get('content-type') ?? '' })
  },
  async bytes() {
    // Not the `Buffer` that Node has read, whose methods are others.
    return new Uint8Array(bufferOf(await bytesOf(this)))
  },
  /** A copy with limits of its own: the platform copies the raw body, without the limits. */
  clone() {
    Reflect.deleteProperty(this, 'body')
    try {
      const { clone } = Object.getPrototypeOf(this) as Request
      const copy = clone.call(this)
      limitBody(copy, this[LIMITS])
      return copy
    } finally {
      Object.defineProperty(this, 'body', BODY)
      // The stream made before the copy now leads to one that the platform has taken over.
      Reflect.deleteProperty(this, STREAM)
    }
  },
  async formData() {
    const type = this.headers.get('content-type') ?? ''
    if (!FORM.test(type)) {
      throw unsupportedBody('multipart/form-data or application/x-www-form-urlencoded')
    }
    refuseEncoded(this.headers.get('content-encoding'))
    const bytes = await bytesOf(this)
    try {
      return await new Response(bufferOf(bytes), { headers: { 'content-type': type } }).formData()
    } catch (cause) {
      throw invalidForm(cause)
    }
  },
  async json() {
    refuseEncoded(this.headers.get('content-encoding'))
    return parseJson(await bytesOf(this), this[LIMITS].maxBodyValues)
  },
  async text() {
    return new TextDecoder().decode(await bytesOf(this))
  },
  /** On platforms that have it, such as Node 26, it would read the raw body. */
  textStream() {
    return (this.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream())
  },
}

const READ_ONLY = Object.getOwnPropertyDescriptors(METHODS)

function bytesOf(request: Limited): Promise<Uint8Array> {
  return readBytes(request, request[LIMITS], request.headers.get('content-length'))
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  const { buffer, byteLength } = bytes
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
  return isWhole ? buffer : new Uint8Array(bytes).buffer
}

const FORM = /^(?:multipart\/form-data|application\/x-www-form-urlencoded)\s*(?:;|$)/i

function limitedStream(request: Limited): ReadableStream<Uint8Array> | null {
  if (!rawBody(request)) return null
  const { maxBodySize, bodyTimeoutMs } = request[LIMITS]
  let chunks: ReturnType<typeof chunksOf> | undefined
  let left = maxBodySize
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (Number(request.headers.get('content-length')) > maxBodySize) {
            throw bodyTooLarge(maxBodySize)
          }
          chunks ??= chunksOf(request, bodyTimeoutMs)
          const part = await chunks?.next()
          if (!part || part.done) {
            chunks?.stop()
            return controller.close()
          }
          left -= part.value.length
          if (left < 0) throw bodyTooLarge(maxBodySize)
          controller.enqueue(part.value)
        } catch (error) {
          chunks?.stop()
          void chunks?.drop()
          controller.error(error)
        }
      },
      // Nothing more is read of the body; the runtime deals with the connection.
      cancel: () => chunks?.stop(),
    },
    { highWaterMark: 0 },
  )
}
