/** `DELETE <mount>/:id`, from top to bottom. */

import { checkTime } from '../../http/deadline.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { messageResponse } from '../../http/response/respond.ts'
import type { Filter } from '../../ports/store/filter.ts'
import { KEYED, type Keyed } from '../engine/keyed-writes.ts'
import type { Removal } from '../engine/removal.ts'
import type { Context } from '../engine/route.ts'
import { requestedId, within } from '../read/read.ts'
import { hookRecord, runAfterWrite, runBeforeRemove } from '../rules/hooks.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import {
  MAX_JUDGEMENTS,
  recordSeenByClient,
  type SeenRecord,
  writeAsSeen,
} from './conditional-write.ts'
import { removeFilesOf } from './file-writes.ts'
import { changeIdOf, writeExpected, writerFor } from './write-request.ts'

/** Removes one record and its files; a missing one is a 404. */
export async function remove(
  resource: Resource,
  request: ApiRequest,
  context: Context,
): Promise<Response> {
  const { model, hooks, scope } = resource
  const id = requestedId(resource, request)
  const { filter } = await scopeOf(model, scope.write, request)
  // An earlier try of this request has removed the record already.
  const { [KEYED]: keyed } = request as Keyed
  if (keyed?.written) return messageResponse(REMOVED)
  const one = within(filter, id)
  const seen = await recordSeenByClient(resource, request, context, one)
  const own = writerFor(resource, request)
  const removed = await removeJudged(own, { request, context }, one, seen)
  await removeFilesOf(resource, removed, request)
  const { afterRemove } = hooks
  if (afterRemove) {
    const record = hookRecord(model, removed.record)
    const run = () => afterRemove({ record, request }, context)
    await runAfterWrite(resource, request, 'afterRemove', run)
  }
  const init = model.changes && { headers: changeIdOf(own.engine, removed.record._id) }
  return messageResponse(REMOVED, init)
}

const REMOVED = 'Item successfully deleted.'

/** Removes the record that matches, if it is `known` or there is none, and the hook agrees. */
function removeJudged(
  { engine, model, hooks }: Pick<Resource, 'engine' | 'model' | 'hooks'>,
  { request, context }: { readonly request: ApiRequest; readonly context: Context },
  filter: Filter,
  known: SeenRecord | undefined,
): Promise<Removal> {
  const removeSeen = (seen: SeenRecord | undefined): Promise<Removal> => {
    checkTime(request)
    return writeExpected(request, seen, engine.remove(filter, seen?.fields))
  }
  const { beforeRemove } = hooks
  if (!beforeRemove) return removeSeen(known)
  const judgeAndRemove = async (seen: SeenRecord): Promise<Removal> => {
    await runBeforeRemove(beforeRemove, model, seen.record, request, context)
    return removeSeen(seen)
  }
  return writeAsSeen(engine, filter, known, MAX_JUDGEMENTS, judgeAndRemove)
}
