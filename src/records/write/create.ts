/**
 * `POST <mount>`. The contract fixes the order of the steps (spec 4.1, "Write rules").
 *
 * @module
 */

import { outsideScope } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { dataResponse } from '../../http/respond.ts'
import { writing } from '../../http/write-begun.ts'
import { declaredPart, present, projected, visible } from '../../model/present.ts'
import { withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { writtenBefore } from '../engine/receipts.ts'
import { withLinks } from '../read/read-page.ts'
import { type ReadableFields, readableFields } from '../rules/fields-for.ts'
import { hookResponse, withHookResponse } from '../rules/hook-response.ts'
import { runValidate } from '../rules/hooks.ts'
import type { Scope } from '../rules/limits.ts'
import { keepWritable } from '../rules/policy.ts'
import { writeScopes } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import { afterWrite } from './after-write.ts'
import { saveWithFiles } from './file-writes.ts'
import { receipted } from './receipted.ts'
import { idAlone } from './within-scope.ts'
import { type Asking, type Incoming, readIncoming } from './write-body.ts'

/** Stores a new record and responds with 201 and the record. */
export async function create(
  resource: Resource,
  request: ApiRequest,
  asking?: Asking,
): Promise<Response> {
  const incoming = await readIncoming(resource, request, asking)
  const own = receipted(resource, request)
  try {
    return await createFrom(own, request, incoming, asking)
  } finally {
    await incoming.discard()
  }
}

async function createFrom(
  resource: Resource,
  request: ApiRequest,
  incoming: Incoming,
  asking: Asking = {},
): Promise<Response> {
  const { model, engine } = resource
  const [scope, reads] = await writeScopes(resource, request)
  const fields = await readableFields(resource, request)
  const before = writtenBefore(request)?.[0]
  if (before) {
    const record = (await engine.first(withId(before))) ?? { _id: before }
    return created(resource, request, asking, { record, reads, fields })
  }
  const payload = keepWritable(
    incoming.body(),
    resource.writable.create,
    scope.fields,
    resource.model.input,
  )
  const { create: validate } = resource.validate
  const res = validate && hookResponse()
  const about = { req: request, operation: 'create', id: undefined, model } as const
  const checked = res ? await runValidate(validate, payload, { ...about, res }) : payload
  const { _id: id, ...scoped } = scope.values
  const values = await engine.validate({ ...checked, ...scoped })
  // An id that is made later is in no scope.
  if (!scope.admits({ ...values, _id: id ?? '' })) throw outsideScope()
  const save = () => writing(request, () => engine.insert(values, id as string | undefined))
  const record = await saveWithFiles(resource, incoming, values, save)
  const { runAfterCreate, strictAfterCreate } = resource
  if (runAfterCreate) {
    const hook = () => runAfterCreate(record as never, request)
    await afterWrite(resource, request, 'runAfterCreate', hook, strictAfterCreate)
  }
  return withHookResponse(await created(resource, request, asking, { record, reads, fields }), res)
}

/** A record that has been created, and what its client may see of it. */
interface Created {
  readonly record: Fields
  readonly reads: Scope
  readonly fields: ReadableFields
}

async function created(
  resource: Resource,
  request: ApiRequest,
  asking: Asking,
  { record, reads, fields }: Created,
): Promise<Response> {
  const text = reads.admits(record)
    ? await textOf(resource, record, fields, request)
    : idAlone(record)
  return dataResponse(text, { status: 201, headers: locationOf(request, asking, record._id) })
}

/** The new record as JSON: what is visible of it. */
async function textOf(
  resource: Resource,
  record: Fields,
  fields: ReadableFields,
  request: ApiRequest,
): Promise<string> {
  const { model, lean } = resource
  const shown = projected(declaredPart(model, record), visible(model, undefined, fields))
  const visibly = await withLinks(resource, shown, request)
  return JSON.stringify(present(model, visibly, lean)) ?? 'null'
}

/**
 * `Location` of a new record, built from the route that matched: the path as sent may resolve to another host
 * (`//evil.com/../../cities`), or hold characters that no header allows. A handler called outside the routes has no
 * location.
 */
function locationOf(
  { route, params }: ApiRequest,
  { basePath = '' }: Asking,
  id: unknown,
): Record<string, string> {
  if (route === '') return {}
  const path = route.replace(/:(\w+)([?+]?)/g, (_, name: string, repeat: string) => {
    const value = params[name] ?? ''
    const parts = repeat === '+' ? value.split('/') : [value]
    return parts.map(encodeURIComponent).join('/')
  })
  const mount = `${basePath}${path.replace(/(^|[^/])\/+$/, '$1')}`
  return { Location: `${mount}/${encodeURIComponent(String(id))}` }
}
