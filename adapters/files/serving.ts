/** One stored object as an HTTP response: ranges, conditions, and headers that keep a browser from running it. */

import { type FileMeta, RangeNotSatisfiable } from '../../src/ports/services/files.ts'

export interface ServedObject extends FileMeta {
  /** Changes with the bytes; quoted. */
  readonly etag: string
  /** Epoch milliseconds. */
  readonly storedAt: number
  /** The bytes from `start` up to, but not including, `end`; undefined if the object has gone since it was found. */
  read(start: number, end: number): Promise<ReadableStream<Uint8Array> | undefined>
}

/** The response to GET and HEAD of `object` (RFC 9110), unless it has gone. Throws `RangeNotSatisfiable`. */
export async function serveObject(
  request: Request,
  object: ServedObject,
): Promise<Response | undefined> {
  const headers = headersOf(object)
  if (isUnchanged(request, object)) return new Response(null, { status: 304, headers })
  headers.set('Content-Type', object.contentType)
  headers.set('Content-Disposition', object.contentDisposition)
  const range = request.method === 'GET' ? rangeOf(request, object) : undefined
  const [start, end] = range ?? [0, object.size]
  headers.set('Content-Length', String(end - start))
  if (range) headers.set('Content-Range', `bytes ${start}-${end - 1}/${object.size}`)
  const body = request.method === 'GET' && end > start ? await object.read(start, end) : null
  if (body === undefined) return undefined
  return new Response(body, { status: range ? 206 : 200, headers })
}

function headersOf(object: ServedObject): Headers {
  const isPublic = object.acl === 'public-read'
  return new Headers({
    ETag: object.etag,
    'Last-Modified': lastModifiedOf(object),
    'Accept-Ranges': 'bytes',
    // A key never gets other bytes. A private file must be revalidated, so that its link can expire.
    'Cache-Control': isPublic ? 'public, max-age=31536000, immutable' : 'private, no-cache',
    // For anything a client may have uploaded: no guessing of types, no scripts, not the app's origin.
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  })
}

/** A strong validator: a key never gets other bytes (RFC 9110, 8.8.2.2). */
function lastModifiedOf(object: ServedObject): string {
  return new Date(object.storedAt).toUTCString()
}

/** If-None-Match compares weakly and wins over If-Modified-Since (RFC 9110, 13.2.2). */
function isUnchanged(request: Request, object: ServedObject): boolean {
  const none = request.headers.get('if-none-match')
  if (none !== null) {
    const tags = none.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
    return tags.includes('*') || tags.includes(object.etag)
  }
  const since = Date.parse(request.headers.get('if-modified-since') ?? '')
  return Math.floor(object.storedAt / 1000) * 1000 <= since
}

type Range = readonly [start: number, end: number]

/** A single range of bytes; several ranges, other units and invalid ranges mean the whole file. */
function rangeOf(request: Request, object: ServedObject): Range | undefined {
  const asked = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(request.headers.get('range') ?? '')
  if (!asked || !isSame(request.headers.get('if-range'), object)) return undefined
  const { size } = object
  const [, first = '', last = ''] = asked
  if (first === '' && last === '') return undefined
  if (first !== '' && last !== '' && Number(first) > Number(last)) return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (start >= size || start >= end) throw new RangeNotSatisfiable(size)
  return [start, end]
}

/** Whether the object that the client has a part of is the one stored now; a date must be the very text that was sent. */
function isSame(condition: string | null, object: ServedObject): boolean {
  return condition === null || condition === object.etag || condition === lastModifiedOf(object)
}
