/**
 * Files in Cloudflare R2, through a Worker's binding; served by the app itself.
 *
 * @module
 */

import type { FileStore } from '../../src/ports/services/files.ts'
import { code } from '../../src/uploads/taking.ts'
import { fixedLength } from './exact-length.ts'
import { type LinkOptions, links } from './links.ts'
import type { ServedObject } from './serving.ts'

/** Options of `r2Files`, besides the binding. */
export type R2Options = LinkOptions

/** The part of a Worker's R2 binding that is used. */
export interface R2Binding {
  put(
    key: string,
    value: ReadableStream<Uint8Array> | Uint8Array,
    options: R2PutOptions,
  ): Promise<unknown>
  head(key: string): Promise<R2Object | null>
  get(
    key: string,
    options: { range: { offset: number; length: number } },
  ): Promise<{ body: ReadableStream<Uint8Array> } | null>
  delete(key: string): Promise<void>
  list(options: { prefix: string; cursor?: string }): Promise<R2List>
}

interface R2PutOptions {
  readonly httpMetadata: { readonly contentType: string; readonly contentDisposition: string }
  readonly customMetadata: Record<string, string>
}

interface R2Object {
  readonly key: string
  readonly size: number
  readonly uploaded: Date
  readonly httpEtag: string
  readonly httpMetadata?: { readonly contentType?: string; readonly contentDisposition?: string }
  readonly customMetadata?: { readonly acl?: string }
}

interface R2List {
  readonly objects: readonly R2Object[]
  readonly truncated: boolean
  readonly cursor?: string
}

/**
 * Keeps files in a bucket of R2. The app serves `public-read` files to everyone, and private ones through signed links
 * that expire. Throws a `TypeError` naming the option if one makes no sense.
 *
 * ```ts
 * export default worker((env: Env) => createApp({ store: d1Store(env.DB), files: r2Files(env.FILES, { secret: env.SECRET }) }))
 * ```
 */
export function r2Files(bucket: R2Binding, options: R2Options): FileStore {
  if (typeof bucket?.put !== 'function') throw new TypeError('r2Files: an R2 binding is needed')
  const linked = links('r2Files', options, async (key) => {
    const found = await bucket.head(key)
    return found ? served(bucket, found) : undefined
  })
  return {
    uploads: async () => code,
    async put(key, body, meta, { signal } = {}) {
      await bucket.put(key, fixedLength(body, meta.size, signal), {
        httpMetadata: {
          contentType: meta.contentType,
          contentDisposition: meta.contentDisposition,
        },
        customMetadata: { acl: meta.acl },
      })
      return linked.urlOf(key)
    },
    delete: (key) => bucket.delete(key),
    ...linked,
    async *list(prefix) {
      let cursor: string | undefined
      do {
        const page = await bucket.list({ prefix, ...(cursor !== undefined && { cursor }) })
        for (const { key, uploaded } of page.objects) yield { key, storedAt: uploaded.getTime() }
        cursor = page.truncated ? page.cursor : undefined
      } while (cursor !== undefined)
    },
    async ping() {
      await bucket.head('fieldgate-ready')
    },
  }
}

function served(bucket: R2Binding, found: R2Object): ServedObject {
  const { httpMetadata, customMetadata } = found
  return {
    contentType: httpMetadata?.contentType ?? 'application/octet-stream',
    contentDisposition: httpMetadata?.contentDisposition === 'inline' ? 'inline' : 'attachment',
    acl: customMetadata?.acl === 'public-read' ? 'public-read' : 'private',
    size: found.size,
    storedAt: found.uploaded.getTime(),
    etag: found.httpEtag,
    async read(start, end) {
      const range = { offset: start, length: end - start }
      return (await bucket.get(found.key, { range }))?.body
    },
  }
}
