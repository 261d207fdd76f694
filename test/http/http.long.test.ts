/** Deno, Bun and workerd on stores with a server, compared with Node on SQLite. */

import { newFile } from '../contract/store/file.ts'
import { withService } from '../services/shared.ts'
import { addressOf } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { alike, conforms } from './conforms.ts'
import { databaseOf } from './databases.ts'
import { runtimes, start } from './runtimes.ts'
import { startHyperdrive, startLibsqlWorker, startObjects } from './workerd.ts'

const { Node, ...others } = runtimes

conforms('Node on SQLite', () => start(Node))

for (const [runtime, command] of Object.entries(others)) {
  conforms(`${runtime} on libSQL`, () => start(command, { STORE: `file:${newFile()}` }))
}

conforms('workerd on libSQL', startLibsqlWorker)

await withService('mongo', ({ url }) => {
  for (const [runtime, command] of Object.entries(others)) {
    conforms(`${runtime} on MongoDB`, () => start(command, { STORE: databaseOf(url) }))
  }
  conforms('workerd on MongoDB, through Durable Objects', () => startObjects(databaseOf(url)))
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const own = () => addressOf(url, fresh())
  for (const [runtime, command] of Object.entries(others)) {
    conforms(`${runtime} on PostgreSQL`, () => start(command, { STORE: own() }))
  }
  conforms('workerd on PostgreSQL, through Hyperdrive and Durable Objects', () =>
    startObjects(own()),
  )
  conforms('workerd on PostgreSQL, through Hyperdrive', () => startHyperdrive(own()))
})

alike()
