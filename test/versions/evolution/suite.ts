/**
 * Random versions of an app, on any store.
 *
 * @module
 */

import { describe, test } from 'vitest'
import type { Database } from '../../changes/served.ts'
import { seeds } from '../../runs.ts'
import { Evolution, Stopped } from './run.ts'
import type { How } from './version.ts'

/** Registers `count` runs, times `FIELDGATE_RUNS`, on the store with this name. */
export function evolutions(store: string, database: Database, count: number, how: How): void {
  describe(`random versions of an app, on ${store}`, () => {
    test.each(seeds(count))(
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
