/**
 * Fences: how the instances of an app learn of a write that could not tell the cache.
 *
 * An instance that has written a record but cannot reach the cache puts a fence into the database, which it has just
 * reached. No instance uses the cache if its knowledge of the fences is older than `LEASE_MS`, and the write responds
 * only when that time has passed. So every read after that response sees the fence, on every instance. The first
 * instance that reaches the cache again replaces the version, then lowers the fence.
 */

import { insertOnce, ownId, ownSchema } from '../model/own-records.ts'
import { everything, type Filter, withId } from '../ports/store/filter.ts'
import type { Collection, CollectionSchema } from '../ports/store/store.ts'

/** The fences of an app; `place` is a model in a space. */
export interface Fences {
  /** The raised fences: place → mark. Rejects if the database fails. */
  standing(): Promise<ReadonlyMap<string, string>>
  /** Whether none is raised, if that is known at once. */
  isClear?(): boolean
  /** Raises a fence after a write; resolves when every instance knows of it. */
  raise(place: string): Promise<void>
  /** Lowers a fence, unless it has been raised again; resolves to whether it did. */
  lower(place: string, mark: string): Promise<boolean>
}

/** How long the database's reply is used, in milliseconds. */
const LEASE_MS = 250
/** How long a write waits: one lease, plus the drift of clocks and timers in that time. */
const WAIT_MS = 300
/** More than the number of models in any app. */
const MAX_FENCES = 10_000

/** The collection of the fences. It is empty except during an outage of the cache. */
export const fenceSchema: CollectionSchema = ownSchema('fieldgate_fences', {
  ...{ place: 'string', mark: 'string' },
})

/** The fences of a cache that only this process uses: no other process has to learn of them. */
export function localFences(): Fences {
  const marks = new Map<string, string>()
  return {
    standing: async () => marks,
    isClear: () => marks.size === 0,
    raise: async (place) => void marks.set(place, crypto.randomUUID()),
    lower: async (place, mark) => marks.get(place) === mark && marks.delete(place),
  }
}

/** The fences of a cache that other instances may use, in the database that they share. */
export function storedFences(collection: Collection): Fences {
  let known: ReadonlyMap<string, string> = new Map()
  let checkedAt = Number.NEGATIVE_INFINITY
  let check: { readonly from: number; readonly done: Promise<void> } | undefined
  const own = new Map<string, Own>()
  const forget = () => {
    checkedAt = Number.NEGATIVE_INFINITY
    check = undefined
  }

  /**
   * Gives the fence that this instance raised another mark, if it is still raised: an instance that replaces the
   * version because of an earlier write then no longer lowers it. Every instance has known the place since it was
   * raised.
   */
  const raisedAnew = async (place: string, mark: string): Promise<Own | undefined> => {
    const before = own.get(place)
    if (!before) return undefined
    const change = { set: { mark } }
    const expect = { mark: before.mark }
    if (await collection.update(idFilter(place), change, { expect })) {
      const again = { ...before, mark }
      own.set(place, again)
      forget()
      return again
    }
    // Another write of this instance was faster.
    return own.get(place) === before ? undefined : raisedAnew(place, mark)
  }

  const readAll = async (from: number): Promise<void> => {
    const found = await collection.find({ filter: everything, sort: [], limit: MAX_FENCES })
    // A slower check that began earlier knows less.
    if (from <= checkedAt) return
    known = new Map(found.map(({ place, mark }) => [String(place), String(mark)]))
    checkedAt = from
  }

  return {
    async standing() {
      const now = performance.now()
      if (now - checkedAt < LEASE_MS) return known
      if (!check || now - check.from >= LEASE_MS) check = { from: now, done: readAll(now) }
      await check.done
      return known
    },

    async raise(place) {
      const mark = crypto.randomUUID()
      let fence = await raisedAnew(place, mark)
      if (!fence) {
        await put(collection, place, mark)
        forget()
        fence = { mark, knownToAllAt: performance.now() + WAIT_MS }
        own.set(place, fence)
      }
      // Each write has a timer of its own: on Workers another one's may have died with its request.
      const waitMs = fence.knownToAllAt - performance.now()
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    },

    async lower(place, mark) {
      const gone = await collection.delete(idFilter(place), { expect: { mark } })
      if (gone) known = new Map([...known].filter(([standing]) => standing !== place))
      else forget()
      return gone !== null
    },
  }
}

interface Own {
  readonly mark: string
  readonly knownToAllAt: number
}

async function put(collection: Collection, place: string, mark: string): Promise<void> {
  if (await collection.update(idFilter(place), { set: { mark } })) return
  const isNew = await insertOnce(collection, { _id: ownId(place), place, mark })
  if (!isNew) await put(collection, place, mark)
}

function idFilter(place: string): Filter {
  return withId(ownId(place))
}
