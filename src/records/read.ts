/**
 * `GET <mount>/:id`.
 *
 * @module
 */

import { entryNotFound } from '../http/refusals.ts'
import type { ApiRequest } from '../http/request.ts'
import { dataResponse } from '../http/respond.ts'
import { requestedId, within } from './identify.ts'
import { readTexts, viewOf } from './reads.ts'
import type { Resource } from './resource.ts'
import { scopeOf } from './scope.ts'

/** Answers one record, or 404. */
export async function read(resource: Resource, request: ApiRequest): Promise<Response> {
  const id = requestedId(resource, request)
  const scope = await scopeOf(resource.model, resource.scope, request)
  const view = await viewOf(resource, request)
  const one = { filter: within(scope.filter, id), sort: [], limit: 1 }
  const [text] = (await readTexts(resource, view, one, request)).texts
  if (text === undefined) throw entryNotFound()
  return dataResponse(text)
}
