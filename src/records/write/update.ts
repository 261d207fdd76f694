/** `PATCH <mount>/:id`, from top to bottom: id, field policy, validate, schema, existence, beforeUpdate. */

import { checkTime } from '../../http/deadline.ts'
import { asSeen, HttpError } from '../../http/errors/errors.ts'
import { outsideScope } from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { all, everything, type Filter, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { KEYED, type Keyed } from '../engine/keyed-writes.ts'
import type { Context } from '../engine/route.ts'
import { MAX_TRIES } from '../engine/serial-queue.ts'
import { requestedId, within } from '../read/read.ts'
import { viewFor } from '../read/view.ts'
import { isReadable } from '../rules/fields-for.ts'
import {
  type BeforeUpdate,
  hookRecord,
  runAfterWrite,
  runBeforeUpdate,
  type StoredUpdate,
  withHookResponse,
} from '../rules/hooks.ts'
import { NO_LIMITS, type Scope, unlimited, writeLimits } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import {
  MAX_JUDGEMENTS,
  recordSeenByClient,
  type SeenRecord,
  writeAsSeen,
} from './conditional-write.ts'
import { updateWithFiles } from './file-writes.ts'
import {
  type Incoming,
  payloadOf,
  respondWritten,
  serveWrite,
  writeExpected,
} from './write-request.ts'

/** `PATCH <mount>/:id`: replaces the given fields, keeps the others, and responds with the record as a read would show it. */
export function update(
  resource: Resource,
  request: ApiRequest,
  context: Context,
): Promise<Response> {
  const id = requestedId(resource, request)
  return serveWrite(resource, request, context, updateFrom, id)
}

/** The same for a body that has been read. */
export async function updateFrom(
  resource: Resource,
  incoming: Incoming,
  id = '',
): Promise<Response> {
  const { request } = incoming
  const { engine } = resource
  const { written } = (request as Keyed)[KEYED] ?? {}
  // Who may write and see what: known before the write, because what fails must not fail after it.
  const limits = resource.isUnlimited ? NO_LIMITS : await writeLimits(resource, request)
  const { scope, reads } = limits
  // An earlier try of this request has written the record already.
  if (written) {
    const _id = written[0] ?? id
    return respond(resource, reads, (await engine.first(withId(_id))) ?? { _id }, incoming)
  }
  const one = scope === unlimited ? withId(id) : within(scope.filter, id)
  // What the client may write of what it has sent, as the hook and the schema leave it.
  const checked = await payloadOf(resource, incoming, scope, { operation: 'update', id }, one)
  const { validated } = incoming
  const changes = await (validated?.(checked.values, one) ??
    engine.validateSeen(checked.values, one))
  // The write, of the very record that the client has seen if it says which.
  const isConditional = request.headers.has('if-match') || request.headers.has('if-none-match')
  const seen = isConditional
    ? await recordSeenByClient(resource, request, incoming.context, one)
    : undefined
  const writing = writeJudged({ resource, incoming, filter: one, scope }, changes, seen)
  // A refusal tells nothing of the record that a read would not.
  const updated = await writing.catch((error) =>
    asSeen(error, async (field) => {
      const record = isReadable(limits.fields, field) && (await engine.first(one))
      return record && reads.admits(record)
    }),
  )
  const response = await respond(resource, reads, updated, incoming)
  return checked.res ? withHookResponse(response, checked.res) : response
}

function respond(
  resource: Resource,
  reads: Scope,
  record: Fields,
  { request, context }: Incoming,
): Promise<Response> {
  const { fieldsFor, onGet, plainView } = resource
  const view = fieldsFor || onGet ? () => viewFor(resource, request, context) : plainView
  return respondWritten(resource, reads, record, request, view)
}

/** What an update may write: the record that matches, which must stay within the scope. */
interface Target {
  readonly resource: Resource
  readonly incoming: Incoming
  readonly filter: Filter
  readonly scope: Scope
}

/** Writes `changes` to the target, if it is the record that is `known`, should one be, and the hook agrees. */
async function writeJudged(
  target: Target,
  changes: Fields,
  known: SeenRecord | undefined,
): Promise<Fields> {
  const { resource, incoming, filter } = target
  const { engine, model } = resource
  const { beforeUpdate, afterUpdate } = resource.hooks
  if (!beforeUpdate && !afterUpdate) return write(target, changes, known)
  const { request, context } = incoming
  const judgeAndWrite = async (seen: SeenRecord) => {
    const { record } = seen
    const update = { record, changes, request, context }
    const wanted = beforeUpdate ? await judge(resource, beforeUpdate, filter, update) : changes
    return [record, await write(target, wanted, seen)] as const
  }
  const maxTries = beforeUpdate ? MAX_JUDGEMENTS : MAX_TRIES
  const [before, after] = await writeAsSeen(engine, filter, known, maxTries, judgeAndWrite)
  if (afterUpdate) {
    const both = { before: hookRecord(model, before), record: hookRecord(model, after) }
    const run = () => afterUpdate({ ...both, request }, context)
    await runAfterWrite(resource, request, 'afterUpdate', run)
  }
  return after
}

/** Writes `changes` to the target, unless it would leave the scope. */
function write(target: Target, changes: Fields, seen: SeenRecord | undefined): Promise<Fields> {
  const { resource, incoming, filter, scope } = target
  const { engine, files } = resource
  checkTime(incoming.request)
  const writeTo = (one: Filter) =>
    files.names.length > 0
      ? updateWithFiles(resource, incoming, one, changes, seen)
      : writeExpected(incoming.request, seen, engine.updateSeen(one, changes, seen?.fields))
  const stays = scope === unlimited ? everything : scope.keeping(changes)
  if (stays === everything) return writeTo(filter)
  const staying = all([filter, stays])
  return writeTo(staying).catch(async (error) => {
    const isUnfound = error instanceof HttpError && [404, 409, 412].includes(error.status)
    // The write has decided; what is read now only names the reason.
    const leaves = isUnfound && !(await engine.first(staying)) && (await engine.first(filter))
    throw leaves ? outsideScope() : error
  })
}

/** What the hook makes of the changes of `update`: what it changes is validated, and what it leaves has been. */
async function judge(
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
    const isSame = JSON.stringify(value) === JSON.stringify(changes[field])
    const isLeft = isSame && Object.hasOwn(changes, field)
    if (isLeft) left[field] = changes[field]
    // Absent, a field with a default would get that.
    else made[field] = value === undefined ? null : value
  }
  return { ...left, ...(await engine.validateSeen(made, filter)) }
}
