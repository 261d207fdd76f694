/**
 * Short ways to ask a file store in the contract's checks.
 *
 * @module
 */

import type { FileMeta, FileStore } from '../../ports/files.ts'

/** A store, and how the world asks for its objects. */
export interface OpenFiles {
  readonly files: FileStore
  /** GET of a URL of the store, wherever it is served. */
  get(url: string, headers?: Record<string, string>): Promise<Response>
  /** The store's clock goes on; absent where it is the real one. */
  pass?(seconds: number): void
}

/** Bytes of UTF-8. */
export const text = (content: string): Uint8Array => new TextEncoder().encode(content)

/** What is stored beside an object of `size` bytes. */
export function meta(size: number, more: Partial<FileMeta> = {}): FileMeta {
  return { contentType: 'image/png', contentDisposition: 'inline', acl: 'private', size, ...more }
}

/** A folder that no other check has: checks share their store. */
export function newFolder(): string {
  return crypto.randomUUID()
}

/** A key that no other check has. */
export function newKey(folder = 'files'): string {
  return `${folder}/${crypto.randomUUID()}.png`
}

/** The keys under a prefix, sorted. */
export async function keysOf(files: FileStore, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of files.list(prefix)) keys.push(key)
  return keys.sort()
}

/** A stream that gives one chunk each time it is asked. */
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

/** Stores `content` and gives its URL. */
export function put(
  files: FileStore,
  content: string,
  more: Partial<FileMeta> = {},
  key: string = newKey(),
): Promise<string> {
  const bytes = text(content)
  return files.put(key, bytes, meta(bytes.length, more))
}
