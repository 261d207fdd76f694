/**
 * Random versions of an app, on any store.
 *
 * @module
 */

import { describe, test } from 'vitest'
import type { Database } from '../../changes/served.ts'
import { Evolution, Stopped } from './run.ts'
import type { How } from './version.ts'

/** Registers runs with these seeds on the store with this name. */
export function evolutions(
  store: string,
  database: Database,
  seeds: readonly number[],
  how: How,
): void {
  describe(`random versions of an app, on ${store}`, () => {
    test.each(seeds)(
      'each shows and finds what is stored, beside the others and after them (%i)',
      async (seed) => {
        const evolution = new Evolution(seed, await database(), how)
        try {
          await evolution.run(30)
        } catch (error) {
          if (!(error instanceof Stopped)) {
            throw new Error(evolution.trace.slice(-30).join('\n'), { cause: error })
          }
        }
      },
      120_000,
    )
  })
}
