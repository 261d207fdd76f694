/**
 * A cache store that a test can slow down, cut, fill or spoil, call by call.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { memoryCache } from '../../adapters/caches/memory.ts'
import type { CacheStore } from '../../src/index.ts'

/** What is wrong with a cache. `full` takes no more; `hanging` never answers. */
export type Fault = 'none' | 'down' | 'hanging' | 'garbage' | 'full'

/** A cache with faults. */
export interface FaultyCache extends CacheStore {
  fault: Fault
  /** How many milliseconds a call takes before and after it is done; undefined for none. */
  pause: (() => number) | undefined
  /** What has been asked of it, in order. */
  readonly calls: readonly { readonly name: 'get' | 'set'; readonly key: string }[]
}

const GARBAGE: readonly unknown[] = [
  '',
  'x',
  '\n\n\n',
  'v',
  'v00000000-0000-4000-8000-00000000000',
  '{"success":true,"data":[]}',
  42,
  {},
  [],
  true,
]

/** Throws what a client of a cache with this fault does. */
function refuse(fault: Fault, name: 'get' | 'set'): void {
  if (fault === 'down') throw new Error('connect ECONNREFUSED 127.0.0.1:1')
  if (fault === 'full' && name === 'set') throw new Error('OOM command not allowed')
}

/** A working cache, shared like Redis, until its `fault` is set. */
export function faultyCache(inner: CacheStore = memoryCache()): FaultyCache {
  const calls: { name: 'get' | 'set'; key: string }[] = []
  let garbage = 0
  const met = async <T>(name: 'get' | 'set', key: string, call: () => Promise<T>): Promise<T> => {
    calls.push({ name, key })
    if (cache.pause) await delay(cache.pause())
    const { fault } = cache
    if (fault === 'hanging') return new Promise<T>(() => {})
    refuse(fault, name)
    garbage += 1
    const isSpoiled = fault === 'garbage' && name === 'get'
    const result = isSpoiled ? (GARBAGE[garbage % GARBAGE.length] as T) : await call()
    if (cache.pause) await delay(cache.pause())
    return result
  }
  const cache: FaultyCache = {
    fault: 'none',
    pause: undefined,
    calls,
    get: (key) => met('get', key, () => inner.get(key)),
    set: (key, value, ttl) => met('set', key, () => inner.set(key, value, ttl)),
  }
  return cache
}
