/** The reads of a router through the response cache. */

import { CachedReads, type Loaded } from '../../cache/cached.ts'
import type { ReadRequest } from '../../cache/key.ts'
import { type CacheSettings, resolveCache } from '../../cache/options.ts'
import { type ApiRequest, noQuery, type Query } from '../../http/request/request.ts'
import { referenceAt } from '../../model/model.ts'
import { referencesOf } from '../../model/shape/reference.ts'
import type { MaybePromise } from '../../ports/promises/maybe-promise.ts'
import type { Fields } from '../../ports/store/records.ts'
import { pathOf } from '../../ports/values/paths.ts'
import type { Context } from '../engine/route.ts'
import { readableFields } from '../rules/fields-for.ts'
import { scopeOf, visibleThroughReference } from '../rules/scope.ts'
import type { RouterOptions } from '../setup/options.ts'
import { failAt, type Resource } from '../setup/resource.ts'
import { digestOf, shownBy } from './shown-by.ts'

/** Responds to a read from the cache, given what it asks for and a function that does the read. */
export type RespondFromCache = (
  request: ApiRequest,
  context: Context,
  asked: Pick<ReadRequest, 'kind' | 'body'>,
  load: () => MaybePromise<Loaded>,
) => MaybePromise<Response>

/** A router's cache, if it has one; `readParameters` are those that a list reads. Throws a `TypeError` for the option. */
export function cachedReads(
  resource: Resource,
  options: RouterOptions<Fields>,
  readParameters: (query: Query, equalities: readonly string[]) => Query,
): { readonly cache: CacheSettings; readonly respond: RespondFromCache } | undefined {
  const { host, mount, upload } = resource
  const given = resolveCache(options.cache, host, failAt(mount))
  if (!given) return undefined
  // Links are signed for longer by the time that they are kept: they must not last much longer than configured.
  const ttl =
    upload?.signUrls === undefined ? given.ttl : Math.min(given.ttl, Math.ceil(upload.signUrls / 2))
  const cache = { ...given, ttl }
  const targets = targetsOf(resource)
  const isLimited =
    resource.scope.read !== undefined || resource.fieldsFor !== undefined || targets.length > 0
  // All parameters if `onGet` sees the request, else only those that are read. The key has what `scope` and `vary` return.
  const parametersOf = ({ kind }: Pick<ReadRequest, 'kind'>, { query }: ApiRequest): Query => {
    if (resource.onGet) return query
    if (kind === 'list') return readParameters(query, resource.query)
    if (kind === 'query' || query === noQuery) return noQuery
    const chosen = Object.entries(query).filter(([name]) => /^(?:select|expand)(?:\[|$)/.test(name))
    return Object.fromEntries(chosen)
  }
  let router: string | undefined
  const cached = new CachedReads({
    settings: cache,
    space: host.cacheSpace(cache),
    // Computed on the first request: the targets of references may be defined after the mount.
    get router() {
      router ??= fingerprint(resource, options, targets)
      return router
    },
    models: [...new Set([resource.model.name, ...targets])],
  })
  const respond: RespondFromCache = (request, context, asked, load) =>
    cached.respond(request, context, {
      asked: { ...asked, path: pathOf(request.url), query: parametersOf(asked, request) },
      limits: () => (isLimited ? limitsOf(resource, targets, request) : null),
      load,
    })
  return { cache, respond }
}

/** Every limit on what the request may see: the router's scope and fields, and the records behind references. */
async function limitsOf(
  resource: Resource,
  targets: readonly string[],
  request: ApiRequest,
): Promise<unknown> {
  const { host, model, scope } = resource
  const own = (await scopeOf(model, scope.read, request)).filter
  const fields = await readableFields(resource, request)
  const others = targets.map(async (name) => {
    const target = host.modelNamed(name)
    if (!target) return undefined
    const seen = [...(host.shownThrough(target, request) ?? [])]
    return [await visibleThroughReference(host, target, request), seen]
  })
  return [own, fields ? [...fields] : null, ...(await Promise.all(others))]
}

/** The models that responses are read from through references; `onGet` may fill in any of the model's own. */
function targetsOf({ host, model, search, onGet, expandable }: Resource): readonly string[] {
  const searched = search.flatMap((field) =>
    'reference' in field ? [referenceAt(model, field.reference) ?? []].flat() : [],
  )
  const expanded = [...expandable.values()].flatMap(({ path, inner }) => {
    const name = referenceAt(model, path)
    const target = inner !== undefined && name !== undefined && host.modelNamed(name)
    return [name ?? [], (target && referenceAt(target, inner)) || []].flat()
  })
  const filled = onGet ? referencesOf(model).map(([, name]) => name) : []
  return [...new Set([...searched, ...expanded, ...filled])]
}

/**
 * What shapes the router's responses besides the request. A deployment that hides a field, or shows less, must not use
 * responses cached by the previous one.
 */
function fingerprint(
  { host, mount, model }: Resource,
  options: RouterOptions<Fields>,
  targets: readonly string[],
): string {
  const { model: _, cache, middlewares, access, ...shaping } = options
  const vary = typeof cache === 'object' ? cache.vary : undefined
  const models = [model, ...targets.map((name) => host.modelNamed(name))].map(
    (one) => one && shownBy(one),
  )
  return digestOf([mount, models, shaping, vary])
}
