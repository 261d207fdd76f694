/** `GET <mount>/:id`. */

import type { Loaded } from '../../cache/cached.ts'
import { respondToRead } from '../../cache/conditional.ts'
import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { recordJson } from '../../http/respond.ts'
import { withId } from '../../ports/filter.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import type { Context, Handler } from '../engine/route.ts'
import { requestedId, within } from '../rules/record-id.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource, View } from '../setup/resource.ts'
import { type ChoiceRules, choiceInUrl, chosenView } from './choice.ts'
import type { RespondFromCache } from './read-cache.ts'
import { type Page, type ReadRules, readPage } from './read-page.ts'
import { type ViewRules, viewFor } from './view.ts'

/** The handler of `GET <mount>/:id`. */
export function readHandler(resource: Resource, cached: RespondFromCache | undefined): Handler {
  if (!cached) {
    return (request, context) => respondToRead(request, readRecord(resource, request, context))
  }
  return (request, context) =>
    cached(request, context, { kind: 'one' }, () => readRecord(resource, request, context))
}

/**
 * One record, or 404. Where all requests see the same, nothing is awaited: a record that the store has at once is there at
 * once.
 */
export function readRecord(
  resource: ReadRules & ViewRules & ChoiceRules & Pick<Resource, 'scope'>,
  request: ApiRequest,
  context: Context,
): MaybePromise<Loaded> {
  const id = requestedId(resource, request)
  const { scope, fieldsFor, onGet, plainView } = resource
  const { select, expand } = request.query
  const isChosen = (select ?? expand) !== undefined
  if (isChosen || scope.read || fieldsFor || onGet)
    return readVisible(resource, id, request, context)
  const page = readPage(resource, plainView, { filter: withId(id), sort: [], limit: 1 }, request)
  return page instanceof Promise
    ? page.then((found) => recordIn(resource, plainView, found))
    : recordIn(resource, plainView, page)
}

/** The record, if the request may see it: what lies outside of the scope counts as missing. */
async function readVisible(
  resource: ReadRules & ViewRules & ChoiceRules & Pick<Resource, 'scope'>,
  id: string,
  request: ApiRequest,
  context: Context,
): Promise<Loaded> {
  const whole = await viewFor(resource, request, context)
  const choice = choiceInUrl(request.query)
  const view = choice ? await chosenView(resource, whole, choice, request) : whole
  const scope = await scopeOf(resource.model, resource.scope.read, request)
  const read = { filter: within(scope.filter, id), sort: [], limit: 1 }
  return recordIn(resource, view, await readPage(resource, view, read, request))
}

function recordIn(
  { maxResponseBytes }: ReadRules,
  { cacheable }: View,
  { texts: [text], unsigned }: Page,
): MaybePromise<Loaded> {
  if (text === undefined) throw entryNotFound()
  const body = recordJson(text, maxResponseBytes)
  return unsigned ? unsigned().then(([state]) => ({ body, state, cacheable })) : { body, cacheable }
}
