import { referenceScript } from '#reference'
import { isKnownToClient, respondToRead } from '../cache/conditional.ts'
import { badRequest } from '../http/errors/errors.ts'
import { notFound } from '../http/errors/refusals.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { qualitiesIn } from '../http/response/qualities.ts'
import { emptyResponse } from '../http/response/respond.ts'
import type { ReferenceScript } from '../ports/services/reference-script.ts'
import { startedOnce } from '../ports/values/once.ts'
import type { Host, Mountable } from '../records/engine/host.ts'
import type { Handler, Route } from '../records/engine/route.ts'
import { checkOptions, type DocumentOptions, documentOf, type OpenApiVersion } from './document.ts'
import { pageResponse } from './page.ts'

/** What `openapi` takes. */
export interface OpenApiOptions extends DocumentOptions {
  /**
   * The path of the page's script, for runtimes that cannot read it from the package, like Workers: where your static
   * assets have `@scalar/api-reference/dist/browser/standalone.js`, e.g. `/scalar.js`.
   */
  readonly script?: string
}

/**
 * Routes with the document of the app: `GET <mount>/openapi.json`, with `?version=3.1` for tools that do not know 3.2,
 * and a page for people at `GET <mount>`. The page is Scalar if `@scalar/api-reference` is installed, and asks no other
 * origin. Throws a `TypeError` if an option makes no sense.
 *
 * ```ts
 * app.mount('/docs', openapi({ title: 'Atlas', version: '1.0' }))
 * ```
 */
export function openapi(options: OpenApiOptions): Mountable {
  checkOptions(options ?? {}, '3.2')
  const { title, version, servers = [], script: path } = options
  if (path !== undefined && !/^\/[^/\\]/.test(path)) {
    throw new TypeError(`openapi: 'script' must be a path like '/scalar.js' (got '${path}')`)
  }
  const ownScript = startedOnce(referenceScript)
  return {
    attach(host, mount) {
      served.set(host, options)
      const base = mount === '/' ? '' : mount
      const pageHandler: Handler = async (_, { basePath }) => {
        const own = path === undefined ? await ownScript() : undefined
        return pageResponse({
          title: `${title} ${version}`,
          document: `${basePath}${base}/openapi.json`,
          script: own ? `${basePath}${base}/assets/${fileNameOf(own)}` : path,
          servers,
        })
      }
      const scriptHandler: Handler = async (request) => {
        const own = await ownScript()
        if (own === undefined || request.params.file !== fileNameOf(own)) throw notFound()
        return scriptResponse(request, own)
      }
      return [
        route('', pageHandler),
        route('/openapi.json', documentHandler(host, options)),
        route('/assets/:file', scriptHandler),
      ]
    },
  }
}

const served = new WeakMap<Host, DocumentOptions>()

export function servedOptions(host: Host): DocumentOptions | undefined {
  return served.get(host)
}

function route(path: string, handler: Handler): Route {
  return { method: 'GET', path, guards: [], handler, isUnlisted: true }
}

/**
 * The document is made once, on the first request: more may be mounted before it. Where Express mounts the app, clients may
 * choose a part of the path, so documents for paths are not kept.
 */
function documentHandler(host: Host, options: DocumentOptions): Handler {
  const made = new Map<string, string>()
  return (request, { basePath }) => {
    const version = versionIn(request.query.version)
    if (!version) throw badRequest('unknown-version', "'version' must be 3.2 or 3.1.")
    const key = `${version} ${host.mounted.length} ${host.guards.length}`
    const known = made.get(key) ?? JSON.stringify(documentOf(host, options, version))
    made.set(key, known)
    const isBelow = basePath !== host.basePath && !options.servers
    const servers = [{ url: basePath }]
    const body = isBelow ? JSON.stringify({ ...JSON.parse(known), servers }) : known
    return respondToRead(request, { body })
  }
}

/** The version of OpenAPI that a client or a command names; the newest if none, undefined for an unknown one. */
export function versionIn(text: unknown = '3.2'): OpenApiVersion | undefined {
  return text === '3.2' || text === '3.1' ? text : undefined
}

/** The name of the script's file, which changes with its version. */
function fileNameOf({ version }: ReferenceScript): string {
  return `scalar-${version}.js`
}

/** The response with the script. Clients may keep it for a year, because another version has another address. */
async function scriptResponse(
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
