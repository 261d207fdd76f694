/** The caches of an app: every space that its routers use, and what a write must tell them. */

import type { CacheStore } from '../ports/services/cache.ts'
import type { Logger } from '../ports/services/logger.ts'
import type { Collection, CollectionSchema } from '../ports/store/store.ts'
import { type Warn, warner } from './availability.ts'
import type { CacheSettings, defaultsOf } from './options.ts'
import { VersionedCache } from './versioned-cache.ts'
import { type Fences, fenceSchema, localFences, storedFences } from './write-fences.ts'

export interface CachesOptions {
  readonly logger: Logger
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly collection: (schema: CollectionSchema) => Collection
  /** The name of a model's collection, by which all versions of an app know its records. */
  readonly nameOf: (model: string) => string
}

/** What keeps responses, as one value, so that an app may do without it. */
export interface CacheCode {
  readonly Caches: typeof Caches
  readonly defaultsOf: typeof defaultsOf
  /** What routers do with it, by code that knows its exports. */
  readonly reads: unknown
}

export type SpaceSettings = Pick<CacheSettings, 'store' | 'prefix' | 'timeoutMs'>

export class Caches {
  readonly #options: CachesOptions
  readonly #warnings: Readonly<Record<'warn' | 'warnUnkept', Warn>>
  readonly #stores: CacheStore[] = []
  readonly #spaces = new Map<string, VersionedCache>()
  /** What makes collections tell the first space of their writes. */
  readonly #unwatched: (() => void)[] = []
  #fences: Fences | undefined

  constructor(options: CachesOptions) {
    this.#options = options
    const { logger, now } = options
    const warning = (text: string) =>
      warner((problem) => logger.warn(text, { error: problem }), now)
    this.#warnings = {
      warn: warning('the cache cannot be reached; reads go to the database'),
      warnUnkept: warning('the cache has not kept a response'),
    }
  }

  /** The space of a router; routers with the same store and prefix share one. */
  space({ store, prefix, timeoutMs }: SpaceSettings): VersionedCache {
    if (!this.#stores.includes(store)) this.#stores.push(store)
    const name = JSON.stringify([this.#stores.indexOf(store), prefix])
    const space = this.#spaces.get(name) ?? this.#newSpace(store, prefix)
    this.#spaces.set(name, space)
    for (const watch of this.#unwatched.splice(0)) watch()
    space.allow(timeoutMs)
    return space
  }

  schemas(): readonly CollectionSchema[] {
    return this.#fences ? [fenceSchema] : []
  }

  /** `collection`, with each write held back until no cache returns anything older. Without a cache nothing is wrapped. */
  watched(model: string, collection: Collection): Collection {
    const own = { ...collection }
    const write = <T>(run: () => Promise<T>): Promise<T> => this.written([model], run)
    const told: Partial<Collection> = {
      insert: (record) => write(() => collection.insert(record)),
      update: (filter, change, options) => write(() => collection.update(filter, change, options)),
      updateMany: (filter, change) => write(() => collection.updateMany(filter, change)),
      delete: (filter, options) => write(() => collection.delete(filter, options)),
    }
    const watch = () => void Object.assign(own, told)
    if (this.#spaces.size > 0) watch()
    else this.#unwatched.push(watch)
    return own
  }

  /** Runs a write of records of `models`, held back until no cache returns anything older. */
  async written<T>(models: readonly string[], run: () => Promise<T>): Promise<T> {
    const spaces = [...this.#spaces.values()]
    if (spaces.length === 0) return run()
    const begun = spaces.flatMap((space) => models.map((model) => space.begin(model)))
    const ends = await Promise.all(begun)
    try {
      return await run()
    } finally {
      // After a failure too: a write may have happened even if its result was lost.
      await Promise.all(ends.map((end) => end()))
    }
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close?.()
  }

  #newSpace(store: CacheStore, prefix: string): VersionedCache {
    // Only their order tells an app's caches apart in every process; a local cache concerns no other process.
    const shared = this.#stores.filter(({ local }) => !local)
    const place = JSON.stringify([shared.indexOf(store), prefix])
    const fences = this.#fencesOf(store)
    const { nameOf } = this.#options
    return new VersionedCache({ store, prefix, place, nameOf, fences, ...this.#warnings })
  }

  #fencesOf(store: CacheStore): Fences {
    if (store.local) return localFences()
    this.#fences ??= storedFences(this.#options.collection(fenceSchema))
    return this.#fences
  }
}
