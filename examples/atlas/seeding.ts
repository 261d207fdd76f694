/**
 * What the atlas serves while it is seeded: the page at `/` at once, and everything else when the seed is complete.
 *
 * @module
 */

import type { Guard } from '../../src/index.ts'
import type { Progress } from './seed.ts'

/** How far a part of the seed is. */
export interface State {
  readonly part: string
  readonly done: number
  readonly total: number
}

/** A seed that goes on while the server answers. */
export interface Seeding {
  /** Undefined when there is nothing to wait for. */
  state(): State | undefined
  /** Hears how far the seed is, and passes it on. */
  readonly progress: Progress
  readonly guard: Guard
  /** Lets everybody in; with an error, those who wait get it. */
  end(error?: Error): void
}

/** What people ask for meanwhile. Probes never come here. */
const OPEN = /^\/(?:docs(?:\/.*)?)?$/

/** Waits for `end`. Requests of the seed itself, which come from no address, pass. */
export function seedingWith(shown: Progress): Seeding {
  let state: State | undefined = { part: 'countries', done: 0, total: 0 }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  promise.catch(() => {})
  return {
    state: () => state,
    progress: {
      ...shown,
      start(part, total, done) {
        state = { part, total, done }
        shown.start(part, total, done)
      },
      advance(done) {
        if (state) state = { ...state, done }
        shown.advance(done)
      },
    },
    async guard(request, { clientAddress }) {
      const { pathname } = new URL(request.url)
      if (!state || clientAddress === undefined || OPEN.test(pathname)) return
      await promise
    },
    end(error) {
      state = undefined
      if (error) reject(error)
      else resolve()
    },
  }
}
