/** A restart while the database takes no writes, as a standby, one that is moved, or one with a full disk: reads go on. */

import { DatabaseSync } from 'node:sqlite'
import { MongoClient } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { consume } from '../../src/background/changes/index.ts'
import { jobs } from '../../src/background/jobs/index.ts'
import { createApp, createRouter, defineModel, type Store } from '../../src/index.ts'
import { fileOfTest } from '../log/proof/file.ts'
import { startReplicaSet } from '../services/replica-set.ts'
import { withService } from '../services/shared.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'

const Task = defineModel('Task', { fields: { title: z.string() }, changes: { keep: '1s' } })

function shop(store: Store) {
  const app = createApp({ store, env: {} })
  app.mount('/tasks', createRouter({ model: Task, middlewares: [], allowedFields: ['title'] }))
  consume(app, 'crm', { models: [Task], handle() {} })
  jobs(app, { nightly: { schedule: '0 3 * * *', run() {} } })
  onTestFinished(() => app.close())
  const status = async (method: string, body?: object) => {
    const headers = { 'Content-Type': 'application/json' }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    return (await app.handle(new Request('http://localhost/tasks', init))).status
  }
  return { app, status }
}

/** Restarts on a store where old entries of the log wait to be dropped. */
async function restarts(open: () => Store, block: () => unknown, opened = open): Promise<void> {
  const before = shop(open())
  await before.app.ready()
  expect(await before.status('POST', { title: 'a' })).toBe(201)
  await before.app.close()
  await new Promise((resolve) => setTimeout(resolve, 1100))
  await block()
  const { app, status } = shop(opened())
  await app.ready()
  expect(await status('GET')).toBe(200)
  expect(await status('POST', { title: 'b' })).not.toBe(201)
}

it('SQLite', async () => {
  const path = fileOfTest()
  const block = () => {
    const database = new DatabaseSync(path)
    for (const [event, table] of [
      ['INSERT', 'tasks'],
      ['INSERT', 'fieldgate_changes_dropped'],
      ['DELETE', 'fieldgate_changes'],
    ]) {
      database.exec(
        `CREATE TRIGGER no_${event}_${table} BEFORE ${event} ON ${table} BEGIN SELECT RAISE(ABORT, 'full'); END`,
      )
    }
    database.close()
  }
  await restarts(() => sqliteStore({ path }), block)
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  it('PostgreSQL', async () => {
    const schema = fresh()
    const open = (url: string) => () => postgresStore({ url, schema })
    const readOnly = `${url}?default_transaction_read_only=on`
    await restarts(open(url), () => {}, open(readOnly))
  })
})

it('MongoDB', async () => {
  // One of its own: the block is for all databases.
  const server = await startReplicaSet(1)
  onTestFinished(() => server.stop())
  const client = await MongoClient.connect(server.url)
  onTestFinished(() => client.close())
  const block = () => client.db('admin').command({ setUserWriteBlockMode: 1, global: true })
  await restarts(() => mongoStore({ url: server.url, database: 'blocked' }), block)
})
