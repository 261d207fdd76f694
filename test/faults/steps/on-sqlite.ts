/**
 * The scenarios on SQLite, each a test of its own.
 *
 * @module
 */

import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { day } from '../../runs.ts'
import type { Choice } from './run.ts'
import { scenarios, wrongOf } from './scenarios.ts'

/** Registers some cases of each scenario, of each others, and on each day others. */
export function stepsOnSqlite(choice: Choice): void {
  describe('what is acknowledged is there, and what is refused can be repeated, whichever call fails', () => {
    it.each(scenarios.map((scenario, from) => [scenario.name, scenario, from] as const))(
      '%s',
      async (_, scenario, from) => {
        const ground = { open: () => sqliteStore() }
        const wrong = await wrongOf(ground, scenario, { ...choice, from: from + day })
        expect(wrong, `FIELDGATE_DAY=${day}`).toEqual([])
      },
    )
  })
}
