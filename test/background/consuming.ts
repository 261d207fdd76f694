/** A process that consumes the changes of counters, and writes some itself: `<database> <file for notes>`. */

import { appendFileSync } from 'node:fs'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { consume, runBackground } from '../../src/background/changes/index.ts'
import { createApp } from '../../src/index.ts'
import { Counter, counters, countUp } from './counters.ts'

const [, , path = '', notes = ''] = process.argv
const quiet = { debug() {}, info() {}, warn() {}, error: console.error }
const app = counters(createApp({ store: sqliteStore({ path }), logger: quiet }))
let tries = 0
consume(app, 'notes', {
  models: [Counter],
  concurrency: 4,
  handle({ after, id }) {
    tries += 1
    if (tries % 7 === 0) throw new Error('now and then')
    appendFileSync(notes, `${after?._id} ${after?.count} ${id} ${process.pid}\n`)
  },
})
await runBackground(app)
console.log('ready')
await countUp(app, 10, 3)
