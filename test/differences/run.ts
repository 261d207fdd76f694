/**
 * `npm run differences -- [--pairs 2000] [--seed 1]`: compares fieldgate with express-controller-sets 3.3 as recorded and
 * with 1.1.7 as npm has it, prints how often each row of docs/differences.md showed, and ends with exit code 1 unless the differences are exactly the rows.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { mongo } from '../services/mongo.ts'
import { differ } from './npm.ts'

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
  },
})
// 3.3 cannot be installed; what it does is recorded, and compared by tests.
const recorded = spawnSync('npx', ['vitest', 'run', 'test/differences/recorded'], {
  stdio: 'inherit',
})
const { url, stop } = await mongo()
const { pairs, alike, shown, wrong } = await differ(url, Number(values.pairs), Number(values.seed))
await stop()
for (const [{ there }, count] of shown)
  console.log(`${String(count).padStart(6)}  ${there.slice(0, 110)}`)
console.log(
  `\n${pairs} pairs with 1.1.7, ${alike} alike but for headers and what is around records`,
)
for (const line of wrong) console.error(line)
const holds = wrong.length === 0 && recorded.status === 0
console.log(holds ? 'held' : 'BROKEN')
process.exitCode = holds ? 0 : 1
