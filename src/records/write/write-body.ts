/**
 * The body of a write: JSON, or on upload routers a multipart body with files (spec 4.3).
 *
 * @module
 */

import { readJson } from '../../http/body.ts'
import { jsonParser } from '../../http/json.ts'
import { unsupportedBody } from '../../http/refusals.ts'
import type { ApiRequest, RequestContext } from '../../http/request.ts'
import { isFields } from '../../model/writable.ts'
import type { OptimizationLevel } from '../../ports/images.ts'
import type { Fields } from '../../ports/store.ts'
import { keysBelow } from '../../uploads/base-path.ts'
import { fileValue, withoutForeignUrls } from '../../uploads/file-values.ts'
import { formValues } from '../../uploads/form-values.ts'
import { newKey } from '../../uploads/keys.ts'
import { isMultipart } from '../../uploads/multipart.ts'
import { levelOf } from '../../uploads/optimise.ts'
import type { Upload } from '../../uploads/options.ts'
import { type Received, type ReceivedFile, receive } from '../../uploads/receive.ts'
import { unexpectedFile } from '../../uploads/refusals.ts'
import type { Resource } from '../setup/resource.ts'

/** A file that has arrived, with the key and URL that it will have. */
export interface IncomingFile extends ReceivedFile {
  readonly key: string
  readonly url: string
}

/** The body of one write, and the files that came with it. */
export interface Incoming {
  readonly files: readonly IncomingFile[]
  /** How strongly its images are compressed. */
  readonly level: OptimizationLevel | undefined
  /** The client who sent the images: clients take turns. */
  readonly client: unknown
  /** The request, for log lines about its files. */
  readonly request: ApiRequest
  /** Whether it contains a file field, so that the stored record must be known. */
  readonly concernsFiles: boolean
  /** The body for the field policy, with URLs in file fields; `stored` is the record to be changed. */
  body(stored?: Fields): unknown
  /** Discards the buffered files. */
  discard(): Promise<void>
}

/** Reads the body of a write. If this throws, everything buffered is discarded. */
export async function readIncoming(
  resource: Resource,
  request: ApiRequest,
  asking?: Asking,
): Promise<Incoming> {
  const { host, upload } = resource
  if (!upload) {
    const json = (await readJson(request, host)) ?? {}
    return withFiles(resource, { client: request, request }, json)
  }
  // If the runtime does not tell the address, each request counts as a client of its own.
  const from = { client: asking?.clientAddress ?? request, request }
  if (!isMultipart(request.headers.get('content-type'))) {
    const refuse = () => unsupportedBody('application/json or multipart/form-data')
    const json = (await readJson(request, host, refuse)) ?? {}
    return withFiles(resource, from, json)
  }
  const { texts, files } = await receive(request, upload, host.files, host.bodyTimeoutMs)
  try {
    const fields = formValues(texts, resource.model.input, jsonParser(host.maxBodyValues))
    const level = levelOf(upload, {
      query: request.query.imgOptimizations,
      field: fields.imgOptimizations,
      header: request.headers.get('x-img-optimizations'),
    })
    return withFiles(resource, from, fields, files, level)
  } catch (error) {
    await discard(files)
    throw error
  }
}

async function discard(files: Received['files']): Promise<void> {
  await Promise.allSettled(files.map(({ held }) => held.discard()))
}

function withFiles(
  resource: Resource,
  from: Pick<Incoming, 'client' | 'request'>,
  sent: unknown,
  received: Received['files'] = [],
  level?: OptimizationLevel,
): Incoming {
  const { host, upload } = resource
  const store = host.files
  const prefix = upload?.prefix ?? ''
  const files = received.map((file): IncomingFile => {
    const key = newKey(prefix, file.type.extension, host.now())
    return { ...file, key, url: store?.urlOf(key) ?? '' }
  })
  return {
    files,
    level,
    ...from,
    concernsFiles: files.length > 0 || (isFields(sent) && resource.files.namedIn(sent).length > 0),
    body(stored) {
      if (!isFields(sent)) return sent
      const keys = keysBelow(from.request, store)
      const body = withoutForeignUrls(resource.files.namedIn(sent), sent, stored, keys)
      return upload ? { ...body, ...fileValues(upload, files, body) } : body
    },
    discard: () => discard(files),
  }
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

/** Who sends a request, and where the app is mounted. */
export type Asking = Partial<Pick<RequestContext, 'clientAddress' | 'basePath'>>
