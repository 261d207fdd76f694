/** `GET` and `QUERY` of a list as a stream of events: the records, and then what becomes of them. */

import { Response as FastResponse, bodyOf as piped } from '#response'
import * as refuse from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { bestOf, takesJson } from '../../http/response/qualities.ts'
import { buffered } from '../../ports/services/buffered.ts'
import type { Context } from '../engine/route.ts'
import { asksForGroups } from '../list/groups.ts'
import { bodyOf, type ListAction, MOST_FOLLOWED } from '../list/parse.ts'
import type { ListPlan } from '../list/plan.ts'
import { askerFor, GuardResponse } from '../list/rights.ts'
import { refusalOf } from '../list/search.ts'
import type { Resource } from '../setup/resource.ts'
import { hubOf } from './hub.ts'
import { LiveStream } from './live-stream.ts'

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
  Vary: 'Accept',
}

/** The list as a stream, if `accept` prefers events to JSON. */
export async function streamOf(
  resource: Resource,
  action: ListAction,
  accept: string,
  request: ApiRequest,
  context: Context,
): Promise<Response | undefined> {
  const best = bestOf(accept, ['text/event-stream', 'text/csv', 'application/x-ndjson'])
  if (best !== 'text/event-stream') return undefined
  if (!resource.live || buffered.has(request)) {
    if (takesJson(accept)) return undefined
    throw refuse.notLive()
  }
  const { host } = resource
  const { maxBodyValues, bodyTimeoutMs } = host
  const maxBodySize = Math.min(host.maxBodySize, MOST_FOLLOWED)
  const limits = { maxBodySize, maxBodyValues, bodyTimeoutMs }
  const body = await bodyOf({ host: limits }, action, request)
  if (asksForGroups(body)) throw refuse.liveHasNoGroups()
  const asker = askerFor(resource, action, { request, context, body }, checkPlan)
  try {
    const rights = await asker.ask()
    if (request.method === 'HEAD') return new Response(null, { headers: HEADERS })
    const stream = new LiveStream(resource, hubOf(host), asker, rights)
    await stream.open(request.headers.get('last-event-id') ?? undefined)
    return new FastResponse(piped(stream.events), { headers: { ...HEADERS } })
  } catch (error) {
    if (error instanceof GuardResponse) return error.response
    throw refusalOf(error)
  }
}

const PAGES = ['page', 'pageSize', 'cursor']

/** Throws a 400 for what a list has that cannot be followed. */
function checkPlan({ isPart, choice, search, searched }: ListPlan, names: readonly string[]): void {
  // In a URL, a name of a page that says nothing by itself is refused too.
  if (isPart || PAGES.some((name) => names.includes(name))) throw refuse.liveHasNoPages()
  if (choice?.select) throw refuse.liveHasNoSelect()
  // Records that are found by what others are called come and go without a change of their own.
  if (search !== undefined && searched.some((one) => !('field' in one))) {
    throw refuse.liveSearchThroughReference()
  }
}
