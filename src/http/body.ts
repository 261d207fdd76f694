/**
 * Reading request bodies, counting bytes.
 *
 * @module
 */

import {
  bodyTooLarge,
  invalidJson,
  unsupportedBody,
  unsupportedEncoding,
} from './refusals.ts'
import type { HttpError } from './errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Whether a Content-Type is `application/json` or `application/*+json`. */
export function isJson(contentType: string | null): boolean {
  return contentType !== null && /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i.test(contentType)
}

/**
 * The request's JSON body, `undefined` when it has none. Throws 415 for another media type (`refuse` gives
 * the refusal), 413 over `limit` bytes, 400 for anything that is not JSON in UTF-8.
 */
export async function readJson(
  request: Request,
  limit: number,
  refuse: () => HttpError = () => unsupportedBody('application/json'),
): Promise<unknown> {
  const contentType = request.headers.get('content-type')
  const json = isJson(contentType)
  if (contentType !== null && !json) throw refuse()
  const bytes = await readBytes(request, limit)
  if (bytes.length === 0) return undefined
  if (!json) throw refuse()
  return parseJson(bytes)
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw invalidJson()
  }
}

/** The whole body. Content-Length only refuses early: the bytes that come are counted. */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') throw unsupportedEncoding()
  const declared = request.headers.get('content-length')
  if (declared === '0') return new Uint8Array()
  if (declared !== null && Number(declared) > limit) throw bodyTooLarge(limit)
  if (declared !== null) {
    // The runtime ends the body at its declared length, so it may be read whole.
    const bytes = new Uint8Array(await request.arrayBuffer())
    if (bytes.length > limit) throw bodyTooLarge(limit)
    return bytes
  }
  return request.body ? collect(request.body, limit) : new Uint8Array()
}

async function collect(body: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > limit) throw bodyTooLarge(limit)
    chunks.push(chunk)
  }
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}
