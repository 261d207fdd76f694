/**
 * The scenarios on SQLite, each a test of its own.
 *
 * @module
 */

import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import type { Choice } from './run.ts'
import { scenarios, wrongOf } from './scenarios.ts'

/** Registers some cases of each scenario, of each others. */
export function stepsOnSqlite(choice: Choice): void {
  describe('what is acknowledged is there, and what is refused can be repeated, whichever call fails', () => {
    it.each(scenarios.map((scenario, from) => [scenario.name, scenario, from] as const))(
      '%s',
      async (_, scenario, from) => {
        const ground = { open: () => sqliteStore() }
        expect(await wrongOf(ground, scenario, { ...choice, from })).toEqual([])
      },
    )
  })
}
