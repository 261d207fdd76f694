/** What all requests that write have in common: a body, who does it, the receipt that comes with it, and what they respond. */

import { readJson } from '../../http/body/body.ts'
import { entryNotFound, nothingWritable, unsupportedBody } from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { dataResponse, type ResponseInitLike } from '../../http/response/respond.ts'
import type { Model } from '../../model/model.ts'
import { upgraded } from '../../model/versions/upgrade.ts'
import { isFields } from '../../model/writable.ts'
import type { Filter } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { keysBelow } from '../../uploads/base-path.ts'
import { fileValue, withoutForeignUrls } from '../../uploads/file-values.ts'
import type { Upload } from '../../uploads/options.ts'
import type { IncomingFile, Incoming as Received } from '../../uploads/receive.ts'
import { storageNotConfigured, unexpectedFile } from '../../uploads/refusals.ts'
import type { UploadCode } from '../../uploads/taking.ts'
import { Author } from '../engine/author.ts'
import { KEYED, type Keyed, noteWrite, type Receipt } from '../engine/keyed-writes.ts'
import type { Context } from '../engine/route.ts'
import { writingBySteps } from '../engine/stepwise.ts'
import { showWritten } from '../read/read.ts'
import { runValidate, type ValidateContext, type Validated } from '../rules/hooks.ts'
import { cleaned } from '../rules/policy.ts'
import { type Scope, unlimited } from '../rules/scope.ts'
import type { Resource, View } from '../setup/resource.ts'
import type { Expected } from './conditional-write.ts'

/** The body of one write, and the files that came with it. */
export interface Incoming extends Received {
  readonly context: Context
  /** Validates the values in another way than input: of a PATCH with the condition on its record, of a POST without. */
  readonly validated?: (values: Fields, filter?: Filter) => Promise<Fields>
}

/** Reads the body of a write, of the record with `id` if it has one, and does `work` with it for who sends it; then discards what is buffered. */
export async function serveWrite(
  resource: Resource,
  request: ApiRequest,
  context: Context,
  work: (own: Resource, incoming: Incoming, id?: string) => Promise<Response>,
  id?: string,
): Promise<Response> {
  const incoming = await readIncoming(resource, request, context)
  const own = writerFor(resource, request)
  if (!incoming.discard) return work(own, incoming, id)
  try {
    return await work(own, incoming, id)
  } finally {
    await incoming.discard()
  }
}

/** Reads the body of a write. If this throws, everything buffered is discarded. */
async function readIncoming(
  { host, model, upload }: Resource,
  request: ApiRequest,
  context: Context,
): Promise<Incoming> {
  if (!upload || !MULTIPART.test(request.headers.get('content-type') ?? '')) {
    const sent = (await readJson(request, host, upload && jsonOrForm)) ?? {}
    return { sent, files: [], level: undefined, client: request, request, context }
  }
  const { receiveIncoming } = await uploadCode(host)
  const rules = { host, upload, shape: model.input }
  return { ...(await receiveIncoming(rules, request, context.clientAddress)), context }
}

const MULTIPART = /^multipart\/form-data\s*(?:;|$)/i
const jsonOrForm = () => unsupportedBody('application/json or multipart/form-data')

/** What takes the files of writes. It comes with the file store: an app without one has none of it in its bundle. */
export function uploadCode({ uploads }: Pick<Resource['host'], 'uploads'>): Promise<UploadCode> {
  if (!uploads) throw storageNotConfigured()
  return uploads()
}

/** `resource`, whose writes are those of who sends `request`, and are one with its receipt, if it has one. */
export function writerFor(resource: Resource, request: ApiRequest): Resource {
  const { receipt } = (request as Keyed)[KEYED] ?? {}
  const { model, engine } = resource
  if (!model.changes && !receipt) return resource
  const by = model.changes ? engine.as(new Author(() => request)) : engine
  return { ...resource, engine: receipt ? receipted(resource.host, by, receipt) : by }
}

function receipted(
  { integrity, engine: engineOf }: Resource['host'],
  engine: Resource['engine'],
  receipt: Receipt,
) {
  const own = integrity.over(engineOf, (steps) => {
    const created = steps.flatMap(({ action }) =>
      'insert' in action ? [String(action.insert._id)] : [],
    )
    return integrity.write(steps, { receipt, ids: [created[0] ?? null] })
  })
  const writing = writingBySteps((action) => own.write([{ engine, action }]))
  return engine.over({ ...engine.stored, ...writing }, own)
}

/** An object without the keys that no client may write; what a restore brings back has been stored with them. */
function cleanIn(
  { validated }: Incoming,
  field: string,
  value: unknown,
  { input }: Model,
): unknown {
  return validated ? value : cleaned(field, value, input)
}

/** What the client may write of what it has sent, as the hook leaves it; `one` finds the record that is changed. */
export async function payloadOf(
  resource: Resource,
  incoming: Incoming,
  scope: Scope,
  about: Pick<ValidateContext, 'operation' | 'id'>,
  one?: Filter,
): Promise<Validated> {
  const { model, files, validate, writable } = resource
  const body = files.names.length > 0 ? await bodyOf(resource, incoming, one) : incoming.sent
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw nothingWritable()
  const closed = scope === unlimited ? undefined : scope.fields
  const values: Fields = {}
  for (const [field, value] of Object.entries(body)) {
    // What is named in the scope belongs to the server.
    if (!writable[about.operation].has(field) || closed?.has(field)) continue
    values[field] = typeof value === 'object' ? cleanIn(incoming, field, value, model) : value
  }
  if (Object.keys(values).length === 0) throw nothingWritable()
  const hook = validate[about.operation]
  if (!hook) return { values }
  return runValidate(hook, values, { ...about, req: incoming.request, model }, incoming.context)
}

/** The body with URLs in file fields; a URL may stay that the record has, which `one` finds. */
async function bodyOf(
  { engine, host, upload, files }: Resource,
  incoming: Incoming,
  one: Filter | undefined,
): Promise<unknown> {
  const { sent, request } = incoming
  if (!isFields(sent)) return sent
  const named = files.namedIn(sent)
  const isKnown = one && (incoming.files.length > 0 || named.length > 0)
  const found = isKnown ? await engine.first(one) : undefined
  // As the client has read it: under an earlier model it may have been one URL instead of a list.
  const stored = found && upgraded(engine.model, found)
  const body = withoutForeignUrls(named, sent, stored, keysBelow(request, host.files))
  return upload ? { ...body, ...fileValues(upload, incoming.files, body) } : body
}

/** The values of the fields that `files` are for, including what `body` keeps of them. */
function fileValues(upload: Upload, files: readonly IncomingFile[], body: Fields): Fields {
  const values: Fields = {}
  for (const field of upload.fields.values()) {
    const urls = files.filter((file) => file.field === field.name).map((file) => file.url)
    if (urls.length === 0) continue
    const before = body[field.name]
    const kept = Array.isArray(before) ? before : []
    if (kept.length + urls.length > field.maxCount) throw unexpectedFile()
    values[field.name] = fileValue(field, kept, urls)
  }
  return values
}

/** The record that is being written, if it is what is expected. Throws a 404 if there is none, or the refusal of `expected`. */
export async function writeExpected<T>(
  request: ApiRequest,
  expected: Expected | undefined,
  writing: Promise<T | null>,
): Promise<T> {
  const { [KEYED]: keyed } = request as Keyed
  const written = await (keyed ? noteWrite(keyed, writing) : writing)
  if (written === null) throw expected?.refusal ?? entryNotFound()
  return written
}

/** What the client may see of the record that it has written. */
export async function respondWritten(
  resource: Resource,
  reads: Scope,
  record: Fields,
  request: ApiRequest,
  view: View | (() => Promise<View>),
  init?: ResponseInitLike,
): Promise<Response> {
  // Outside of the read scope, nothing but its id is shown.
  const isHidden = reads !== unlimited && !reads.admits(record)
  const json = isHidden
    ? JSON.stringify({ _id: record._id })
    : await showWritten(
        { resource, view: typeof view === 'function' ? await view() : view, request },
        record,
      )
  if (!resource.model.changes) return dataResponse(json, init)
  const headers = { ...init?.headers, ...changeIdOf(resource.engine, record._id) }
  return dataResponse(json, { ...init, headers })
}

/** `Change-Id` of a response: the position of what the request's write of a record has added to the log of changes. */
export function changeIdOf(
  { author, model }: Pick<Resource['engine'], 'author' | 'model'>,
  id: unknown,
): Record<string, string> {
  return author?.headers(model.name, id) ?? {}
}
