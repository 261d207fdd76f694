/**
 * What the client of a live list may see: asked as for a request of its own, when it opens the list and again and again.
 *
 * @module
 */

import { Deadline } from '../../http/deadline.ts'
import { HttpError } from '../../http/errors.ts'
import { notAResponse } from '../../http/not-a-response.ts'
import { partRequest } from '../../http/part-request.ts'
import { liveHasNoPages, liveHasNoSelect, liveSearchThroughReference } from '../../http/refusals.ts'
import { type ApiRequest, noteBasePath } from '../../http/request.ts'
import { all, type Filter, type SortKey } from '../../ports/filter.ts'
import type { Context, Guard } from '../engine/route.ts'
import { parseQueryBody, parseUrl } from '../list/parse.ts'
import type { ListPlan } from '../list/plan.ts'
import { rulesFor } from '../list/rules-for.ts'
import { searchFilter } from '../list/search.ts'
import { chosenView } from '../read/choice.ts'
import { viewFor } from '../read/view.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource, View } from '../setup/resource.ts'

/** How long it may take to find out what a client may see, in milliseconds. */
const LIMIT_MS = 10_000

/** What a client may see of a list. */
export interface Rights {
  /** As if the client had sent it just now. */
  readonly request: ApiRequest
  /** Which records belong to its list. */
  readonly filter: Filter
  readonly sort: readonly SortKey[]
  readonly view: View
  /** When that was asked, by `performance.now()`. */
  readonly askedAt: number
  /** Which records it may see, and how, as a text that changes when the rules do; empty if there are none. */
  readonly rules: string
}

/** Finds out what a client may see now. Throws what refuses it. */
export type Ask = () => Promise<Rights>

/** How a client has asked for a list. */
interface Asked {
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

/** What asks again for the client of a request. */
export function askerFor(resource: Resource, action: 'list' | 'query', asked: Asked): Ask {
  const { host, middlewares, access } = resource
  const { context, body } = asked
  const { url, headers, requestId, traceId, method, params, route } = asked.request
  const { pathname, search } = new URL(url, 'http://localhost')
  // The URL is another one once the response is there, if the app has a path of its own.
  const whole = { url, headers: [...headers], requestId, traceId }
  const sent = { method, path: pathname + search, params, route, body }
  const guards = inTurn([...host.guards, ...middlewares, ...(access[action] || [])])
  return async () => {
    const askedAt = performance.now()
    const request = partRequest(whole, sent)
    noteBasePath(request, context.basePath)
    const deadline = new Deadline(request, LIMIT_MS)
    deadline.start(() => {})
    try {
      const own = contextFor(resource, request, context)
      const refused = await deadline.within(() => host.admit(guards, request, own, context))
      if (refused instanceof Response) throw new GuardResponse(refused)
      if (refused !== undefined) throw new HttpError(500, 'Internal Server Error')
      const work = () => rightsOf(resource, action, request, own, body)
      return { ...(await deadline.within(work)), askedAt }
    } finally {
      deadline.conclude()
    }
  }
}

/** Guards in the order in which a request meets them, without those that count requests. */
function inTurn(guards: readonly Guard[]): readonly Guard[] {
  const again = guards.filter((guard) => !guard.once)
  return [...again.filter(({ late }) => !late), ...again.filter(({ late }) => late)]
}

/** A context whose headers go nowhere: the response has begun. */
function contextFor({ host }: Resource, request: ApiRequest, whole: Context): Context {
  const headers = new Headers()
  return notAResponse<Context>({
    ...{ env: whole.env, logger: whole.logger, clientAddress: whole.clientAddress },
    ...{ basePath: whole.basePath, headers, store: host.storeFor(request) },
    get signal() {
      return request.signal
    },
    onResponse: () => {},
    waitUntil: (promise) => whole.waitUntil(promise),
  })
}

const PAGES = ['page', 'pageSize', 'cursor']

/** What a request that the guards have let pass may see of the list that it asks for. */
async function rightsOf(
  resource: Resource,
  action: 'list' | 'query',
  request: ApiRequest,
  context: Context,
  body: unknown,
): Promise<Omit<Rights, 'askedAt'>> {
  const { model } = resource
  const rules = resource.fieldsFor ? await rulesFor(resource, request) : resource
  const plan = action === 'query' ? parseQueryBody(rules, body) : parseUrl(rules, request.query)
  // In a URL, a name of a page that says nothing by itself is refused too.
  const isPart = action === 'list' && PAGES.some((name) => name in request.query)
  checkPlan({ ...plan, isPart: plan.isPart || isPart })
  const { filter: scope } = await scopeOf(model, resource.scope.read, request)
  const whole = await viewFor(resource, request, context)
  const view = plan.choice ? await chosenView(resource, whole, plan.choice, request) : whole
  const filter = all([scope, plan.filter, await searchFilter(resource, plan, request)])
  const shown = [scope, view.select, view.populate.map(({ path, select }) => [path, select])]
  const isRuled = !resource.isUnlimited || resource.onGet !== undefined
  return { request, filter, sort: plan.sort, view, rules: isRuled ? JSON.stringify(shown) : '' }
}

/** Throws a 400 for what a list has that cannot be followed. */
function checkPlan({ isPart, choice, search, searched }: ListPlan): void {
  if (isPart) throw liveHasNoPages()
  if (choice?.select) throw liveHasNoSelect()
  // Records that are found by what others are called come and go without a change of their own.
  if (search !== undefined && searched.some((one) => !('field' in one))) {
    throw liveSearchThroughReference()
  }
}
