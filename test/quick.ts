/**
 * Keeps the quick tests quick, and the same in each run: a vitest `setupFiles` of the project `unit`. A test file there that
 * starts a process, asks for a service or computes for too long fails, with the way out: the name `*.slow.test.ts`. So does one
 * that leaves a stopped clock to the next.
 *
 * @module
 */

import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import fc from 'fast-check'
import { afterAll, expect } from 'vitest'
import { processorClock } from './limits/processor-time.ts'
import { seeded } from './runs.ts'

/**
 * The slowest files take a quarter of it. Time on the CPU depends on what else runs much less than time on the clock, but two
 * threads that share a core take twice as long, and processors differ. So only CI asks, which runs a file once more, alone.
 */
const CPU_SECONDS = process.env.CI === 'true' ? 8 : Number.POSITIVE_INFINITY

const ADVICE = 'belongs into a file *.slow.test.ts (CONTRIBUTING.md, "The inner loop")'

fc.configureGlobal(seeded)

const starters = [
  'spawn',
  'spawnSync',
  'exec',
  'execSync',
  'execFile',
  'execFileSync',
  'fork',
] as const
for (const name of starters) {
  Object.assign(childProcess, {
    [name]: () => {
      throw new Error(`child_process.${name}(): what starts a process ${ADVICE}`)
    },
  })
}
// Named imports see the replacements too, in files that are loaded from here on.
syncBuiltinESMExports()

const { setTimeout: timer, Date: clock } = globalThis
const passed = processorClock()
afterAll(() => {
  // The next file runs in this process.
  expect(globalThis, 'a clock that was stopped goes on after the test').toMatchObject({
    setTimeout: timer,
    Date: clock,
  })
  const seconds = passed() / 1000
  expect(seconds, `seconds on the CPU; what takes longer ${ADVICE}`).toBeLessThan(CPU_SECONDS)
})
