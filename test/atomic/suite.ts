/**
 * Atomic steps on any store, against the serial oracle.
 *
 * @module
 */

import { expect, it } from 'vitest'
import type { Store } from '../../src/index.ts'
import { runs } from '../runs.ts'
import { faultsOf, fill, runSteps, type Step, slotsOn } from './slots.ts'

/** Registers the trial for one store; `open` returns one or more stores over the same new records. */
export function atomicSteps(
  name: string,
  open: (count: number) => readonly Store[],
  {
    rounds = 2,
    steps = 40,
    processes = 2,
  }: Partial<Record<'rounds' | 'steps' | 'processes', number>> = {},
): void {
  it(`${name}: atomic steps at once come to the same as one after the other`, {
    timeout: 600_000,
  }, async () => {
    const toll = { stored: 0, thrown: 0, overtaken: 0, runs: 0, faults: [] as string[] }
    for (let round = 0; round < runs(rounds); round += 1) {
      const apps = open(processes).map(slotsOn)
      const [first] = apps
      if (!first) throw new Error('no store')
      await fill(first)
      const done = await Promise.all(
        apps.map((app, at) => runSteps(app, `${'pqr'[at]}`, Math.ceil(steps / apps.length))),
      )
      const all: Step[] = done.flat()
      for (const { end, runs } of all) {
        toll[end] += 1
        toll.runs += runs
      }
      toll.faults.push(...(await faultsOf(first, all)))
      for (const app of apps) await app.close()
    }
    console.info(`${name}, atomic steps:`, { ...toll, faults: toll.faults.length })
    expect(toll.faults).toEqual([])
    expect(toll.stored).toBeGreaterThan(0)
    expect(toll.thrown).toBeGreaterThan(0)
  })
}
