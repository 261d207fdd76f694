/**
 * Every runtime on a store that needs no server, and the other stores on Node with what asks the store; http.long.test.ts has
 * the rest.
 */

import { newFile } from '../contract/store/file.ts'
import { withService } from '../services/shared.ts'
import { addressOf } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { alike, conforms } from './conforms.ts'
import { databaseOf } from './databases.ts'
import { runtimes, start } from './runtimes.ts'
import { stored } from './suite.ts'
import { startDurable, startWorkerd } from './workerd.ts'

for (const [runtime, command] of Object.entries(runtimes)) {
  conforms(`${runtime} on SQLite`, () => start(command))
}

conforms('workerd on D1', startWorkerd)
conforms('workerd on SQLite of a Durable Object', startDurable)
conforms('Node on libSQL', () => start(runtimes.Node, { STORE: `file:${newFile()}` }), stored)

await withService('mongo', ({ url }) => {
  conforms('Node on MongoDB', () => start(runtimes.Node, { STORE: databaseOf(url) }), stored)
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const STORE = () => addressOf(url, fresh())
  conforms('Node on PostgreSQL', () => start(runtimes.Node, { STORE: STORE() }), stored)
})

alike()
