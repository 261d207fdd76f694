/**
 * Apps that serve everything below a path of their own, `createApp({ basePath })`.
 *
 * @module
 */

import { pathOf } from '../ports/path-of.ts'
import type { Platform } from './context.ts'
import { routedPath } from './route-table.ts'

type Handle = (request: Request, env?: unknown, platform?: Platform) => Promise<Response>

/**
 * The URL that a request has for an app below `basePath`, as if another server had mounted it there. Undefined if it is
 * elsewhere. What decides is the path that is routed: `/api/../cities` is not below `/api`.
 */
export function urlBelow(basePath: string, request: Request): string | undefined {
  const { url } = request
  if (basePath === '') return url
  const path = routedPath(request)
  if (path !== basePath && !path.startsWith(`${basePath}/`)) return undefined
  const query = url.indexOf('?')
  const origin = url.startsWith('/')
    ? ''
    : url.slice(0, url.indexOf(pathOf(url), url.indexOf('://') + 3))
  return `${origin}${path.slice(basePath.length) || '/'}${query === -1 ? '' : url.slice(query)}`
}

/**
 * Hands requests below `basePath` to `inside`, with the URL that they have there, and all others to `outside`. The URL is
 * what it was once the response is there: a server in front may read it.
 */
export function handleBelow(basePath: string, inside: Handle, outside: Handle): Handle {
  return async (request, env, platform) => {
    const url = urlBelow(basePath, request)
    if (url === undefined) return outside(request, env, platform)
    const own = Object.getOwnPropertyDescriptor(request, 'url')
    Object.defineProperty(request, 'url', { value: url, configurable: true })
    try {
      return await inside(request, env, platform)
    } finally {
      if (own) Object.defineProperty(request, 'url', own)
      else Reflect.deleteProperty(request, 'url')
    }
  }
}
