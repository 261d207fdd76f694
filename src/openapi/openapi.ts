/**
 * `openapi`: serves the document of the app, and a page for people.
 *
 * @module
 */

import { readResponse } from '../cache/respond.ts'
import { HttpError } from '../http/errors.ts'
import type { Host, Mountable } from '../records/engine/host.ts'
import type { Handler, Route } from '../records/engine/route.ts'
import { type DocumentOptions, documentOf, type OpenApiVersion, unlist } from './document.ts'

/**
 * Routes with the document of the app: `GET <mount>/openapi.json`, with `?version=3.1` for tools that do not know 3.2,
 * and a page at `GET <mount>`.
 *
 * ```ts
 * app.mount('/docs', openapi({ title: 'Atlas', version: '1.0' }))
 * ```
 */
export function openapi(options: DocumentOptions): Mountable {
  return {
    attach(host, mount) {
      documentOf({ guards: [], mounted: [] }, options, '3.2')
      served.set(host, options)
      return [
        route('', () => page(options, mount)),
        route('/openapi.json', documentHandler(host, options)),
      ]
    },
  }
}

const served = new WeakMap<Host, DocumentOptions>()

/** The options of the document that an app serves; undefined if it serves none. */
export function servedOptions(host: Host): DocumentOptions | undefined {
  return served.get(host)
}

function route(path: string, handler: Handler): Route {
  return { method: 'GET', path, guards: [], handler: unlist(handler), isRead: true }
}

/** The document is made once, on the first request: more may be mounted before it. */
function documentHandler(host: Host, options: DocumentOptions): Handler {
  const made = new Map<string, string>()
  return (request) => {
    const version = versionIn(request.query.version)
    if (!version) throw new HttpError(400, "'version' must be 3.2 or 3.1.")
    const key = `${version} ${host.mounted.length} ${host.guards.length}`
    const body = made.get(key) ?? JSON.stringify(documentOf(host, options, version))
    made.set(key, body)
    return readResponse(request, { body })
  }
}

/** The version of OpenAPI that a client or a command names; the newest if none, undefined for an unknown one. */
export function versionIn(text: unknown = '3.2'): OpenApiVersion | undefined {
  return text === '3.2' || text === '3.1' ? text : undefined
}

/** A page for people: it links to the document. */
function page({ title, version }: DocumentOptions, mount: string): Response {
  const name = escaped(`${title} ${version}`)
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${name}</title>
<h1>${name}</h1>
<p>The API as <a href="${mount}/openapi.json">OpenAPI 3.2</a>, or <a href="${mount}/openapi.json?version=3.1">3.1</a>.</p>
</html>
`
  return new Response(html, { headers: { 'Content-Type': 'text/html; charset=utf-8' } })
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
