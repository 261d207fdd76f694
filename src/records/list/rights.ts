/** What the client of a live list or a file may see: asked as for a request of its own, again and again. */

import { refusal } from '../../http/errors/errors.ts'
import { begun } from '../../http/request/given-auth.ts'
import { partRequest } from '../../http/request/part-request.ts'
import { type ApiRequest, noteBasePath, parseQuery } from '../../http/request/request.ts'
import { withShield } from '../../http/request/shield.ts'
import { isResponse } from '../../http/response/respond.ts'
import type { Repeatable } from '../../ports/services/body-source.ts'
import { all, type Filter, type SortKey } from '../../ports/store/filter.ts'
import type { TimedContext } from '../engine/host.ts'
import type { Context, Guard } from '../engine/route.ts'
import { showsFor } from '../read/read.ts'
import { digestOf, shownBy } from '../read/shown-by.ts'
import { viewFor } from '../read/view.ts'
import { scopeOf, visibleThroughReference } from '../rules/scope.ts'
import type { Population, Resource, View } from '../setup/resource.ts'
import { type ListAction, planFor } from './parse.ts'
import type { ListPlan } from './plan.ts'
import { searchFilter } from './search.ts'

/** How long it may take to find out what a client may see, in milliseconds. */
const LIMIT_MS = 10_000

export interface Rights {
  /** As if the client had sent it just now; undefined if showing records takes none, as there may be many lists. */
  readonly request: ApiRequest | undefined
  readonly userId: string | undefined
  readonly filter: Filter
  readonly sort: readonly SortKey[]
  readonly view: View
  /** When that was asked, by `performance.now()`. */
  readonly askedAt: number
  /** Which records it may see, and how, as a text that changes when the rules do; empty if there are none. */
  readonly rules: string
  /** Which of the records that are filled in it may see, in the same way. */
  readonly reach: string
}

export interface Asker {
  /** Finds out what it may see now. Rejects with what refuses it. */
  ask(): Promise<Rights>
  /** Gives up what has been asked for too long: with many lists, a timer for each would cost more than to ask. */
  giveUp(now: number): void
  /** A request like the one that it has sent. */
  request(): ApiRequest
}

export interface Asked {
  readonly request: ApiRequest
  readonly context: Context
  /** What its body said, if it is a QUERY. */
  readonly body: unknown
}

/** A response of a guard, instead of a list. */
export class GuardResponse extends Error {
  readonly response: Response

  constructor(response: Response) {
    super('a guard has responded')
    this.response = response
  }
}

/**
 * What asks again for the client of a request. It keeps neither that nor its context, which are large. `check` throws if a
 * list cannot be followed; undefined for a file, which a token need not outlive.
 */
export function askerFor(
  resource: Resource,
  action: ListAction,
  { request: whole, context, body }: Asked,
  check?: (plan: ListPlan, names: readonly string[]) => void,
): Asker {
  const { host } = resource
  const follower = host.follower(context)
  const request = repeaterOf(whole, context.basePath, body)
  // They do not change once a request has come.
  const guards = guardsOf(resource, action)
  /** What it asks for, if nothing that changes decides whether it may. */
  let known: ListPlan | undefined
  const beganAt = host.now()
  let hasAsked = false
  let asking: { readonly context: TimedContext; readonly since: number } | undefined
  const answer = async (again: ApiRequest, own: Context, askedAt: number) => {
    const refused = await follower.admit(guards, again, own)
    if (isResponse(refused)) throw new GuardResponse(refused)
    if (refused !== undefined) throw refusal('internal-error', 500, 'Internal Server Error')
    const plan = known ?? (await planFor(resource, action, again, body))
    if (!known) check?.(plan, action === 'list' ? Object.keys(again.query) : [])
    if (!resource.fieldsFor) known = plan
    return rightsOf(resource, plan, again, own, askedAt)
  }
  return {
    request,
    async ask() {
      const since = performance.now()
      const again = request()
      // Its headers go nowhere: the response has begun.
      const own = follower.contextOf(again, LIMIT_MS)
      // Who waits for the first answer calls nothing meanwhile.
      if (!check || !hasAsked) own.start(() => {})
      if (!check) begun.set(again, beganAt)
      hasAsked = true
      asking = { context: own, since }
      try {
        return await own.within(() => answer(again, own, since))
      } finally {
        asking = undefined
        own.conclude()
      }
    },
    giveUp(now) {
      if (asking && now - asking.since > LIMIT_MS) asking.context.expire()
    },
  }
}

/** The guards of a list in the order in which a request meets them, without those that count requests. */
export function guardsOf(
  { host, middlewares, access }: Resource,
  action: ListAction,
): readonly Guard[] {
  const all = [...host.guards, ...middlewares, ...(access[action] || [])]
  const again = all.filter((guard) => !guard.once)
  return [...again.filter(({ late }) => !late), ...again.filter(({ late }) => late)]
}

/** What makes requests like the one that was sent. */
function repeaterOf(whole: ApiRequest, basePath: string, body: unknown): () => ApiRequest {
  // The URL is another one once the response is there, if the app has a path of its own.
  const { method, url, headers, requestId, params, route, traceId } = whole
  const repeat = method !== 'QUERY' && (whole as Partial<Repeatable>).repeater?.()
  if (repeat) {
    const query = parseQuery(url)
    return () => {
      const request = repeat()
      Object.defineProperty(request, 'url', { value: url })
      Object.assign(request, { requestId, params, route })
      if (traceId !== undefined) Object.assign(request, { traceId })
      // A guard that changes it is refused.
      withShield(request, query)
      noteBasePath(request as ApiRequest, basePath)
      return request as ApiRequest
    }
  }
  const { pathname, search } = new URL(url, 'http://localhost')
  const from = { url, headers: [...headers], requestId, traceId }
  return () => {
    const request = partRequest(from, { method, path: pathname + search, params, route, body })
    noteBasePath(request, basePath)
    return request
  }
}

/** What a request that the guards have let pass may see of the list that it asks for. */
export async function rightsOf(
  resource: Resource,
  plan: ListPlan,
  request: ApiRequest,
  context: Context,
  askedAt: number,
): Promise<Rights> {
  const { filter: scope } = await scopeOf(resource.model, resource.scope.read, request)
  const view = await viewFor(resource, request, context, plan.choice)
  const filter = all([scope, plan.filter, await searchFilter(resource, plan, request)])
  const reach = filledIn(view).map(async ({ target, select }) => [
    await visibleThroughReference(resource.host, target, request),
    select,
  ])
  const isRuled = !resource.isUnlimited || resource.onGet !== undefined
  return {
    request: showsFor({ resource, view, request }) ? request : undefined,
    userId: request.auth?.userId,
    filter,
    sort: plan.sort,
    view,
    askedAt,
    rules: isRuled ? rulesOf(scope, plan, view) : '',
    reach: JSON.stringify(await Promise.all(reach)),
  }
}

/** The references that are filled in, and those inside of their records. */
function filledIn({ populate }: View): readonly Population[] {
  return populate.flatMap((one) => [one, ...(one.populate ?? [])])
}

/** Which records of a list are seen, and how, as a text: a field that is withheld is neither filtered nor searched by. */
function rulesOf(
  scope: Filter,
  { filter, searched }: ListPlan,
  { select, populate }: View,
): string {
  const filled = populate.map((one) => [one.path, one.select])
  return JSON.stringify([scope, filter, searched, select, filled])
}

/**
 * The rules as a short text, with how this version of the app shows records, its own and those that are filled in; empty if
 * there are none: ids of events are then positions, and nothing else.
 */
export function markOf({ model, lean }: Resource, { rules, reach, view }: Rights): string {
  const filled = filledIn(view).map(({ target }) => target)
  if (rules === '' && filled.length === 0) return ''
  return `.${digestOf([rules, reach, lean, [model, ...filled].map(shownBy)]).slice(0, 16)}`
}
