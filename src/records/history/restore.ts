/** `POST <mount>/:id/restore`: a record as it was, by a PATCH of this caller, or by a POST if it was removed. */

import type { $ZodType } from 'zod/v4/core'
import { readJson } from '../../http/body/body.ts'
import { checkTime } from '../../http/deadline.ts'
import { unsent } from '../../http/errors/errors.ts'
import { entryNotFound, methodNotAllowed, notAChange } from '../../http/errors/refusals.ts'
import { type ApiRequest, METHOD_OVERRIDE } from '../../http/request/request.ts'
import { runShielded } from '../../http/request/shield.ts'
import type { Model } from '../../model/model.ts'
import { partsIn } from '../../model/parts.ts'
import { validateFields } from '../../model/shape/validate.ts'
import { declaredPart } from '../../model/versions/present.ts'
import { isFields } from '../../model/writable.ts'
import { isSameContent } from '../../ports/evaluation/evaluate.ts'
import type { Fields } from '../../ports/store/records.ts'
import { logOf } from '../engine/author.ts'
import { KEYED, type Keyed } from '../engine/keyed-writes.ts'
import type { Context } from '../engine/route.ts'
import { requestedId } from '../read/read.ts'
import { type Scope, writeLimits } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import { createFrom } from '../write/create.ts'
import { updateFrom } from '../write/update.ts'
import { type Incoming, writerFor } from '../write/write-request.ts'
import { currentIn } from './history.ts'

/** How ids of changes are spelled. */
const CHANGE_ID = /^[0-9a-z]+(?:-[0-9a-z]+){1,8}$/

export async function restore(
  resource: Resource,
  request: ApiRequest,
  context: Context,
): Promise<unknown> {
  if (request.headers.has(METHOD_OVERRIDE)) throw methodNotAllowed('POST')
  const id = requestedId(resource, request)
  const changeId = changeIdIn(await readJson(request, resource.host))
  const { scope, reads } = await writeLimits(resource, request)
  // What an earlier try of this request has written says what it was, whatever became of the record and its log since.
  const written = (request as Keyed)[KEYED]?.written
  const current = written ? undefined : await currentIn(resource, id, scope)
  const state = written ? {} : await stateAfter(resource, id, changeId, [scope, reads])
  checkTime(request)
  const own = writerFor(resource, request)
  const incoming = (sent: Fields) => {
    const validated = validating(resource, sent, state)
    return { sent, files: [], level: undefined, client: request, request, context, validated }
  }
  if (written ? written[0] === null : current) {
    const sent = changesTo(resource, current ?? state, state)
    return updateFrom(own, incoming(sent), id).catch((error) => {
      throw unsent.get(error) ?? error
    })
  }
  for (const guard of resource.access.create || []) {
    const response: unknown = await runShielded(request, guard, request, context)
    if (response !== undefined && response !== null) return response
  }
  return createFrom(own, incoming(asSent(state)), id)
}

function changeIdIn(body: unknown): string {
  const changeId = isFields(body) ? body.changeId : undefined
  if (typeof changeId !== 'string' || changeId.length > 200 || !CHANGE_ID.test(changeId)) {
    throw notAChange()
  }
  return changeId
}

/** The record as it was stored after the change with this id, or before it if that removed it. Throws a 404. */
async function stateAfter(
  resource: Resource,
  id: string,
  changeId: string,
  scopes: readonly Scope[],
): Promise<Fields> {
  const log = logOf(resource.host)
  const [change] = await log.history(resource.model.name, id, { limit: 1, upTo: changeId })
  const state = change?.id === changeId && (change.after ?? change.before)
  // What the caller could not see then is not known to them.
  if (!state || !scopes.every((scope) => scope.admits(state))) throw entryNotFound()
  return declaredPart(resource.model, state)
}

/** The body of a PATCH that makes the record what it was, as far as the caller may write it. */
function changesTo({ model, writable }: Resource, current: Fields, state: Fields): Fields {
  const names = [...writable.update]
  const changed = names.filter((name) => !isSameContent(current[name], state[name]))
  const lost = changed.filter((name) => state[name] === undefined)
  const sent = asSent(state)
  const values = Object.fromEntries(
    // If nothing differs it is a write that changes nothing.
    (changed.length > 0 ? changed : names)
      .filter((name) => sent[name] !== undefined)
      .map((name) => [name, sent[name]]),
  )
  const removed = lost.filter((name) => model.absence.get(name) !== 'never')
  return { ...values, ...Object.fromEntries(removed.map((name) => [name, null])) }
}

/** Values as the JSON of a body has them. */
function asSent(state: Fields): Fields {
  return JSON.parse(JSON.stringify(state)) as Fields
}

/**
 * Validates what comes back. A value that a schema has made of another one stays as it was: of its own result, the schema
 * would make something else, or refuse it.
 */
function validating(
  { engine, model }: Resource,
  sent: Fields,
  state: Fields,
): NonNullable<Incoming['validated']> {
  return async (values, filter) => {
    const given: Fields = {}
    const produced: Fields = {}
    for (const [name, value] of Object.entries(values)) {
      const isSent = Object.hasOwn(sent, name) && isSameContent(value, sent[name])
      if (isSent && (await isProduced(model, name, value, state[name])))
        produced[name] = state[name]
      else given[name] = value
    }
    return filter
      ? { ...(await engine.validateSeen(given, filter)), ...produced }
      : engine.validate(given, produced)
  }
}

/** Whether `stored`, which is sent as `value`, would become something else if it were validated; or it is absent. */
async function isProduced(
  model: Model,
  name: string,
  value: unknown,
  stored: unknown,
): Promise<boolean> {
  const schema = model.fields[name]
  if (!schema || stored === undefined) return schema !== undefined
  const { parts, rest } = partsIn(schema)
  if (!rest && !parts.some((part) => transforms(part.schema))) return false
  const made = await validateFields(model, { [name]: value })
  return !made.ok || !isSameContent(made.values[name], stored)
}

function transforms({ _zod: { def } }: $ZodType): boolean {
  const isOverwritten = def.checks?.some(({ _zod }) => _zod.def.check === 'overwrite')
  return def.type === 'transform' || 'transform' in def || isOverwritten === true
}
