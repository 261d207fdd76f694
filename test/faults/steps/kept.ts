/**
 * What outlives the processes of a place beside its store: its files and its cache.
 *
 * @module
 */

import { memoryCache } from '../../../adapters/caches/memory.ts'
import type { FileStore } from '../../../src/index.ts'
import type { Place } from './place.ts'

/** Files in memory, for as long as the place is. */
export function filesOf(place: Place): FileStore & { readonly objects: Map<string, number> } {
  const known = place.kept.get('files')
  if (known) return known as never
  const objects = new Map<string, number>()
  const files = {
    objects,
    async put(key: string, body: ReadableStream<Uint8Array> | Uint8Array) {
      await new Response(body as BodyInit).arrayBuffer()
      objects.set(key, place.time)
      return `https://files.example/${key}`
    },
    async delete(key: string) {
      objects.delete(key)
    },
    urlOf: (key: string) => `https://files.example/${key}`,
    keyOf: (url: string) =>
      url.startsWith('https://files.example/')
        ? url.slice('https://files.example/'.length).split('?')[0]
        : undefined,
    signedUrl: async (url: string) => `${url}?signed`,
    async *list(prefix: string) {
      for (const [key, storedAt] of objects) if (key.startsWith(prefix)) yield { key, storedAt }
    },
  }
  place.kept.set('files', files)
  return files as never
}

/** A cache in memory, for as long as the place is. */
export function cacheOf(place: Place) {
  const known = place.kept.get('cache')
  if (known) return known as ReturnType<typeof memoryCache>
  const cache = memoryCache()
  const { get, set, increment } = cache
  // As one that other processes share.
  const shared = { get, set, increment } as never
  place.kept.set('cache', shared)
  return shared as ReturnType<typeof memoryCache>
}
