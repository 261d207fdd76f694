/** The body of a write: JSON, or on upload routers a multipart body with files. */

import { readJson } from '../../http/body.ts'
import { unsupportedBody } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import { isFields } from '../../model/writable.ts'
import type { Fields } from '../../ports/store.ts'
import { keysBelow } from '../../uploads/base-path.ts'
import { fileValue, withoutForeignUrls } from '../../uploads/file-values.ts'
import type { IncomingFile, Incoming as Received } from '../../uploads/incoming.ts'
import type { Upload } from '../../uploads/options.ts'
import { unexpectedFile } from '../../uploads/refusals.ts'
import type { Context } from '../engine/route.ts'
import type { Resource } from '../setup/resource.ts'
import { uploadCode } from './file-writes.ts'

/** The body of one write, and the files that came with it. */
export interface Incoming extends Received {
  readonly context: Context
}

/** What bodies depend on. */
type BodyRules = Pick<Resource, 'host' | 'model' | 'upload' | 'files'>

/** Reads the body of a write. If this throws, everything buffered is discarded. */
export async function readIncoming(
  { host, model, upload }: BodyRules,
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

/** Whether a body has a file field, so that the stored record must be known. */
export function concernsFiles({ files }: BodyRules, incoming: Incoming): boolean {
  const { sent } = incoming
  return incoming.files.length > 0 || (isFields(sent) && files.namedIn(sent).length > 0)
}

/** The body for the field policy, with URLs in file fields; `stored` is the record to be changed. */
export function bodyOf(
  { host, upload, files }: BodyRules,
  incoming: Incoming,
  stored?: Fields,
): unknown {
  const { sent, request } = incoming
  if (files.names.length === 0 || !isFields(sent)) return sent
  const keys = keysBelow(request, host.files)
  const body = withoutForeignUrls(files.namedIn(sent), sent, stored, keys)
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
