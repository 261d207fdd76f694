/**
 * SQLite of a Durable Object, and every runtime on the stores with a driver of their own, with what asks the store.
 * http.test.ts has SQLite and D1.
 */

import { newFile } from '../contract/store/file.ts'
import { withService } from '../services/shared.ts'
import { addressOf } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { alike, conforms } from './conforms.ts'
import { databaseOf } from './databases.ts'
import { type Running, runtimes, start } from './runtimes.ts'
import { stored } from './suite.ts'
import { startDurable, startHyperdrive, startLibsqlWorker, startObjects } from './workerd.ts'

conforms('workerd on SQLite of a Durable Object', startDurable)

const keeps = (name: string, open: () => Promise<Running>) => conforms(name, open, stored)

for (const [runtime, command] of Object.entries(runtimes)) {
  keeps(`${runtime} on libSQL`, () => start(command, { STORE: `file:${newFile()}` }))
}

keeps('workerd on libSQL', startLibsqlWorker)

await withService('mongo', ({ url }) => {
  for (const [runtime, command] of Object.entries(runtimes)) {
    keeps(`${runtime} on MongoDB`, () => start(command, { STORE: databaseOf(url) }))
  }
  keeps('workerd on MongoDB, through Durable Objects', () => startObjects(databaseOf(url)))
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const own = () => addressOf(url, fresh())
  for (const [runtime, command] of Object.entries(runtimes)) {
    keeps(`${runtime} on PostgreSQL`, () => start(command, { STORE: own() }))
  }
  keeps('workerd on PostgreSQL, through Hyperdrive and Durable Objects', () => startObjects(own()))
  keeps('workerd on PostgreSQL, through Hyperdrive', () => startHyperdrive(own()))
})

alike()
