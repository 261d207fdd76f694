/**
 * Files in S3, or in a service with the same protocol, on Node, Deno and Bun.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import type { FileStore } from '../../src/ports/services/files.ts'
import { exportsOf } from '../../src/ports/values/exports.ts'
import { uploads } from '../../src/uploads/index.ts'
import { stageIn } from './bytes.ts'
import { checkLength, exactly } from './exact-length.ts'
import { s3Links } from './s3-links.ts'
import { ABSENT_KEY, checkAbsent, resolveS3, type S3Options, type S3Place } from './s3-options.ts'
import { checkStored, isBusy, type Md5, summed } from './s3-stored.ts'

export type { S3Credentials, S3Options } from './s3-options.ts'

/**
 * Keeps files in a bucket. Throws a `TypeError` if neither the options nor the environment name it and its keys.
 *
 * ```ts
 * const files = s3Files({ endpoint: 'https://ams3.digitaloceanspaces.com', bucket: 'atlas' })
 * ```
 */
export function s3Files(options?: S3Options): FileStore {
  const place = resolveS3(options)
  const { bucket: Bucket } = place
  let connecting: ReturnType<typeof connection> | undefined
  const connect = () => {
    connecting ??= connection(place)
    return connecting
  }
  return {
    uploads,
    async put(key, body, meta, { signal } = {}) {
      if (body instanceof Uint8Array) checkLength(body, meta.size)
      const { sdk, client } = await connect()
      const broken = new AbortController()
      const sum = md5()
      const sent = summed(body, sum)
      const command = new sdk.PutObjectCommand({
        Bucket,
        Key: key,
        Body: sent instanceof Uint8Array ? sent : sendable(sent, meta.size, broken),
        ContentLength: meta.size,
        ContentType: meta.contentType,
        ContentDisposition: meta.contentDisposition,
        // A bucket is private by default, and naming an ACL is an error if ACLs are switched off.
        ...(meta.acl === 'public-read' && { ACL: meta.acl }),
      })
      const abortSignal = signal ? AbortSignal.any([signal, broken.signal]) : broken.signal
      const { ETag: etag } = await client.send(command, { abortSignal }).catch(throwAgain)
      await checkStored({ etag }, await sum?.digest(), meta.size, async () => {
        const asked = new sdk.HeadObjectCommand({ Bucket, Key: key })
        const { ETag, ContentLength } = await client.send(asked, { abortSignal })
        return { etag: ETag, size: ContentLength }
      })
      return place.urlOf(key)
    },
    async delete(key, { signal } = {}) {
      const { sdk, client } = await connect()
      const command = new sdk.DeleteObjectCommand({ Bucket, Key: key })
      await client.send(command, signal && { abortSignal: signal })
    },
    ...s3Links(place),
    async *list(prefix) {
      const { sdk, client } = await connect()
      // A server that repeats a page would be read for ever.
      const paging = { client, stopOnSameToken: true }
      for await (const page of sdk.paginateListObjectsV2(paging, { Bucket, Prefix: prefix })) {
        for (const { Key, LastModified } of page.Contents ?? []) {
          if (Key) yield { key: Key, storedAt: LastModified?.getTime() ?? 0 }
        }
      }
    },
    async ping({ signal } = {}) {
      const { sdk, client } = await connect()
      const command = new sdk.GetObjectCommand({ Bucket, Key: ABSENT_KEY, Range: 'bytes=0-0' })
      const ask = async () => {
        const { Body } = await client.send(command, signal && { abortSignal: signal })
        await Body?.transformToByteArray()
      }
      await checkAbsent(ask, (error) => (error as Error).name)
    },
    stage: () => stageIn(tmpdir()),
    async close() {
      ;(await connecting)?.client.destroy()
    },
  }
}

/** `body` as the SDK sends it; if it fails, the sending is aborted. */
function sendable(
  body: ReadableStream<Uint8Array>,
  size: number,
  broken: AbortController,
): Readable {
  const sent = Readable.fromWeb(exactly(body, size) as NodeStream)
  return sent.once('error', (error) => broken.abort(error))
}

/** Throws an error of the SDK. The connection is gone where a process was frozen, or the server had just closed it. */
function throwAgain(error: Error): never {
  const { $metadata, code } = error as { $metadata?: { httpStatusCode?: number }; code?: unknown }
  const again =
    isBusy($metadata?.httpStatusCode, error.name) || /^(?:ECONNRESET|EPIPE)$/.test(`${code}`)
  throw Object.assign(error, { again })
}

/** Undefined if the system forbids MD5. */
function md5(): Md5 | undefined {
  try {
    const hash = createHash('md5')
    return { update: (bytes) => hash.update(bytes), digest: () => hash.digest('hex') }
  } catch {
    return undefined
  }
}

const nothing = (): void => {}
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** The SDK is loaded by the first call that needs it: it costs every start 100 ms and more. */
async function connection(place: S3Place) {
  const sdk = exportsOf(await import('@aws-sdk/client-s3'))
  const { credentials, endpoint, region, pathStyle } = place
  const client = new sdk.S3Client({
    endpoint,
    region,
    // The SDK would keep for ever what does not say when it ends.
    credentials: async () => ({ expiration: new Date(0), ...(await credentials()) }),
    forcePathStyle: pathStyle,
    // R2, Backblaze and others refuse the SDK's own checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Servers and proxies that do not answer it would hold each large file up for six seconds.
    expectContinueHeader: false,
    // A stream can be sent only once; the caller knows what a failure means.
    maxAttempts: 1,
    // It would log to the console what the caller is told anyway.
    logger: silent,
  })
  return { sdk, client }
}
