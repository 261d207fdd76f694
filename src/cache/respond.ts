/**
 * The response to a read: the body with its entity tag, or 304 if the client already has it.
 *
 * @module
 */

import type { ApiRequest } from '../http/request.ts'
import { emptyResponse, jsonResponse } from '../http/respond.ts'
import { isKnownToClient } from './conditional.ts'
import type { Entry } from './entry.ts'
import { etagOf, type Tagged } from './etag.ts'

/** The response to a read that is not cached. */
export function readResponse(request: ApiRequest, loaded: Tagged): Response {
  return entryResponse(request, { body: loaded.body, etag: etagOf(loaded) })
}

/** The response with an entry; `cache` says where it came from. */
export function entryResponse(
  request: ApiRequest,
  { body, etag }: Entry,
  cache?: 'HIT' | 'MISS',
): Response {
  const { headers } = request
  if (headers.has('if-none-match') && isKnownToClient(headers, etag))
    return emptyResponse(304, { ETag: etag })
  return jsonResponse(body, { headers: { ETag: etag, ...(cache && { 'X-Cache': cache }) } })
}
