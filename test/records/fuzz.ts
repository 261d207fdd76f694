/**
 * Sends hostile requests to an app for as long as is wished:
 * `node -C fieldgate-source test/records/fuzz.ts --cases 1000000 --seed 1`. Prints how many were answered with each status, or the
 * first one that broke a rule.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { fuzz } from './fuzz/fuzz.ts'

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '1000000' }, seed: { type: 'string' } },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const cases = Number(values.cases)
console.log(`${cases} requests from seed ${seed}`)
const began = performance.now()
console.table(await fuzz(cases, seed))
console.log(`no rule was broken, ${((performance.now() - began) / 1000).toFixed(1)} s`)
