/**
 * Tries all cases of the scenarios whose names contain a text, and prints what went wrong:
 * `node -C fieldgate-source test/faults/steps/explore.ts [text [kinds [every]]]`.
 *
 * @module
 */

import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { KINDS, type Kind } from './faults.ts'
import { explore } from './run.ts'
import { scenarios, textOf } from './scenarios.ts'

const [, , text = '', named = '', every = '1'] = process.argv
const kinds = named === '' ? KINDS : (named.split(',') as Kind[])
const ground = { open: () => sqliteStore() }
let tried = 0
let wrong = 0
for (const scenario of scenarios.filter(({ name }) => name.includes(text))) {
  const { cases, found } = await explore(ground, scenario, { kinds, every: Number(every) })
  tried += cases
  wrong += found.length
  for (const one of found) console.log(textOf(one))
}
console.log(`${tried} cases, ${wrong} wrong`)
process.exit(wrong > 0 ? 1 : 0)
