/**
 * A space: what one cache keeps under one prefix, with a version for each model.
 *
 * The namespace of a router is only part of its entries' keys. All namespaces share the versions: a process that writes
 * cannot know under which names the routers of other processes keep their responses.
 *
 * Every entry carries the versions of the models that it was read from, and is valid only while all of them are. A
 * write replaces its model's version before it responds, so no older entry is used after that:
 *
 * - A read gets the versions before it queries the store, and keeps its response under them. If a write overtakes it,
 *   it keeps the response under a version that no longer exists.
 * - During a write the version is a mark, under which nothing is kept or found. So no read shows the state before the
 *   write after another has shown the state after it, and no old entry is found if the process dies in between.
 * - Versions are random and never repeat. If the cache loses one, a new one replaces it.
 * - A write that cannot reach the cache raises a fence (write-fences.ts).
 *
 * The tests in test/cache prove this guarantee: a read that begins after a write has responded shows that write or a
 * later one, no matter which instance wrote and which one reads, even if the cache was down during the write. In one
 * instance, reads and writes are linearizable. Between instances, reads that overlap two overlapping writes may show
 * the two states in any order, because a port with only `get` and `set` cannot count writers.
 */

import type { CacheStore } from '../ports/services/cache.ts'
import { startedOnce } from '../ports/values/once.ts'
import { Availability, type Reached, unreachable, type Warn, within } from './availability.ts'
import type { Entry } from './conditional.ts'
import type { Fences } from './write-fences.ts'

export interface SpaceOptions {
  readonly store: CacheStore
  readonly prefix: string
  /** Identifies the space among those of the app's database. */
  readonly place: string
  readonly nameOf: (model: string) => string
  readonly fences: Fences
  readonly warn: Warn
  readonly warnUnkept: Warn
}

export type Lookup =
  | { readonly state: 'hit'; readonly entry: Entry }
  /** Nothing; a response that is read from now on may be kept under `version`. */
  | { readonly state: 'miss'; readonly version: string }
  /** A write is in progress, so nothing is kept or found. */
  | { readonly state: 'unsettled' }

/** Long enough not to matter; an expired version only costs a miss. */
const VERSION_TTL = 86_400
/** A mark outlives any write, and expires if its writer has died: a process, or a request that Workers have ended silently. */
const MARK_TTL = 60

const VERSION = 'v'
const MARK = 'w'
const TOKEN_LENGTH = 37

export class VersionedCache {
  readonly #options: SpaceOptions
  readonly #reach: Availability
  /** The mark of this process's writes. */
  readonly #mark: string = newToken(MARK)
  readonly #renewals = new Map<string, () => Promise<string>>()
  readonly #places = new Map<string, Place>()
  #writeTimeoutMs = 0

  constructor(options: SpaceOptions) {
    this.#options = options
    this.#reach = new Availability(options.warn, options.store.local)
  }

  /** Writes wait for the cache as long as the most patient router does. */
  allow(timeoutMs: number): void {
    this.#writeTimeoutMs = Math.max(this.#writeTimeoutMs, timeoutMs)
  }

  /** The entry under `key`, which was read from `models`, if that can be told at once. */
  peek(models: readonly string[], key: string): Entry | undefined {
    const { store, fences } = this.#options
    // A place with a fence has to be renewed first.
    if (!store.peek || fences.isClear?.() !== true) return undefined
    try {
      const tokens: string[] = []
      for (const model of models) {
        const place = this.#place(model)
        const token = isWritten(place) ? '' : store.peek(place.versionKey)
        if (!isToken(token, VERSION)) return undefined
        tokens.push(token)
      }
      return entryOf(store.peek(key), tokens.join(), key)
    } catch {
      // `look` finds out what is wrong, and says so.
      return undefined
    }
  }

  look(models: readonly string[], key: string, timeoutMs: number): Promise<Reached<Lookup>> {
    // Check this first: a write that begins later does not respond before this read has begun.
    if (models.some((model) => isWritten(this.#place(model)))) {
      return Promise.resolve(this.#reach.isFailing ? unreachable : unsettled)
    }
    return this.#reach.ask(() => this.#look(models, key, timeoutMs), timeoutMs)
  }

  async #look(models: readonly string[], key: string, timeoutMs: number): Promise<Lookup> {
    const { store, fences } = this.#options
    // Before the versions are read: a fence is lowered only after the version has been replaced.
    const standing = await fences.standing()
    const places = models.map((model) => this.#place(model))
    const [text, ...tokens] = await Promise.all([
      store.get(key),
      ...places.map((place) => store.get(place.versionKey)),
    ])
    const holds = ({ fence }: Place, at: number) =>
      isToken(tokens[at], VERSION) && !standing.has(fence)
    if (!places.every(holds)) {
      // Whether a write is in progress somewhere. A mark of this process that outlived its writes arrived late.
      const isMarked = (place: Place, at: number) =>
        isToken(tokens[at], MARK) && (tokens[at] !== this.#mark || isWritten(place))
      if (places.some(isMarked)) return unsettled
      const renewals = places.map(async (place, at) => {
        if (!holds(place, at)) tokens[at] = await this.#renewed(place, standing, timeoutMs)
      })
      await Promise.all(renewals)
    }
    const version = tokens.join()
    const entry = entryOf(text, version, key)
    return entry ? { state: 'hit', entry } : { state: 'miss', version }
  }

  /** Keeps an entry; settles when the cache has responded or failed. */
  async keep(
    key: string,
    version: string,
    { body, etag }: Entry,
    { ttl, timeoutMs }: { readonly ttl: number; readonly timeoutMs: number },
  ): Promise<void> {
    const text = `${version}\n${key}\n${etag}\n${body.length}\n${body}`
    const { store, warnUnkept } = this.#options
    await this.#reach.offer(async () => store.set(key, text, ttl), timeoutMs, warnUnkept)
  }

  /**
   * Call this before a write of `model`: from now on none of its entries are found. Call what it resolves to after the
   * write, before its response: from then on nothing older is found.
   */
  async begin(model: string): Promise<() => Promise<void>> {
    const place = this.#place(model)
    const write: Write = { since: performance.now() }
    place.open.add(write)
    place.unanswered.add(write)
    // The result does not matter: the end of the write decides.
    await this.#replace(place, this.#mark)
    return () => this.#end(place, write)
  }

  async #end(place: Place, write: Write): Promise<void> {
    const { open } = place
    open.delete(write)
    try {
      const isLast = open.size === 0
      let replaced = await this.#replace(place, isLast ? newToken(VERSION) : this.#mark)
      // Meanwhile, the last write may have ended and this mark may have replaced its version.
      if (!isLast && open.size === 0) replaced = await this.#replace(place, newToken(VERSION))
      if (replaced === unreachable) await this.#options.fences.raise(place.fence)
    } finally {
      place.unanswered.delete(write)
    }
  }

  #replace({ versionKey }: Place, token: string): Promise<Reached<unknown>> {
    const ttl = token === this.#mark ? MARK_TTL : VERSION_TTL
    const set = async () => this.#options.store.set(versionKey, token, ttl)
    return this.#reach.ask(set, this.#writeTimeoutMs)
  }

  /** A new version instead of a missing one, or of one that a fence declares too old. Identical calls share one. */
  #renewed(place: Place, standing: Standing, timeoutMs: number): Promise<string> {
    const mark = standing.get(place.fence)
    const wish = `${place.versionKey} ${mark}`
    const known = this.#renewals.get(wish)
    if (known) return known()
    const renewal = startedOnce(() =>
      this.#renew(place, mark, timeoutMs).finally(() => this.#renewals.delete(wish)),
    )
    this.#renewals.set(wish, renewal)
    return renewal()
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

  /** There are few models and many reads: each place's names are computed once. */
  #place(model: string): Place {
    const known = this.#places.get(model)
    if (known) return known
    const { prefix, place, nameOf } = this.#options
    const name = nameOf(model)
    const named = {
      versionKey: `${prefix}v${JSON.stringify(name)}`,
      fence: JSON.stringify([place, name]),
      open: new Set<Write>(),
      unanswered: new Set<Write>(),
    }
    this.#places.set(model, named)
    return named
  }
}

/** The keys of a model's version and of its fence, and its writes in this process, in the order in which they began. */
interface Place {
  readonly versionKey: string
  readonly fence: string
  /** Those that are not done yet. */
  readonly open: Set<Write>
  /** Those without a response yet. */
  readonly unanswered: Set<Write>
}

interface Write {
  readonly since: number
}

/** Whether a write is in progress here, once those are forgotten that will never end. */
function isWritten({ open, unanswered }: Place): boolean {
  for (const write of unanswered) {
    if (performance.now() - write.since < MARK_TTL * 1000) return true
    open.delete(write)
    unanswered.delete(write)
  }
  return false
}

type Standing = ReadonlyMap<string, string>

const unsettled: Lookup = { state: 'unsettled' }

function newToken(kind: string): string {
  return kind + crypto.randomUUID()
}

/** A cache may return anything. */
function isToken(token: unknown, kind: string): token is string {
  return typeof token === 'string' && token.length === TOKEN_LENGTH && token[0] === kind
}

/**
 * Parses what was kept; undefined unless it is complete and belongs to `key` and `version`: if a client library mixes up its
 * server's replies, one user must not see another's response.
 */
function entryOf(text: unknown, version: string, key: string): Entry | undefined {
  const start = `${version}\n${key}\n`
  // `startsWith` compares sign by sign, which takes four times as long.
  if (typeof text !== 'string' || text.slice(0, start.length) !== start) return undefined
  const etagAt = start.length
  const lengthAt = text.indexOf('\n', etagAt) + 1
  const bodyAt = text.indexOf('\n', lengthAt) + 1
  if (lengthAt === 0 || bodyAt === 0) return undefined
  if (Number(text.slice(lengthAt, bodyAt - 1)) !== text.length - bodyAt) return undefined
  return { etag: text.slice(etagAt, lengthAt - 1), body: text.slice(bodyAt) }
}
