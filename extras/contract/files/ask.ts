/** Short helpers to call a file store in the contract's checks. */

import type { FileMeta, FileStore } from '../../../src/ports/services/files.ts'

/** A store, and how clients read its objects. */
export interface OpenFiles {
  readonly files: FileStore
  /** A GET of a URL of the store, at the place where it is served. */
  get(url: string, headers?: Record<string, string>): Promise<Response>
  /** Advances the store's clock; leave it out if the store uses the real one. */
  pass?(seconds: number): void
}

/** A string as UTF-8 bytes. */
export const text = (content: string): Uint8Array => new TextEncoder().encode(content)

/** The metadata of an object of `size` bytes. */
export function meta(size: number, more: Partial<FileMeta> = {}): FileMeta {
  return { contentType: 'image/png', contentDisposition: 'inline', acl: 'private', size, ...more }
}

/** A folder that no other check uses: checks share their store. */
export function newFolder(): string {
  return crypto.randomUUID()
}

/** A key that no other check uses. */
export function newKey(folder = 'files'): string {
  return `${folder}/${crypto.randomUUID()}.png`
}

/** The keys under a prefix, sorted. */
export async function keysOf(files: FileStore, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of files.list(prefix)) keys.push(key)
  return keys.sort()
}

/** A stream that yields one chunk per pull. */
export function streamOf(chunks: Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

/** Stores `content` and resolves to its URL. */
export function put(
  files: FileStore,
  content: string,
  more: Partial<FileMeta> = {},
  key: string = newKey(),
): Promise<string> {
  const bytes = text(content)
  return files.put(key, bytes, meta(bytes.length, more))
}
