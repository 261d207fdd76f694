/**
 * Reads through the cache.
 *
 * Guards have run when a read comes here, so an answer from the cache goes to nobody whom they refuse. The folder
 * knows requests, the rules of options, the cache port and the collection of the store port that fences are kept in; it
 * knows no records.
 *
 * @module
 */

import type { ApiRequest, RequestContext } from '../http/request.ts'
import { unreachable, within } from './availability.ts'
import type { Entry } from './entry.ts'
import { etagOf, type Tagged } from './etag.ts'
import { type Asked, askedKey, audienceOf, keyStart, keyText } from './key.ts'
import type { CacheSettings } from './options.ts'
import { entryResponse } from './respond.ts'
import type { VersionedCache } from './versioned-cache.ts'

/** What a read gives: the envelope as its body. */
export interface Loaded extends Tagged {
  /** Whether it may be kept. */
  readonly cacheable: boolean
}

/** One read of a router. */
export interface CachedRead {
  readonly asked: Asked
  /** What limits the records that this request may see, as a JSON value. */
  limits(): Promise<unknown>
  load(): Promise<Loaded>
}

/** What a router's cached reads have in common. */
export interface CachedOptions {
  readonly settings: CacheSettings
  readonly space: VersionedCache
  /** What shapes the router's answers beside the request; another text is another router. */
  readonly router: string
  /** The names of the models that answers are read from. */
  readonly models: readonly string[]
}

type Flight = Promise<Loaded & Entry>

/** The cached reads of one router. */
export class CachedReads {
  readonly #options: CachedOptions
  readonly #keyStart: string
  readonly #flights = new Map<string, Flight>()

  constructor(options: CachedOptions) {
    this.#options = options
    this.#keyStart = keyStart(options.settings)
  }

  /** Answers from the cache, or with what `read.load` gives. */
  async answer(request: ApiRequest, context: RequestContext, read: CachedRead): Promise<Response> {
    const { settings, space, router, models } = this.#options
    const audience = await audienceOf(request, settings.vary)
    if (audience === undefined) return entryResponse(request, withTag(await read.load()))
    const meant = [router, askedKey(read.asked), audience, await read.limits()]
    const key = this.#keyStart + keyText(meant)
    const start = performance.now()
    const found = await space.look(models, key, settings.timeoutMs)
    if (found === unreachable) return entryResponse(request, withTag(await read.load()))
    if (found.state === 'hit') return entryResponse(request, found.entry, 'HIT')
    if (found.state === 'unsettled') {
      return entryResponse(request, withTag(await read.load()), 'MISS')
    }
    const patience = settings.timeoutMs - (performance.now() - start)
    const entry = await this.#loadOnce(key, found.version, context, read, patience)
    return entryResponse(request, entry, 'MISS')
  }

  /**
   * Identical reads that are under way at the same time ask the store once. They share a version too, so none
   * of them began after a write that the shared one has not seen; without a version nothing is shared.
   */
  async #loadOnce(
    key: string,
    version: string,
    context: RequestContext,
    read: CachedRead,
    patience: number,
  ): Promise<Entry> {
    const id = `${version} ${key}`
    const under = this.#flights.get(id)
    // No pause without one: of reads that come at the same time the first must be seen by the second.
    const shared = under && (await under.catch(() => undefined))
    // A failure, or what is not to be kept, concerns the one request alone.
    if (shared?.cacheable) return shared
    const flight = read.load().then(withTag)
    this.#flights.set(id, flight)
    const land = () => {
      if (this.#flights.get(id) === flight) this.#flights.delete(id)
    }
    const kept = this.#kept(key, version, flight).finally(land)
    // On Workers the others' answer must not end with this one's client.
    context.waitUntil(kept)
    const loaded = await flight
    // So that the next request is a hit; a slow cache is not waited for.
    if (patience > 0) await within(kept, patience)
    return loaded
  }

  async #kept(key: string, version: string, flight: Flight): Promise<void> {
    const { settings, space } = this.#options
    const loaded = await flight.catch(() => undefined)
    if (loaded?.cacheable) await space.keep(key, version, loaded, settings)
  }
}

function withTag(loaded: Loaded): Loaded & Entry {
  return { ...loaded, etag: etagOf(loaded) }
}
