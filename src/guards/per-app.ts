/**
 * What a guard keeps for each app that it serves.
 *
 * @module
 */

import { type Host, hostOf } from '../records/engine/host.ts'
import type { Context } from '../records/engine/route.ts'

/** Returns a function that makes a value on the first request of each app, and returns it from then on. */
export function perApp<T>(make: (host: Host) => T): (context: Context) => T {
  const known = new WeakMap<Host, T>()
  return ({ store }) => {
    const host = hostOf(store)
    const found = known.get(host)
    if (found !== undefined) return found
    const made = make(host)
    known.set(host, made)
    return made
  }
}
