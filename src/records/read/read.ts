/**
 * `GET <mount>/:id`.
 *
 * @module
 */

import type { Loaded } from '../../cache/cached.ts'
import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { dataJson } from '../../http/respond.ts'
import { type Filter, withId } from '../../ports/filter.ts'
import type { Soon } from '../../ports/soon.ts'
import { requestedId, within } from '../rules/record-id.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import {
  isSameForAll,
  type Page,
  plainView,
  readAsJson,
  type View,
  viewOf,
} from './present-records.ts'
import { jsonWithin } from './response-size.ts'

/** One record, or 404. */
export function read(resource: Resource, request: ApiRequest): Soon<Loaded> {
  const id = requestedId(resource, request)
  return isSameForAll(resource)
    ? one(resource, plainView(resource), withId(id), request)
    : visibleOne(resource, id, request)
}

/** The record, if the request may see it: what lies outside of the scope counts as missing. */
async function visibleOne(resource: Resource, id: string, request: ApiRequest): Promise<Loaded> {
  const { filter } = await scopeOf(resource.model, resource.scope.read, request)
  const view = await viewOf(resource, request)
  return one(resource, view, within(filter, id), request)
}

/** A record that is found at once is there at once. */
function one(resource: Resource, view: View, filter: Filter, request: ApiRequest): Soon<Loaded> {
  const page = readAsJson(resource, view, { filter, sort: [], limit: 1 }, request)
  return page instanceof Promise
    ? page.then((found) => loaded(resource, view, found))
    : loaded(resource, view, page)
}

function loaded(resource: Resource, { cacheable }: View, { texts, unsigned }: Page): Soon<Loaded> {
  const [text] = texts
  if (text === undefined) throw entryNotFound()
  const body = jsonWithin(resource.maxResponseBytes, dataJson(text))
  return unsigned ? unsigned().then(([state]) => ({ body, state, cacheable })) : { body, cacheable }
}
