/**
 * `createRouter`: the routes of a resource.
 *
 * This folder knows HTTP, models and ports, but never auth.
 *
 * @module
 */

import type { $ZodObject } from 'zod/v4/core'
import { placeOf } from '../ports/shape.ts'
import type { Fields } from '../ports/store.ts'
import { refuseMiddlewares } from './engine/guards.ts'
import type { Host, Mountable } from './engine/host.ts'
import type { DescribedHandler, Handler, Route, RouteDescription } from './engine/route.ts'
import { cursors } from './list/cursor.ts'
import { listHandler, orFile, planOfBody, planOfUrl, queryHandler } from './list/list.ts'
import { checkEqualities, readParameters } from './list/parameters.ts'
import { readHandler } from './read/read.ts'
import { cacheResponder, type RespondFromCache, withCache } from './read/read-cache.ts'
import { type Action, openAt, showsAll } from './setup/access.ts'
import { withDescription } from './setup/described.ts'
import { indexAdvice } from './setup/index-advice.ts'
import type { RouterOptions } from './setup/options.ts'
import { failAt, type Resource, resolveResource } from './setup/resource.ts'
import type { RouterChoices, RouterInput, ServedRecords } from './setup/served.ts'
import { type Serving, serving } from './setup/serving.ts'
import { createHandler } from './write/create.ts'
import { remove } from './write/remove.ts'
import { updateHandler } from './write/update.ts'

/**
 * Registers an extra route: its path relative to the mount, then guards and the handler, and last a description if you
 * want it validated and described.
 */
export interface AddRoute<T = unknown> {
  // Functions alone come first: the compiler tries these in order, and would take a last handler for a description.
  (path: string, ...handlers: readonly [Handler, ...Handler[]]): Router<T>
  <Q extends $ZodObject | undefined = undefined>(
    path: string,
    handler: DescribedHandler<Q>,
    description: RouteDescription<Q>,
  ): Router<T>
  (path: string, ...handlers: readonly [Handler, ...Handler[], RouteDescription]): Router<T>
}

/** A router for `app.mount`. You can add extra routes to it; they come before `/:id`. */
export interface Router<T = unknown> extends Mountable<T> {
  readonly get: AddRoute<T>
  readonly post: AddRoute<T>
  readonly put: AddRoute<T>
  readonly patch: AddRoute<T>
  readonly delete: AddRoute<T>
  readonly query: AddRoute<T>
  readonly options: AddRoute<T>
}

/** Tells the store of the lists by whose elements clients filter. */
function declareLists(host: Host, { model, query }: Resource): void {
  for (const field of query) {
    const [name, element] = placeOf(model.shape, field)?.parts ?? []
    if (name === field && element === '') host.declareList(model, field)
  }
}

/**
 * The six routes of a model. The compiler and start-up check field lists against the model. Throws a `TypeError` naming
 * the option if an option makes no sense, when the router is mounted.
 *
 * ```ts
 * app.mount('/cities', createRouter({ model: City, query: ['country'], search: ['name'] }))
 * ```
 */
export function createRouter<
  R,
  I = unknown,
  H = unknown,
  const O extends RouterChoices<R> = Record<never, never>,
>(options: RouterInput<R, I, H, O>): Router<ServedRecords<R, I, H, O>> {
  const extra: Route[] = []
  let isAttached = false
  const add =
    (method: string): AddRoute<never> =>
    (path: string, ...given: readonly unknown[]) => {
      if (isAttached) throw new TypeError(`the extra route '${path}' comes after app.mount()`)
      extra.push(extraRoute(method, path, given))
      return router
    }
  const router: Router<never> = {
    get: add('GET'),
    post: add('POST'),
    put: add('PUT'),
    patch: add('PATCH'),
    delete: add('DELETE'),
    query: add('QUERY'),
    options: add('OPTIONS'),
    attach(host, mount) {
      const given = options as unknown as RouterOptions<Fields>
      const resource = withCache(resolveResource(host, mount, given), given)
      checkEqualities(resource.query, failAt(mount))
      declareLists(host, resource)
      const advice = indexAdvice(resource, given.sortableFields ?? [])
      if (advice !== undefined) host.logger.warn(`Router '${mount}': ${advice}`)
      const cached = cacheResponder(resource, given, readParameters)
      const { middlewares, access, scope } = resource
      // When a reference is followed, it is not known who passes the guards of an unlimited router.
      if (scope.read || (middlewares.length === 0 && showsAll(access))) {
        host.declareScope(resource.model, scope.read)
      }
      if (resource.upload) {
        const { prefix, fields } = resource.upload
        const records = resource.engine.stored
        const { shape } = resource.model
        resource.files.add(resource.upload)
        host.filePlaces.push({ prefix, fields: [...fields.keys()], shape, records })
      }
      if (!options.middlewares && !scope.write) host.open.push(...openAt(mount, access))
      isAttached = true
      const guarded = (route: Route) => ({
        ...route,
        guards: [...middlewares, ...route.guards],
        shared: middlewares,
      })
      return [...extra, ...routeTable(host, resource, cached)].map(guarded)
    },
  }
  return router
}

/** The six routes. */
function routeTable(host: Host, resource: Resource, cached: RespondFromCache | undefined): Route[] {
  const tokens = cursors(host.secret)
  const list = (method: string, operation: Serving['operation'], handler: Handler): Route => ({
    method,
    path: '',
    guards: [],
    handler: serving(resource, operation, handler),
  })
  // QUERY only reads the collection, so for it a record's path does not exist.
  const record = (method: string, operation: Serving['operation'], handler: Handler): Route => ({
    ...list(method, operation, handler),
    path: '/:id',
    absent: ['QUERY'],
  })
  const listed = orFile(resource, listHandler(resource, tokens, cached), (request) =>
    planOfUrl(resource, request),
  )
  const queryRoute = {
    ...list(
      'QUERY',
      'query',
      orFile(resource, queryHandler(resource, tokens, cached), (request) =>
        planOfBody(resource, request),
      ),
    ),
    isRead: true,
    acceptQuery: 'application/json',
    viaPost: resource.methodOverride,
  }
  const routes: readonly (readonly [Action, Route])[] = [
    ['list', { ...list('GET', 'list', listed), isRead: true }],
    ['query', queryRoute],
    [
      'create',
      list(
        'POST',
        'create',
        createHandler(resource, () => allowedIn(rows)),
      ),
    ],
    ['read', { ...record('GET', 'read', readHandler(resource, cached)), isRead: true }],
    ['update', record('PATCH', 'update', updateHandler(resource))],
    [
      'remove',
      record('DELETE', 'delete', (request, context) => remove(resource, request, context)),
    ],
  ]
  const rows = routes.flatMap(([action, route]): Route[] => {
    const guards = resource.access[action]
    return guards ? [{ ...route, guards }] : []
  })
  return rows
}

/** The methods of the mount itself. */
function allowedIn(rows: readonly Route[]): string {
  const methods = rows.filter(({ path }) => path === '').map(({ method }) => method)
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort().join(', ')
}

/** `given` is guards, a handler, and perhaps a description. */
function extraRoute(method: string, path: string, given: readonly unknown[]): Route {
  const last = given.at(-1)
  const about = typeof last === 'object' && last !== null ? (last as RouteDescription) : undefined
  const functions = about ? given.slice(0, -1) : given
  const handlers = functions.filter((item) => typeof item === 'function') as Handler[]
  const handler = handlers.at(-1)
  if (!handler || handlers.length < functions.length) {
    throw new TypeError(`the extra route '${path}' needs a handler, a function`)
  }
  refuseMiddlewares(`the extra route '${path}'`, handlers)
  const route = { method, path: extraPath(path), guards: handlers.slice(0, -1), handler }
  return about ? withDescription(route, about) : route
}

function extraPath(path: string): string {
  if (typeof path !== 'string' || !path.startsWith('/')) {
    throw new TypeError(`an extra route's path starts with '/': '${path}'`)
  }
  return path === '/' ? '' : path
}
