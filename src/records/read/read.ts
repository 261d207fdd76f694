/**
 * `GET <mount>/:id`.
 *
 * @module
 */

import type { Loaded } from '../../cache/cached.ts'
import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { dataJson } from '../../http/respond.ts'
import { after, type Soon } from '../../ports/soon.ts'
import { requestedId, within } from '../rules/record-id.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import { type Page, readAsJson, type View, viewOf } from './present-records.ts'
import { jsonWithin } from './response-size.ts'

/** One record, or 404. */
export function read(resource: Resource, request: ApiRequest): Soon<Loaded> {
  const id = requestedId(resource, request)
  return after(scopeOf(resource.model, resource.scope.read, request), ({ filter }) =>
    after(viewOf(resource, request), (view) => {
      const one = { filter: within(filter, id), sort: [], limit: 1 }
      return after(readAsJson(resource, view, one, request), (page) => loaded(resource, view, page))
    }),
  )
}

function loaded(resource: Resource, { cacheable }: View, { texts, unsigned }: Page): Soon<Loaded> {
  const [text] = texts
  if (text === undefined) throw entryNotFound()
  const body = jsonWithin(resource.maxResponseBytes, dataJson(text))
  return after(unsigned?.(), (states) => ({ body, state: states?.[0], cacheable }))
}
