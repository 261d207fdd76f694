/** `createRouter`: the routes of a resource. This folder knows HTTP, models and ports, but never auth. */

import { respondToRead } from '../cache/conditional.ts'
import type { Fail } from '../model/option-rules.ts'
import { noSuchField } from '../model/suggest.ts'
import type { Fields } from '../ports/store/records.ts'
import { placeOf } from '../ports/store/shape.ts'
import { describeGuard } from './engine/guards.ts'
import type { Host, Mountable } from './engine/host.ts'
import type { Guard, Handler, Route } from './engine/route.ts'
import { type AddRoutes, addingRoutes } from './extra-routes.ts'
import { type Cursors, cursors } from './list/cursor.ts'
import { listHandler, type OtherForm, orOther } from './list/list.ts'
import { checkEqualities, readParameters } from './list/parameters.ts'
import type { ListAction } from './list/parse.ts'
import { readHandler } from './read/read.ts'
import type { RespondFromCache } from './read/read-cache.ts'
import { type Action, openAt, showsAll } from './setup/access.ts'
import { served } from './setup/described.ts'
import { indexAdvice } from './setup/index-advice.ts'
import type { RouterOptions } from './setup/options.ts'
import { failAt, type Resource, resolveResource } from './setup/resource.ts'
import type { RouterChoices, RouterInput, ServedRecords } from './setup/served.ts'
import { type Serving, serving } from './setup/serving.ts'
import { createHandler } from './write/create.ts'
import { remove } from './write/remove.ts'
import { update } from './write/update.ts'

/** A router for `app.mount`. You can add extra routes to it; they come before `/:id`. */
export interface Router<T = unknown> extends Mountable<T>, AddRoutes {}

/** Tells the store of the lists by whose elements clients filter. */
function declareLists(host: Host, { model, query }: Resource): void {
  for (const field of query) {
    const [name, element] = placeOf(model.shape, field)?.parts ?? []
    if (name === field && element === '') host.declareList(model, field)
  }
}

/**
 * The routes of a model. The compiler and start-up check field lists against the model. Throws a `TypeError` naming
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
  const add = (route: Route): unknown => {
    if (isAttached) throw new TypeError(`the extra route '${route.path}' comes after app.mount()`)
    extra.push(route)
    return router
  }
  const router: Router<never> = {
    ...addingRoutes(add),
    attach(host, mount) {
      const given = ownedOptions(host, options as never as RouterOptions<Fields>, failAt(mount))
      const uncached = resolveResource(host, mount, given)
      const caching = host.parts.caching?.reads as typeof import('./read/read-cache.ts') | undefined
      const kept = caching?.cachedReads(uncached, given, readParameters)
      // No copy: what a request may see is known by this very object.
      const resource = Object.assign(uncached, { cache: kept?.cache })
      checkEqualities(resource.query, failAt(mount))
      declareLists(host, resource)
      const advice = indexAdvice(resource, given.sortableFields ?? [])
      if (advice !== undefined) host.logger.warn(`Router '${mount}': ${advice}`)
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
      if (!given.middlewares && !scope.write) host.open.push(...openAt(mount, access))
      isAttached = true
      const guarded = (route: Route) => ({
        ...route,
        guards: [...middlewares, ...route.guards],
        shared: middlewares,
      })
      const own = extra.map((route) => served(route, mount, host))
      return [...own, ...routeTable(host, resource, kept?.respond)].map(guarded)
    },
  }
  return router
}

/** `options` with what `ownedBy` stands for: only users of the referenced accounts pass, each to their own records. */
function ownedOptions(
  host: Host,
  options: RouterOptions<Fields>,
  fail: Fail,
): RouterOptions<Fields> {
  const { ownedBy, model, scope, middlewares = [] } = options ?? {}
  if (ownedBy === undefined || !model?.shape) return options
  if (scope) fail(`'ownedBy' is a scope: leave out 'scope'`)
  const shape = model.shape.fields.get(ownedBy) ?? fail(noSuchField('ownedBy', ownedBy, model))
  const { ref } = shape.kind === 'id' ? shape : {}
  if (ref === undefined) {
    return fail(`'ownedBy' names '${ownedBy}', which is no reference. Declare it as ref('User')`)
  }
  const accounts = () => {
    const owner = host.modelNamed(ref)
    return owner && host.accounts.get(owner)
  }
  host.onReady(() => {
    if (!accounts()) {
      fail(
        `'ownedBy' names '${ownedBy}', but the app has no accounts of the model '${ref}'. Mount the router of createAuthRouter`,
      )
    }
  })
  const signedIn: Guard = (request, context) => accounts()?.(request, context)
  return {
    ...options,
    middlewares: [describeGuard(signedIn, 'signed in', { token: 'required' }), ...middlewares],
    scope: ({ auth }) => ({ [ownedBy]: auth?.userId }),
  }
}

function rowsOf(resource: Resource) {
  return (
    method: string,
    operation: Serving['operation'],
    handler: Handler,
    more: Partial<Route> = {},
  ): Route => ({
    ...{ method, path: '', guards: [], handler: serving(resource, operation, handler) },
    ...more,
  })
}

function routeTable(host: Host, resource: Resource, cached: RespondFromCache | undefined): Route[] {
  const tokens = cursors(host.secret)
  const row = rowsOf(resource)
  const inOtherForm = (action: ListAction): OtherForm => {
    return async (...asked) => {
      const live = (await host.parts.live?.()) as typeof import('./live/open.ts') | undefined
      const stream = await live?.streamOf(resource, action, ...asked)
      if (stream) return stream
      const files = (await host.parts.exports?.()) as typeof import('./list/export.ts') | undefined
      return files?.fileOf(resource, action, ...asked)
    }
  }
  const lists = (action: ListAction) =>
    orOther(resource, listHandler(resource, action, tokens, cached), inOtherForm(action))
  const queried = { acceptQuery: 'application/json', viaPost: resource.methodOverride }
  const create = createHandler(resource, () => allowedIn(rows))
  // QUERY only reads the collection, so for it a record's path does not exist.
  const one = { path: '/:id', absent: ['QUERY'] }
  const routes: readonly (readonly [Action, Route])[] = [
    ['list', row('GET', 'list', lists('list'))],
    ['query', row('QUERY', 'query', lists('query'), queried)],
    ['create', row('POST', 'create', create)],
    ['read', row('GET', 'read', readHandler(resource, cached), one)],
    ['update', row('PATCH', 'update', update.bind(undefined, resource), one)],
    ['remove', row('DELETE', 'delete', remove.bind(undefined, resource), one)],
    ...historyRoutes(resource, tokens),
  ]
  const rows = routes.flatMap(([action, route]): Route[] => {
    const guards = resource.access[action]
    // What restores a record writes it, so that its guards come after those.
    return guards ? [{ ...route, guards: [...guards, ...route.guards] }] : []
  })
  return rows
}

/** The routes of what happened to a record. A router without them needs none of their code. */
function historyRoutes(resource: Resource, tokens: Cursors): (readonly [Action, Route])[] {
  const load = async () => resource.host.parts.history?.()
  const history: Handler = async (request, context) => {
    const { readHistory } = (await load()) as typeof import('./history/history.ts')
    return respondToRead(request, readHistory(resource, tokens, request, context))
  }
  const restore: Handler = async (request, context) =>
    ((await load()) as typeof import('./history/restore.ts')).restore(resource, request, context)
  const row = rowsOf(resource)
  const guards = resource.access.update || []
  return [
    ['history', row('GET', 'history', history, { path: '/:id/history' })],
    ['restore', row('POST', 'restore', restore, { path: '/:id/restore', guards })],
  ]
}

/** The methods of the mount itself. */
function allowedIn(rows: readonly Route[]): string {
  const methods = rows.filter(({ path }) => path === '').map(({ method }) => method)
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort().join(', ')
}
