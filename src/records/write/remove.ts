/**
 * `DELETE <mount>/:id`.
 *
 * @module
 */

import { checkTime } from '../../http/deadline.ts'
import { entryNotFound } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import { writing } from '../../http/write-begun.ts'
import type { Filter } from '../../ports/filter.ts'
import { writtenBefore } from '../engine/receipts.ts'
import type { Removal } from '../engine/removal.ts'
import { hookRecord, runBeforeRemove } from '../rules/hooks.ts'
import { requestedId, within } from '../rules/record-id.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import { afterWrite } from './after-write.ts'
import { type Expected, removeFilesOf } from './file-writes.ts'
import { expectedRecord } from './if-match.ts'
import { receipted } from './receipted.ts'
import { JUDGEMENTS, type Seen, writeSeen } from './seen.ts'

/** Removes one record and its files; a missing one is a 404. */
export async function remove(resource: Resource, request: ApiRequest): Promise<Response> {
  const id = requestedId(resource, request)
  const scope = await scopeOf(resource.model, resource.scope.write, request)
  if (writtenBefore(request)) return messageResponse(REMOVED)
  const one = within(scope.filter, id)
  const seen = await expectedRecord(resource, request, one)
  const removed = await removedRecord(receipted(resource, request), request, one, seen)
  await removeFilesOf(resource, removed, request)
  const { afterRemove } = resource.hooks
  if (afterRemove) {
    const record = hookRecord(resource.model, removed.record)
    await afterWrite(resource, request, 'afterRemove', () => afterRemove({ record, request }))
  }
  return messageResponse(REMOVED)
}

const REMOVED = 'Item successfully deleted.'

/** Removes the record that matches, if it is `known` or there is none, and the hook agrees. */
function removedRecord(
  resource: Resource,
  request: ApiRequest,
  filter: Filter,
  known: Seen | undefined,
): Promise<Removal> {
  const { engine, model } = resource
  const { beforeRemove } = resource.hooks
  const removal = async (expected?: Expected): Promise<Removal> => {
    checkTime(request)
    const removed = await writing(request, () => engine.remove(filter, expected?.fields))
    if (!removed) throw expected?.refusal ?? entryNotFound()
    return removed
  }
  if (!beforeRemove) return removal(known)
  const judged = async (seen: Seen): Promise<Removal> => {
    await runBeforeRemove(beforeRemove, model, seen.record, request)
    return removal(seen)
  }
  return known ? judged(known) : writeSeen(resource, filter, JUDGEMENTS, judged)
}
