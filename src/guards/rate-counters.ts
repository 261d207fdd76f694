/**
 * Where requests are counted: in a cache that instances share, or in this process.
 *
 * @module
 */

import { hexDigestOf } from '#hmac'
import { countOfAll } from '#processes'
import { Availability, unreachable, warner } from '../cache/availability.ts'
import type { CacheStore } from '../ports/cache.ts'
import type { Host } from '../records/engine/host.ts'

/**
 * Adds a request of `client` to its count under `policy` in the window with this number, and resolves to the count. A
 * count is kept for `windowSeconds`.
 */
export type Counter = (
  policy: string,
  client: string,
  window: number,
  windowSeconds: number,
) => number | Promise<number>

/** A key that is longer than this is stored as its digest: a client may have chosen it. */
const MAX_KEY = 64
/** The most clients that a process counts at the same time. */
const MAX_CLIENTS = 100_000

/** Counts in `store`; with `local` if it can't be reached, or takes longer than `timeoutMs`. */
export function sharedCounter(
  store: CacheStore,
  local: Counter,
  host: Host,
  timeoutMs: number,
): Counter {
  const warn = warner((problem) => {
    host.logger.warn('rateLimit: the cache cannot be reached; each process counts for itself', {
      error: problem,
    })
  }, host.now)
  const availability = new Availability(warn, store.local)
  return async (policy, client, window, windowSeconds) => {
    const key = `${policy}:${window}:${shortened(client)}`
    const count = await availability.ask(
      async () => store.increment?.(key, windowSeconds),
      timeoutMs,
    )
    return count === unreachable || count === undefined
      ? local(policy, client, window, windowSeconds)
      : count
  }
}

/** How many guards have counters. */
let made = 0

/**
 * Counts in this process, or in the first one if `serve(app, { processes })` has started this one. The counts of a window
 * go when the next one begins.
 */
export function localCounters(): () => Counter {
  made += 1
  const number = made
  return () => (countOfAll ? sharedByProcesses(countOfAll, number) : localCounter())
}

/** Every process makes the same guards in the same order, so their numbers tell them apart. */
function sharedByProcesses(count: NonNullable<typeof countOfAll>, number: number): Counter {
  return (_, client, window, windowSeconds) =>
    count(`${number} ${window} ${shortened(client)}`, windowSeconds)
}

function localCounter(): Counter {
  const counts = new Map<string, number>()
  let current = Number.NaN
  return (_, client, window) => {
    if (window !== current) counts.clear()
    current = window
    const key = shortened(client)
    const count = (counts.get(key) ?? 0) + 1
    if (count === 1 && counts.size >= MAX_CLIENTS) {
      const [oldest] = counts.keys()
      counts.delete(oldest ?? '')
    }
    counts.set(key, count)
    return count
  }
}

function shortened(client: string): string {
  return client.length > MAX_KEY ? hexDigestOf(client) : client
}
