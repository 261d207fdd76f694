/**
 * What a million keys do to a process with the cache in memory.
 *
 * @module
 */

import { memoryCache } from '../../adapters/caches/memory.ts'

const KEYS = 1_000_000
const BODY = 1000
const MIB = 1024 * 1024

/** Keeps a million answers of a kilobyte one after the other; gives what is left of them, and the memory. */
export async function memoryBound(): Promise<string> {
  const cache = memoryCache()
  const before = process.memoryUsage().rss
  let most = 0
  const start = performance.now()
  for (let at = 0; at < KEYS; at += 1) {
    // A text of its own each time, as answers are.
    await cache.set(`cs:a["","key ${at}"]`, `${at}${'x'.repeat(BODY)}`.slice(0, BODY), 60)
    if (at % 1000 === 0) most = Math.max(most, process.memoryUsage().rss)
  }
  const seconds = (performance.now() - start) / 1000
  let kept = 0
  for (let at = 0; at < KEYS; at += 1) if (await cache.get(`cs:a["","key ${at}"]`)) kept += 1
  const grown = Math.round((most - before) / MIB)
  return `${KEYS} keys of ${BODY} bytes through the cache in memory in ${seconds.toFixed(1)} s: ${kept} kept, at most ${grown} MiB more`
}
