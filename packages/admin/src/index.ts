/**
 * `fieldgate-admin`: a page on which people read and change the records of an app, as far as they may.
 *
 * @module
 */

import type { Mountable } from '../../../src/index.ts'
import { openapi } from '../../../src/openapi/index.ts'
import { type AdminOptions, checkOptions, providerOf } from './options.ts'
import { assetResponse, pageResponse } from './responses.ts'

export type { AdminOptions, AdminProviderOptions, ResourceOptions } from './options.ts'

type Host = Parameters<Mountable['attach']>[0]
type Routes = ReturnType<Mountable['attach']>
type Handler = Routes[number]['handler']

/**
 * The admin page: `app.mount('/admin', admin())`. It is made from the app's OpenAPI document, and asks the routes of the
 * app as the user who has signed in, so it has no rights of its own. Throws a `TypeError` if an option makes no sense.
 *
 * ```ts
 * app.mount('/admin', admin({ title: 'Atlas' }))
 * ```
 */
export function admin(options: AdminOptions = {}): Mountable {
  checkOptions(options)
  const { title = 'Admin', imageOrigins = [], resources = {} } = options
  const providers = Object.fromEntries(
    Object.entries(options.providers ?? {}).map(([name, one]) => [name, providerOf(name, one)]),
  )
  return {
    attach(host, mount) {
      const page: Handler = (request, { basePath }) => {
        const api = rootFrom(request, basePath)
        const base = `${api}${below(mount)}`
        const document = documentIn(host)
        return pageResponse(request, {
          title,
          imageOrigins,
          assets: `${base}assets`,
          config: {
            ...{ title, resources, providers, api },
            document: document === undefined ? `${base}openapi.json` : `${api}${document}`,
          },
        })
      }
      const asset: Handler = (request) => assetResponse(request, request.params.file ?? '')
      return [
        route('', page),
        route('/assets/:file', asset),
        route('/openapi.json', ownDocument(host, mount, title)),
      ]
    },
  }
}

function route(path: string, handler: Handler): Routes[number] {
  return { method: 'GET', path, guards: [], handler, isUnlisted: true }
}

/** A mount as part of a relative path. */
const below = (mount: string) => (mount === '/' ? '' : `${mount.slice(1)}/`)

/**
 * Where the app begins, seen from the page: by a relative path, as a proxy may have taken off the path that the browser has before
 * the app's. With a base path there is none to take off.
 */
function rootFrom({ url }: Parameters<Handler>[0], basePath: string): string {
  if (basePath !== '') return `${basePath}/`
  const { pathname } = new URL(url)
  return '../'.repeat(pathname.split('/').length - 2) || './'
}

/** The handlers of documents that are made here, which are there only for apps that serve none. */
const own = new WeakSet<Handler>()

/** The path of the document that the app serves by `openapi()`, if it does: below the app's. */
function documentIn({ mounted }: Host): string | undefined {
  const found = mounted.find(({ routes }) =>
    routes.some(({ path, handler }) => path === '/openapi.json' && !own.has(handler)),
  )
  return found && `${below(found.mount)}openapi.json`
}

/** The document, for an app that serves none. */
function ownDocument(host: Host, mount: string, title: string): Handler {
  let made: Handler | undefined
  const handler: Handler = (request, context) => {
    if (documentIn(host) !== undefined) return
    made ??= openapi({ title, version: '1' })
      .attach(host, mount)
      .find(({ path }) => path === '/openapi.json')?.handler
    return made?.(request, context)
  }
  own.add(handler)
  return handler
}
