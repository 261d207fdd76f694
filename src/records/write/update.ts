/**
 * `PATCH <mount>/:id`: id format, field policy, validate, existence, in this order.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { dataResponse } from '../../http/respond.ts'
import { hiddenInside } from '../../model/hidden.ts'
import { all } from '../../ports/filter.ts'
import { presentAfterWrite, viewOf } from '../read/present-records.ts'
import { hookResponse, withHookResponse } from '../rules/hook-response.ts'
import { runValidate } from '../rules/hooks.ts'
import { keepWritable } from '../rules/policy.ts'
import { requestedId, within } from '../rules/record-id.ts'
import { writeScopes } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import { idAlone, refusedOutside } from './after-write.ts'
import { updateWithFiles } from './file-writes.ts'
import { expectedRecord } from './if-match.ts'
import { type Asking, type Incoming, readIncoming } from './write-body.ts'

/** Replaces the given fields, keeps the others, and responds with the record as a read would show it. */
export async function update(
  resource: Resource,
  request: ApiRequest,
  asking?: Asking,
): Promise<Response> {
  const id = requestedId(resource, request)
  const incoming = await readIncoming(resource, request, asking)
  try {
    return await updateFrom(resource, request, id, incoming)
  } finally {
    await incoming.discard()
  }
}

async function updateFrom(
  resource: Resource,
  request: ApiRequest,
  id: string,
  incoming: Incoming,
): Promise<Response> {
  const { model, engine } = resource
  const [scope, reads] = await writeScopes(resource, request)
  const one = within(scope.filter, id)
  const stored = incoming.concernsFiles ? await engine.first(one) : undefined
  const payload = await keepWritable(incoming.body(stored), resource.writable.update, scope.fields)
  const res = hookResponse()
  const checked = await runValidate(resource.validate.update, payload, {
    req: request,
    res,
    operation: 'update',
    id,
    model,
  })
  const changes = await engine.validateSeen(checked, one, hiddenInside(model))
  const expect = await expectedRecord(resource, request, one)
  const stays = scope.keeping(changes)
  const updated = await refusedOutside(engine, one, stays, () =>
    updateWithFiles(resource, incoming, all([one, stays]), changes, expect),
  )
  if (!reads.admits(updated)) return withHookResponse(dataResponse(idAlone(updated)), res)
  const view = await viewOf(resource, request)
  const text = await presentAfterWrite(resource, view, updated, request)
  return withHookResponse(dataResponse(text), res)
}
