/**
 * `PATCH <mount>/:id`: id format, field policy, validate, schema, existence, beforeUpdate, in this order.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { dataResponse } from '../../http/respond.ts'
import { hiddenInside } from '../../model/hidden.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { writtenBefore } from '../engine/receipts.ts'
import { MAX_TRIES } from '../engine/tries.ts'
import { showWritten } from '../read/read-page.ts'
import { viewFor } from '../read/view.ts'
import { readableFields } from '../rules/fields-for.ts'
import { hookResponse, withHookResponse } from '../rules/hook-response.ts'
import {
  type BeforeUpdate,
  hookRecord,
  runBeforeUpdate,
  runValidate,
  type StoredUpdate,
} from '../rules/hooks.ts'
import type { Scope } from '../rules/limits.ts'
import { keepWritable } from '../rules/policy.ts'
import { requestedId, within } from '../rules/record-id.ts'
import { writeScopes } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import { afterWrite } from './after-write.ts'
import { updateWithFiles } from './file-writes.ts'
import { expectedRecord } from './if-match.ts'
import { receipted } from './receipted.ts'
import { JUDGEMENTS, type Seen, writeSeen } from './seen.ts'
import { idAlone, refusedOutside } from './within-scope.ts'
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
    return await updateFrom(receipted(resource, request), request, id, incoming)
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
  // Before the write: if it is unknown what the response may show, nothing is written.
  await readableFields(resource, request)
  const [before] = writtenBefore(request) ?? []
  if (before !== undefined) {
    const _id = before ?? id
    const record = (await engine.first(withId(_id))) ?? { _id }
    return shown(resource, request, reads, record)
  }
  const one = within(scope.filter, id)
  const stored = incoming.concernsFiles ? await engine.first(one) : undefined
  const payload = keepWritable(
    incoming.body(stored),
    resource.writable.update,
    scope.fields,
    model.input,
  )
  const { update: validate } = resource.validate
  const res = validate && hookResponse()
  const about = { req: request, operation: 'update', id, model } as const
  const checked = res ? await runValidate(validate, payload, { ...about, res }) : payload
  const changes = await engine.validateSeen(checked, one, hiddenInside(model))
  const known = await expectedRecord(resource, request, one)
  const updated = await written(resource, incoming, { filter: one, scope }, changes, known)
  return withHookResponse(await shown(resource, request, reads, updated), res)
}

/** The record after the update, as far as its client may see it. */
async function shown(
  resource: Resource,
  request: ApiRequest,
  reads: Scope,
  updated: Fields,
): Promise<Response> {
  if (!reads.admits(updated)) return dataResponse(idAlone(updated))
  const view = await viewFor(resource, request)
  return dataResponse(await showWritten(resource, view, updated, request))
}

/** What an update may write: the record that matches, which must stay within the scope. */
interface Target {
  readonly filter: Filter
  readonly scope: Scope
}

/** Writes `changes` to the target, if it is the record that is `known`, should one be, and the hook agrees. */
async function written(
  resource: Resource,
  incoming: Incoming,
  target: Target,
  changes: Fields,
  known: Seen | undefined,
): Promise<Fields> {
  const { beforeUpdate, afterUpdate } = resource.hooks
  if (!beforeUpdate && !afterUpdate) return kept(resource, incoming, target, changes, known)
  const { model } = resource
  const { filter } = target
  const { request } = incoming
  const write = async (seen: Seen) => {
    const wanted = beforeUpdate
      ? await judged(resource, beforeUpdate, filter, { record: seen.record, changes, request })
      : changes
    return [seen.record, await kept(resource, incoming, target, wanted, seen)] as const
  }
  const most = beforeUpdate ? JUDGEMENTS : MAX_TRIES
  const [before, after] = known
    ? await write(known)
    : await writeSeen(resource, filter, most, write)
  if (afterUpdate) {
    const both = {
      before: hookRecord(model, before),
      record: hookRecord(model, after),
    }
    await afterWrite(resource, request, 'afterUpdate', () => afterUpdate({ ...both, request }))
  }
  return after
}

/** Writes `changes` to the target, unless it would leave the scope. */
function kept(
  resource: Resource,
  incoming: Incoming,
  { filter, scope }: Target,
  changes: Fields,
  seen: Seen | undefined,
): Promise<Fields> {
  const stays = scope.keeping(changes)
  return refusedOutside(resource.engine, filter, stays, () =>
    updateWithFiles(resource, incoming, all([filter, stays]), changes, seen),
  )
}

/** What the hook makes of the changes of `update`: what it changes is validated, and what it leaves has been. */
async function judged(
  { engine, model }: Resource,
  hook: BeforeUpdate<Fields>,
  filter: Filter,
  update: StoredUpdate,
): Promise<Fields> {
  const { changes } = update
  const wanted = await runBeforeUpdate(hook, model, update)
  const left: Fields = {}
  const made: Fields = {}
  for (const [field, value] of Object.entries(wanted)) {
    // A value that a transform has made would not pass its schema again.
    const isLeft = Object.hasOwn(changes, field) && isSame(value, changes[field])
    if (isLeft) left[field] = changes[field]
    // Absent, a field with a default would get that.
    else made[field] = value === undefined ? null : value
  }
  return { ...left, ...(await engine.validateSeen(made, filter, hiddenInside(model))) }
}

function isSame(value: unknown, other: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(other)
}
