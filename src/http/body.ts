/**
 * Reading request bodies, counting bytes.
 *
 * @module
 */

import type { HttpError } from './errors.ts'
import { parseJson } from './json.ts'
import { bodyCutOff, bodyTooLarge, unsupportedBody, unsupportedEncoding } from './refusals.ts'

/** Whether a Content-Type is `application/json` or `application/*+json`. */
export function isJson(contentType: string | null): boolean {
  return (
    contentType !== null && /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i.test(contentType)
  )
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

/** The whole body. Content-Length only refuses early: the bytes that come are counted. */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') throw unsupportedEncoding()
  if (Number(request.headers.get('content-length')) > limit) throw bodyTooLarge(limit)
  return request.body ? collect(request.body.getReader(), limit) : new Uint8Array()
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for (let next = await read(reader); !next.done; next = await read(reader)) {
    size += next.value.length
    if (size > limit) {
      reader.cancel().catch(() => {})
      throw bodyTooLarge(limit)
    }
    chunks.push(next.value)
  }
  const [only] = chunks
  return chunks.length === 1 && only ? only : joined(chunks, size)
}

/** The runtime's error when a client goes away in the middle of its body is no failure of ours. */
async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await reader.read()
  } catch (error) {
    throw bodyCutOff(error)
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}
