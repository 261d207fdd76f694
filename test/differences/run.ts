/**
 * `npm run differences -- [--pairs 2000] [--seed 1]`: compares fieldgate with express-controller-sets, prints how often each row of
 * docs/differences.md showed, and ends with exit code 1 unless the differences are exactly the rows.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { mongo } from '../services/mongo.ts'
import { differ } from './npm.ts'

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
  },
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
console.log(wrong.length === 0 ? 'held' : `BROKEN: ${wrong.length}`)
process.exitCode = wrong.length === 0 ? 0 : 1
