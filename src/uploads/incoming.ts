import type { BodyLimits } from '../http/body/body.ts'
import { jsonParser } from '../http/body/json-parser.ts'
import type { ApiRequest } from '../http/request/request.ts'
import type { FileStore } from '../ports/services/files.ts'
import type { OptimizationLevel } from '../ports/services/images.ts'
import type { ObjectShape } from '../ports/store/shape.ts'
import { formValues } from './form-fields.ts'
import { newKey } from './model-files.ts'
import { levelOf } from './optimise.ts'
import type { Upload } from './options.ts'
import { MultipartBody, type ReceivedFile } from './receive.ts'

/** A file that has arrived, with the key and URL that it will have. */
export interface IncomingFile extends ReceivedFile {
  readonly key: string
  readonly url: string
}

export interface Incoming {
  /** What was sent, without the files. */
  readonly sent: unknown
  readonly files: readonly IncomingFile[]
  /** How strongly its images are compressed. */
  readonly level: OptimizationLevel | undefined
  /** The client who sent the images: clients take turns. */
  readonly client: unknown
  /** The request, for log lines about its files. */
  readonly request: ApiRequest
  readonly discard?: () => Promise<void>
}

interface BodyRules {
  readonly host: BodyLimits & { readonly files: FileStore | undefined; readonly now: () => number }
  readonly upload: Upload
  readonly shape: ObjectShape
}

/** Reads a multipart body. If this throws, everything buffered is discarded. */
export async function receiveIncoming(
  { host, upload, shape }: BodyRules,
  request: ApiRequest,
  clientAddress: unknown,
): Promise<Incoming> {
  const body = new MultipartBody(upload, host.files)
  try {
    const received = await body.read(request, host.bodyTimeoutMs)
    const sent = formValues(body.texts, shape, jsonParser(host.maxBodyValues))
    const level = levelOf(upload, [
      request.query.imgOptimizations,
      sent.imgOptimizations,
      request.headers.get('x-img-optimizations'),
    ])
    const files = received.map((file): IncomingFile => {
      const key = newKey(upload.prefix, file.type.extension, host.now())
      return { ...file, key, url: host.files?.urlOf(key) ?? '' }
    })
    // If the runtime does not tell the address, each request counts as a client of its own.
    const client = clientAddress ?? request
    return { sent, files, level, client, request, discard: () => body.discard() }
  } catch (error) {
    await body.discard()
    throw error
  }
}
