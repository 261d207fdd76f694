/**
 * `DELETE <mount>/:id`.
 *
 * @module
 */

import { checkTime } from '../../http/deadline.ts'
import { entryNotFound, recordChanged } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { requestedId, within } from '../rules/record-id.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import { removeFilesOf } from './file-writes.ts'
import { expectedRecord } from './if-match.ts'

/** Removes one record and its files; a missing one is a 404. */
export async function remove(resource: Resource, request: ApiRequest): Promise<Response> {
  const id = requestedId(resource, request)
  const scope = await scopeOf(resource.model, resource.scope.write, request)
  const one = within(scope.filter, id)
  const expect = await expectedRecord(resource, request, one)
  checkTime(request)
  const removed = await resource.engine.remove(one, expect)
  if (!removed) throw expect ? recordChanged() : entryNotFound()
  await removeFilesOf(resource, removed, request)
  return messageResponse('Item successfully deleted.')
}
