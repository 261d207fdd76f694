/** Reads through the cache. Guards have run, so no one they refuse gets one. This folder knows nothing of records. */

import { type ApiRequest, basePathOf, type RequestContext } from '../http/request/request.ts'
import { type MaybePromise, whenThere } from '../ports/promises/maybe-promise.ts'
import { unreachable, within } from './availability.ts'
import { type Entry, entryResponse, etagOf, type Tagged } from './conditional.ts'
import { audienceOf, chosenAudience, keyText, type ReadRequest, requestKey } from './key.ts'
import type { CacheSettings } from './options.ts'
import type { VersionedCache } from './versioned-cache.ts'

/** The result of a read; its body is the envelope. */
export interface Loaded extends Tagged {
  /** Whether the cache may keep it. */
  readonly cacheable: boolean
}

export interface CachedRead {
  readonly asked: ReadRequest
  /** The limits on the records that this request may see, as a JSON value. */
  limits(): MaybePromise<unknown>
  load(): MaybePromise<Loaded>
}

/** What all cached reads of a router share. */
export interface CachedOptions {
  readonly settings: CacheSettings
  readonly space: VersionedCache
  /** What shapes the router's responses besides the request; routers with different strings share no entries. */
  readonly router: string
  /** The names of the models that responses are read from. */
  readonly models: readonly string[]
}

interface Flight {
  readonly result: Promise<Loaded & Entry>
  /** By `performance.now()`. */
  readonly begun: number
}

/** How long others join a read, in milliseconds: one that Workers have ended, or whose call never ends, would hold them for ever. */
const JOINED_MS = 10_000

export class CachedReads {
  readonly #options: CachedOptions
  readonly #keyStart: string
  readonly #flights = new Map<string, Flight>()

  constructor(options: CachedOptions) {
    this.#options = options
    const { prefix, namespace } = options.settings
    this.#keyStart = `${prefix}a${JSON.stringify(namespace)}`
  }

  /** Responds from the cache, or with the result of `read.load`. What is in memory is not waited for. */
  respond(request: ApiRequest, context: RequestContext, read: CachedRead): MaybePromise<Response> {
    const { settings, space, models, router } = this.#options
    const { vary } = settings
    const audience = vary ? chosenAudience(request, vary) : audienceOf(request)
    return whenThere(audience, (who) => {
      if (who === undefined) return respondUncached(request, read)
      return whenThere(read.limits(), (limits) => {
        const parts = [router, requestKey(read.asked), who, limits]
        // Links in a response are below it.
        const base = basePathOf(request)
        const key = this.#keyStart + keyText(base === '' ? parts : [...parts, base])
        const entry = space.peek(models, key)
        return entry
          ? entryResponse(request, entry, 'HIT')
          : this.#look(request, context, read, key)
      })
    })
  }

  async #look(
    request: ApiRequest,
    context: RequestContext,
    read: CachedRead,
    key: string,
  ): Promise<Response> {
    const { settings, space, models } = this.#options
    const start = performance.now()
    const found = await space.look(models, key, settings.timeoutMs)
    if (found === unreachable) return respondUncached(request, read)
    if (found.state === 'hit') return entryResponse(request, found.entry, 'HIT')
    if (found.state === 'unsettled') return respondUncached(request, read, 'MISS')
    const patience = settings.timeoutMs - (performance.now() - start)
    const entry = await this.#loadOnce(key, found.version, context, read, patience)
    return entryResponse(request, entry, 'MISS')
  }

  /**
   * Identical concurrent reads query the store once. They must have the same version, so that none of them began after
   * a write that the shared read has not seen; without a version nothing is shared.
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
    const isJoined = under && performance.now() - under.begun < JOINED_MS
    // Don't await if there is nothing to wait for: of reads that arrive together, the second must see the first.
    const shared = isJoined ? await under.result.catch(() => undefined) : undefined
    // A failure, or a response that may not be kept, concerns only the one request.
    if (shared?.cacheable) return shared
    const flight = { result: (async () => withTag(await read.load()))(), begun: performance.now() }
    this.#flights.set(id, flight)
    const land = () => {
      if (this.#flights.get(id) === flight) this.#flights.delete(id)
    }
    const { settings, space } = this.#options
    const keep = async (loaded: Loaded & Entry) =>
      loaded.cacheable ? space.keep(key, version, loaded, settings) : undefined
    const kept = flight.result.then(keep, () => {}).finally(land)
    // On Workers, other requests' response must not be cancelled when this one's client goes away.
    context.waitUntil(kept)
    const loaded = await flight.result
    // Wait, so that the next request is a hit, but not for a slow cache.
    if (patience > 0) await within(kept, patience)
    return loaded
  }
}

async function respondUncached(
  request: ApiRequest,
  read: CachedRead,
  cache?: 'MISS',
): Promise<Response> {
  return entryResponse(request, withTag(await read.load()), cache)
}

function withTag(loaded: Loaded): Loaded & Entry {
  return { ...loaded, etag: etagOf(loaded) }
}
