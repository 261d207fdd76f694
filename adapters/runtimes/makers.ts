/** How the handler of a Worker makes its app, for programs that need the app without a request. */

import type { App } from '../../src/app/app.ts'

type Make = (env: never) => App

/** By a handler's `fetch`: `{ ...worker(make), scheduled }` keeps it. */
const makers = new WeakMap<object, Make>()

/** Notes that `fetch` responds with the app of `make`; returns it. */
export function madeBy<Fetch extends object>(fetch: Fetch, make: Make): Fetch {
  makers.set(fetch, make)
  return fetch
}

/** What makes the app of a Worker's `export default`; undefined if `worker` or `appObject` did not make it. */
export function makerOf(handler: unknown): Make | undefined {
  if (typeof handler !== 'object' || handler === null || !('fetch' in handler)) return undefined
  const { fetch } = handler
  return typeof fetch === 'function' ? makers.get(fetch) : undefined
}
