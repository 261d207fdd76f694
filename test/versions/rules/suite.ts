/**
 * Random versions of models with rules, on any store.
 *
 * @module
 */

import { describe, test } from 'vitest'
import type { Database } from '../../changes/served.ts'
import { Rules } from './run.ts'

/** Registers runs with these seeds on the store with this name. */
export function rulesOfVersions(store: string, database: Database, seeds: readonly number[]): void {
  describe(`random rules of an app's versions, on ${store}`, () => {
    test.each(seeds)(
      'each holds for the writes of its version, whatever the others have stored (%i)',
      async (seed) => {
        const rules = new Rules(seed, await database())
        try {
          await rules.run(60)
        } catch (error) {
          throw new Error(rules.trace.slice(-40).join('\n'), { cause: error })
        }
      },
      120_000,
    )
  })
}
