/**
 * The script of the reference page, served by the app itself.
 *
 * @module
 */

import { isKnownToClient } from '../cache/conditional.ts'
import { qualitiesIn } from '../http/qualities.ts'
import type { ApiRequest } from '../http/request.ts'
import { emptyResponse } from '../http/respond.ts'
import type { ReferenceScript } from '../ports/reference-script.ts'

/** The name of the script's file, which changes with its version. */
export function fileNameOf({ version }: ReferenceScript): string {
  return `scalar-${version}.js`
}

/** The response with the script. Clients may keep it for a year, because another version has another address. */
export async function scriptResponse(
  { headers: asked }: ApiRequest,
  script: ReferenceScript,
): Promise<Response> {
  const isZipped = (qualitiesIn(asked.get('accept-encoding') ?? '').get('gzip') ?? 0) > 0
  const etag = `"${script.version}${isZipped ? '-gzip' : ''}"`
  const headers = {
    'Cache-Control': 'public, max-age=31536000, immutable',
    ETag: etag,
    Vary: 'Accept-Encoding',
  }
  if (isKnownToClient(asked, etag)) return emptyResponse(304, headers)
  return new Response(await (isZipped ? script.gzipped() : script.read()), {
    headers: {
      ...headers,
      'Content-Type': 'text/javascript; charset=utf-8',
      ...(isZipped && { 'Content-Encoding': 'gzip' }),
    },
  })
}
