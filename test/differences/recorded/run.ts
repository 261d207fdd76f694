import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Cases } from './case.ts'

/** Registers a test for each case: fieldgate does what is recorded of it, which is what 3.3 does unless a row says so. */
export function test(name: string, cases: Cases): void {
  describe(`fieldgate and 3.3 as recorded: ${name}`, () => {
    it.each(Object.entries(cases))('%s', async (_title, { row, asks, there, here }) => {
      const seen = await asks()
      expect(seen).toEqual(row === undefined ? there : here)
      expect(isDeepStrictEqual(seen, there), 'does the same as 3.3').toBe(row === undefined)
    })
  })
}
