/**
 * `DELETE <mount>/:id`.
 *
 * @module
 */

import { entryNotFound } from '../http/refusals.ts'
import type { ApiRequest } from '../http/request.ts'
import { messageResponse } from '../http/respond.ts'
import { removeFilesOf } from './file-writes.ts'
import { requestedId, within } from './identify.ts'
import type { Resource } from './resource.ts'
import { scopeOf } from './scope.ts'

/** Removes one record and its files, or 404. */
export async function remove(resource: Resource, request: ApiRequest): Promise<Response> {
  const id = requestedId(resource, request)
  const scope = await scopeOf(resource.model, resource.scope, request)
  const removed = await resource.records.remove(within(scope.filter, id))
  if (!removed) throw entryNotFound()
  await removeFilesOf(resource, removed)
  return messageResponse('Item successfully deleted.')
}
