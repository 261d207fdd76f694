/**
 * A writer to be killed: `node kill-process.ts <store> <place> <name>` carries out every step over
 * and over, each in a loop of its own, and says what it is about to do and what was answered.
 *
 * @module
 */

import { writeSync } from 'node:fs'
import type { Store } from '../../src/index.ts'
import { deskOn, steps } from './steps.ts'

const [, , store = '', place = '', name = ''] = process.argv
// In this form a bundle has all of them.
const { open } = (await import(`./stores/${store}.ts`)) as { open(place: string): Store }
const desk = await deskOn(open(place))

/** Written before it returns: what was said is known whenever the kill comes. */
function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

const kinds = Object.entries(steps)
const prepared = (index: number, turn: number) =>
  kinds[index]?.[1].prepare(desk, `${name}-${index}-${turn}@example.com`)

const first = await Promise.all(kinds.map((_, index) => prepared(index, 0)))
say('ready')
await Promise.all(
  kinds.map(async ([step, { act }], index) => {
    let account = first[index]
    for (let turn = 1; account; turn += 1) {
      say({ step, account, done: false })
      await act(desk, account)
      say({ step, account, done: true })
      account = await prepared(index, turn)
    }
  }),
)
