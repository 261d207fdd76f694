/**
 * A space: what one cache keeps under one prefix, and the version of each model in it.
 *
 * The namespace of a router is part of its entries' keys alone. Versions are the same for all of them: a process that
 * writes cannot know under what names the routers of other processes keep their answers.
 *
 * Every entry carries the versions of the models that it was read from, and is good only while they all hold. A
 * write replaces its model's version before it answers, so what is older can no longer be met:
 *
 * - A read takes the versions before it asks the store, and keeps its answer under these. One that was overtaken by
 *   a write keeps it under a version that is gone.
 * - During a write the version is a mark under which nothing is kept or met. So no read shows the state before the
 *   write after another has shown the state after it, and nothing old is met when the process dies in between.
 * - Versions are random and never come back. One that the cache has lost is replaced by a new one.
 * - A write that cannot reach the cache raises a fence (fences.ts).
 *
 * What holds, and is proven in test/cache: a read that begins after a write was answered shows that write or a later
 * one, whichever instance wrote and whichever answers, also when the cache was down during the write. In one
 * instance, reads and writes are linearizable. Between instances, reads that overlap two overlapping writes may show
 * the two states in any order, since a port of `get` and `set` cannot count writers.
 *
 * @module
 */

import type { CacheStore } from '../ports/cache.ts'
import { Availability, type Reached, unreachable, type Warn, within } from './availability.ts'
import { type Entry, entryOf, entryText } from './entry.ts'
import type { Fences } from './write-fences.ts'

/** Where a space is. */
export interface SpaceOptions {
  readonly store: CacheStore
  /** What its keys start with. */
  readonly prefix: string
  /** Identifies the space among those of the app's database. */
  readonly place: string
  readonly fences: Fences
  readonly warn: Warn
}

/** What a look into the cache has found. */
export type Found =
  | { readonly state: 'hit'; readonly entry: Entry }
  /** Nothing; an answer that is read from now on may be kept under `version`. */
  | { readonly state: 'miss'; readonly version: string }
  /** A write is under way, so nothing is met or kept. */
  | { readonly state: 'unsettled' }

/** Long enough never to matter; a version that has expired costs a miss. */
const VERSION_TTL = 86_400
/** A mark outlives any write, and then dies should its writer have died. */
const MARK_TTL = 60

const VERSION = 'v'
const MARK = 'w'
const TOKEN_LENGTH = 37

/** One space of a cache. */
export class VersionedCache {
  readonly #options: SpaceOptions
  readonly #reach: Availability
  /** The mark of this process's writes. */
  readonly #mark: string = newToken(MARK)
  readonly #writes = new Map<string, Writes>()
  readonly #renewals = new Map<string, Promise<string>>()
  readonly #places = new Map<string, Place>()
  #writeTimeoutMs = 0

  constructor(options: SpaceOptions) {
    this.#options = options
    this.#reach = new Availability(options.warn, options.store.local)
  }

  /** Writes wait as long for the cache as the most patient router does. */
  allow(timeoutMs: number): void {
    this.#writeTimeoutMs = Math.max(this.#writeTimeoutMs, timeoutMs)
  }

  /** Looks for the entry under `key`, which was read from `models`. */
  look(models: readonly string[], key: string, timeoutMs: number): Promise<Reached<Found>> {
    // Asked first: a write that begins later is not answered before this read has begun.
    if (models.some((model) => this.#writes.has(model))) {
      return Promise.resolve(this.#reach.isFailing ? unreachable : unsettled)
    }
    return this.#reach.ask(() => this.#look(models, key, timeoutMs), timeoutMs)
  }

  async #look(models: readonly string[], key: string, timeoutMs: number): Promise<Found> {
    const { store, fences } = this.#options
    // Before the versions are read: whoever takes a fence away has replaced the version first.
    const standing = await fences.standing()
    const places = models.map((model) => this.#place(model))
    const [text, ...tokens] = await Promise.all([
      store.get(key),
      ...places.map((place) => store.get(place.versionKey)),
    ])
    const holds = ({ fence }: Place, at: number) =>
      isToken(tokens[at], VERSION) && !standing.has(fence)
    if (!places.every(holds)) {
      if (models.some((model, at) => this.#isMarked(model, tokens[at]))) return unsettled
      const renewals = places.map(async (place, at) => {
        if (!holds(place, at)) tokens[at] = await this.#renewed(place, standing, timeoutMs)
      })
      await Promise.all(renewals)
    }
    const version = tokens.join()
    const entry = entryOf(text, version, key)
    return entry ? { state: 'hit', entry } : { state: 'miss', version }
  }

  /** Keeps an entry; settles when the cache has answered or failed. */
  async keep(
    key: string,
    version: string,
    entry: Entry,
    { ttl, timeoutMs }: { readonly ttl: number; readonly timeoutMs: number },
  ): Promise<void> {
    const text = entryText(version, key, entry)
    const set = async () => this.#options.store.set(key, text, ttl)
    await this.#reach.ask(set, timeoutMs)
  }

  /** Before a write of `model`: from here on nothing of it is met. */
  async begin(model: string): Promise<void> {
    const writes = this.#writes.get(model) ?? { open: 0, unanswered: 0 }
    this.#writes.set(model, writes)
    writes.open += 1
    writes.unanswered += 1
    // Whether it succeeds is of no account: the end of the write has the last word.
    await this.#replace(model, this.#mark)
  }

  /** After a write of `model`, before its answer: from here on nothing older is met. */
  async end(model: string): Promise<void> {
    const writes = this.#writes.get(model)
    if (!writes) return
    writes.open -= 1
    try {
      const isLast = writes.open === 0
      let replaced = await this.#replace(model, isLast ? newToken(VERSION) : this.#mark)
      // The last one may have ended meanwhile, and been replaced by this one's mark.
      if (!isLast && writes.open === 0) replaced = await this.#replace(model, newToken(VERSION))
      if (replaced === unreachable) await this.#options.fences.raise(this.#place(model).fence)
    } finally {
      writes.unanswered -= 1
      if (writes.unanswered === 0) this.#writes.delete(model)
    }
  }

  #replace(model: string, token: string): Promise<Reached<unknown>> {
    const ttl = token === this.#mark ? MARK_TTL : VERSION_TTL
    const { versionKey } = this.#place(model)
    const set = async () => this.#options.store.set(versionKey, token, ttl)
    return this.#reach.ask(set, this.#writeTimeoutMs)
  }

  /** Whether a write is under way somewhere. A mark of this process that has outlived its writes came too late. */
  #isMarked(model: string, token: unknown): boolean {
    return isToken(token, MARK) && (token !== this.#mark || this.#writes.has(model))
  }

  /** A new version in place of none, or of one that a fence says is too old. Identical wishes share one. */
  #renewed(place: Place, standing: Standing, timeoutMs: number): Promise<string> {
    const mark = standing.get(place.fence)
    const wish = `${place.versionKey} ${mark}`
    const under = this.#renewals.get(wish)
    if (under) return under
    const renewal = this.#renew(place, mark, timeoutMs).finally(() => this.#renewals.delete(wish))
    this.#renewals.set(wish, renewal)
    return renewal
  }

  async #renew(place: Place, mark: string | undefined, timeoutMs: number): Promise<string> {
    const { store, fences } = this.#options
    const token = newToken(VERSION)
    const set = async () => {
      await store.set(place.versionKey, token, VERSION_TTL)
      return mark === undefined || (await fences.lower(place.fence, mark))
    }
    if ((await within(set(), timeoutMs)) !== true) throw new Error('its versions are not settled')
    return token
  }

  /** Models are few, and reads many: each place is named once. */
  #place(model: string): Place {
    const known = this.#places.get(model)
    if (known) return known
    const { prefix, place } = this.#options
    const named = {
      versionKey: `${prefix}v${JSON.stringify(model)}`,
      fence: JSON.stringify([place, model]),
    }
    this.#places.set(model, named)
    return named
  }
}

/** Where a model's version and its fence stand. */
interface Place {
  readonly versionKey: string
  readonly fence: string
}

type Standing = ReadonlyMap<string, string>

/** The writes of a model in this process: not yet done, and not yet answered. */
interface Writes {
  open: number
  unanswered: number
}

const unsettled: Found = { state: 'unsettled' }

function newToken(kind: string): string {
  return kind + crypto.randomUUID()
}

/** What a cache gives back may be anything. */
function isToken(token: unknown, kind: string): token is string {
  return typeof token === 'string' && token.length === TOKEN_LENGTH && token[0] === kind
}
