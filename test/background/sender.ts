/** A process that sends the webhooks of a database: its file, the endpoint and its secret are the arguments. */

import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { runBackground, webhooks } from '../../src/background/webhooks/index.ts'
import { createApp } from '../../src/index.ts'
import { counters } from './counters.ts'

const [, , path = '', url = '', secret = ''] = process.argv
const quiet = { debug() {}, info() {}, warn() {}, error: console.error }
const app = counters(createApp({ store: sqliteStore({ path }), logger: quiet }))
webhooks(app, { endpoints: [{ url, secret }], allowPrivate: true, concurrency: 20 })
await runBackground(app)
console.log('ready')
