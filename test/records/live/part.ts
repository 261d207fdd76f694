/**
 * `npm run faults -- live-rules`: random writes under random rules, for long.
 *
 * @module
 */

import { part } from '../../faults/report.ts'
import { runs } from '../../runs.ts'
import { randomRules } from './random-rules.ts'

/** The writes under the same rules. */
const WRITES = 500

export const liveRules = part({
  about: 'live lists under random rules: what is told of each write to each stream',
  options: { events: runs(1_000_000), seed: 1 },
  async run({ events: wanted, seed: first }) {
    let [events, told, cuts, seed] = [0, 0, 0, first]
    const faults: string[] = []
    while (events < wanted) {
      const judged = await randomRules(seed, WRITES)
      seed += 1
      events += judged.events
      told += judged.told
      cuts += judged.cuts
      faults.push(...judged.faults)
      for (const fault of judged.faults.slice(0, 5)) console.log(fault)
    }
    const rows = [{ 'sets of rules': seed - first, events, told, cuts, faults: faults.length }]
    return { rows, holds: faults.length === 0 }
  },
})
