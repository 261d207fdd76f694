/**
 * `PATCH <mount>/:id`: id format, field policy, validate, existence, in this order.
 *
 * @module
 */

import { readJson } from '../http/body.ts'
import { entryNotFound } from '../http/refusals.ts'
import type { ApiRequest } from '../http/request.ts'
import { dataResponse } from '../http/respond.ts'
import { hookResponse, withHookResponse } from './hook-response.ts'
import { runValidate } from './hooks.ts'
import { requestedId, within } from './identify.ts'
import { keepWritable } from './policy.ts'
import { presentTexts, viewOf } from './reads.ts'
import type { Resource } from './resource.ts'
import { scopeOf } from './scope.ts'

/** Replaces the given fields, keeps the others, and answers the record as a read would. */
export async function update(resource: Resource, request: ApiRequest): Promise<Response> {
  const { host, model, records } = resource
  const id = requestedId(resource, request)
  const body = (await readJson(request, host.maxBodySize)) ?? {}
  const scope = await scopeOf(model, resource.scope, request)
  const payload = keepWritable(body, resource.writable.update, scope.values)
  const res = hookResponse()
  const checked = await runValidate(resource.validate.update, payload, {
    req: request,
    res,
    operation: 'update',
    id,
    model,
  })
  const changes = await records.validateChanges(checked)
  const updated = await records.update(within(scope.filter, id), changes)
  if (!updated) throw entryNotFound()
  const view = await viewOf(resource, request)
  const [text = 'null'] = await presentTexts(resource, view, [updated], request)
  return withHookResponse(dataResponse(text), res)
}
