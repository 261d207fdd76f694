/**
 * Files in S3, or in a service with the same protocol, on Workers, where the AWS SDK does not run.
 *
 * @module
 */

import type { FileStore, StoredFile } from '../../src/ports/services/files.ts'
import { hexOf } from '../../src/ports/values/hex.ts'
import { code } from '../../src/uploads/taking.ts'
import { fixedLength } from './exact-length.ts'
import { s3Links, sign } from './s3-links.ts'
import { ABSENT_KEY, checkAbsent, resolveS3, type S3Options } from './s3-options.ts'
import { checkStored, isBusy, type Md5, type ObjectState, summed } from './s3-stored.ts'

export type { S3Credentials, S3Options } from './s3-options.ts'

/** Keeps files in a bucket, with the same options and behaviour as on the other runtimes. */
export function s3Files(options?: S3Options): FileStore {
  const place = resolveS3(options)
  const call = async (method: string, url: string, init: Init = {}): Promise<Response> => {
    const { body, headers = {}, signal } = init
    const signed = await sign(place, url, {
      method,
      // A stream's digest is not known before it has been sent.
      headers: { ...headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
    })
    const response = await fetch(url, {
      method,
      headers: signed.headers,
      body: (body ?? null) as BodyInit | null,
      signal: signal ?? null,
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    })
    if (response.ok) return response
    throw new Refusal(method, response.status, textOf(await response.text(), 'Code'))
  }
  return {
    uploads: async () => code,
    async put(key, body, meta, options) {
      const sum = md5()
      const response = await call('PUT', place.urlOf(key), {
        ...options,
        body: fixedLength(summed(body, sum), meta.size),
        headers: {
          'Content-Type': meta.contentType,
          'Content-Disposition': meta.contentDisposition,
          'Content-Length': String(meta.size),
          ...(meta.acl === 'public-read' && { 'x-amz-acl': meta.acl }),
        },
      })
      await response.body?.cancel()
      await checkStored(stateIn(response), await sum?.digest(), meta.size, async () =>
        stateIn(await call('HEAD', place.urlOf(key), options)),
      )
      return place.urlOf(key)
    },
    async delete(key, options) {
      const response = await call('DELETE', place.urlOf(key), options)
      await response.body?.cancel()
    },
    async ping(options) {
      const headers = { Range: 'bytes=0-0' }
      const ask = async () => {
        const response = await call('GET', place.urlOf(ABSENT_KEY), { ...options, headers })
        await response.body?.cancel()
      }
      await checkAbsent(ask, (error) => error instanceof Refusal && error.code)
    },
    ...s3Links(place),
    async *list(prefix) {
      let next: string | undefined
      let last: string | undefined
      do {
        const url = new URL(place.urlOf(''))
        url.searchParams.set('list-type', '2')
        url.searchParams.set('prefix', prefix)
        if (next) url.searchParams.set('continuation-token', next)
        const page = await (await call('GET', url.href)).text()
        yield* filesIn(page)
        ;[last, next] = [next, textOf(page, 'NextContinuationToken')]
        // A server that repeats a page would be read for ever.
      } while (next && next !== last)
    },
  }
}

class Refusal extends Error {
  readonly code: string
  readonly again: boolean

  constructor(method: string, status: number, code = 'no reason given') {
    super(`S3 responded to ${method} with ${status}: ${code}`)
    this.code = code
    this.again = isBusy(status, code)
  }
}

function stateIn({ headers }: Response): ObjectState {
  return { etag: headers.get('etag'), size: Number(headers.get('content-length')) }
}

type DigestStream = new (
  name: 'MD5',
) => WritableStream<Uint8Array> & { readonly digest: Promise<ArrayBuffer> }

/** Only Workers can compute a digest of a stream. */
function md5(): Md5 | undefined {
  const { DigestStream } = crypto as { DigestStream?: DigestStream }
  if (!DigestStream) return undefined
  const stream = new DigestStream('MD5')
  const writer = stream.getWriter()
  return {
    update: (bytes) => writer.write(bytes),
    async digest() {
      await writer.close()
      return hexOf(new Uint8Array(await stream.digest))
    },
  }
}

interface Init {
  readonly body?: ReadableStream<Uint8Array> | Uint8Array
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

/** S3 lists in XML of a fixed form; fieldgate's keys need no unescaping. */
function* filesIn(page: string): Generator<StoredFile> {
  for (const contents of page.split('<Contents>').slice(1)) {
    const key = textOf(contents, 'Key')
    const storedAt = Date.parse(textOf(contents, 'LastModified') ?? '')
    if (key !== undefined) yield { key, storedAt: Number.isNaN(storedAt) ? 0 : storedAt }
  }
}

function textOf(xml: string, element: string): string | undefined {
  const start = xml.indexOf(`<${element}>`)
  const end = start === -1 ? -1 : xml.indexOf(`</${element}>`, start)
  return end === -1 ? undefined : xml.slice(start + element.length + 2, end)
}
