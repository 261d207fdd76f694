/** `POST <mount>`, from top to bottom. The contract fixes the order of the steps. */

import { checkTime } from '../../http/deadline.ts'
import { methodNotAllowed, outsideScope } from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { visible } from '../../model/versions/present.ts'
import { withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { KEYED, type Keyed, noteWrite } from '../engine/keyed-writes.ts'
import type { Context, Handler } from '../engine/route.ts'
import { runAfterWrite, withHookResponse } from '../rules/hooks.ts'
import { NO_LIMITS, unlimited, type WriteLimits, writeLimits } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import {
  type Incoming,
  payloadOf,
  respondWritten,
  serveWrite,
  uploadCode,
} from './write-request.ts'

/** The handler of `POST <mount>`; `allowed` are the methods of the mount. */
export function createHandler(resource: Resource, allowed: () => string): Handler {
  return (request, context) => {
    // A read that was not taken for one must not become a write.
    const { isOverridden } = context as { readonly isOverridden?: boolean }
    if (isOverridden) throw methodNotAllowed(allowed())
    return create(resource, request, context)
  }
}

/** Stores a new record and responds with 201 and the record. */
export function create(
  resource: Resource,
  request: ApiRequest,
  context: Context,
): Promise<Response> {
  return serveWrite(resource, request, context, createFrom)
}

/** The same for a body that has been read; `known` is the id of a record that comes back. */
export async function createFrom(
  resource: Resource,
  incoming: Incoming,
  known?: string,
): Promise<Response> {
  const { engine, runAfterCreate, strictAfterCreate } = resource
  const { request, context } = incoming
  const { [KEYED]: keyed } = request as Keyed
  // Who may write and see what: known before the write, because what fails must not fail after it.
  const limits = resource.isUnlimited ? NO_LIMITS : await writeLimits(resource, request)
  const { scope } = limits
  // An earlier try of this request has written the record already.
  const before = keyed?.written?.[0]
  if (before) {
    const record = (await engine.first(withId(before))) ?? { _id: before }
    return respond(resource, limits, record, incoming)
  }
  // What the client may write, with what the scope says of the record.
  const checked = await payloadOf(resource, incoming, scope, { operation: 'create', id: undefined })
  const { _id: id = known, ...scoped } = scope === unlimited ? NOTHING : scope.values
  const given = { ...checked.values, ...scoped }
  const values = await (incoming.validated?.(given) ?? engine.validate(given))
  // An id that is made later is in no scope.
  if (scope !== unlimited && !scope.admits({ ...values, _id: id ?? '' })) throw outsideScope()
  // The write: files first, and removed again if it fails.
  const insert = () => engine.insert(values, id as string | undefined)
  const write = () => (keyed ? noteWrite(keyed, insert()) : insert())
  checkTime(request)
  const code = incoming.files.length > 0 && (await uploadCode(resource.host))
  const record = await (code ? code.saveWithFiles(resource, incoming, values, write) : write())
  if (runAfterCreate) {
    const run = () => runAfterCreate(record as never, request, context)
    await runAfterWrite(resource, request, 'runAfterCreate', run, strictAfterCreate)
  }
  const response = await respond(resource, limits, record, incoming)
  return checked.res ? withHookResponse(response, checked.res) : response
}

const NOTHING: Fields = {}

/** What the client may see of the new record. */
function respond(
  resource: Resource,
  { reads, fields }: WriteLimits,
  record: Fields,
  { request, context }: Incoming,
): Promise<Response> {
  const { model, plainView } = resource
  const headers = locationOf(request, context, record._id)
  const view = fields ? { ...plainView, select: visible(model, undefined, fields) } : plainView
  return respondWritten(resource, reads, record, request, view, { status: 201, headers })
}

/**
 * `Location` of a new record, built from the route that matched: the path as sent may resolve to another host
 * (`//evil.com/../../cities`), or hold characters that no header allows. A handler called outside the routes has no
 * location.
 */
function locationOf(
  { route, params }: ApiRequest,
  { basePath }: Context,
  id: unknown,
): Record<string, string> {
  if (route === '') return {}
  const path = route
    .replace(/\/:id\/restore$/, '')
    .replace(/:(\w+)([?+]?)/g, (_, name: string, repeat: string) => {
      const value = params[name] ?? ''
      const parts = repeat === '+' ? value.split('/') : [value]
      return parts.map(encodeURIComponent).join('/')
    })
  const mount = `${basePath}${path.replace(/(^|[^/])\/+$/, '$1')}`
  return { Location: `${mount}/${encodeURIComponent(String(id))}` }
}
