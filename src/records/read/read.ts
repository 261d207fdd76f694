/**
 * `GET <mount>/:id`.
 *
 * @module
 */

import type { Loaded } from '../../cache/cached.ts'
import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { dataJson } from '../../http/respond.ts'
import { requestedId, within } from '../rules/record-id.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import { readAsJson, viewOf } from './present-records.ts'
import { jsonWithin } from './response-size.ts'

/** One record, or 404. */
export async function read(resource: Resource, request: ApiRequest): Promise<Loaded> {
  const id = requestedId(resource, request)
  const scope = await scopeOf(resource.model, resource.scope.read, request)
  const view = await viewOf(resource, request)
  const one = { filter: within(scope.filter, id), sort: [], limit: 1 }
  const { texts, unsigned } = await readAsJson(resource, view, one, request)
  const [text] = texts
  if (text === undefined) throw entryNotFound()
  return {
    body: jsonWithin(resource.maxResponseBytes, dataJson(text)),
    state: (await unsigned?.())?.[0],
    cacheable: view.cacheable,
  }
}
