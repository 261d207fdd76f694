import { MongoClient } from 'mongodb'
import postgres from 'postgres'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel, type Store } from '../../src/index.ts'
import { withService } from '../services/shared.ts'
import { freshSchemas } from './postgres/schemas.ts'

/** Starts an app of so many models. */
async function start(store: Store, models: number): Promise<void> {
  const app = createApp({ store, logger: { debug() {}, info() {}, warn() {}, error() {} } })
  const fields = { name: z.string().max(80), email: z.string().max(80), at: z.date() }
  const declared = { fields, unique: ['email'], indexes: ['at'] } as const
  for (let at = 0; at < models; at += 1) {
    const model = defineModel(`Started${at}`, declared)
    app.mount(`/m${at}`, createRouter({ model, search: ['name'], middlewares: [] }))
  }
  await app.ready()
  await app.close()
}

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  it('a later start sends PostgreSQL as many statements for 30 models as for 3', async () => {
    let statements = 0
    const debug = () => {
      statements += 1
    }
    const sql = postgres(url, { max: 1, onnotice: () => {}, debug })
    const schema = fresh()
    const sentBy = async (models: number): Promise<number> => {
      statements = 0
      await start(postgresStore({ client: sql, schema }), models)
      return statements
    }
    const first = await sentBy(30)
    const [few, many] = [await sentBy(3), await sentBy(30)]
    await sql.end()
    expect(many).toBe(few)
    // One for each table that it makes.
    expect(first - many).toBeLessThan(40)
  })
})

await withService('mongo', ({ url }) => {
  it('a start asks MongoDB for several models at the same time', async () => {
    const client = new MongoClient(url, { monitorCommands: true })
    let [waiting, most] = [0, 0]
    client.on('commandStarted', () => {
      waiting += 1
      most = Math.max(most, waiting)
    })
    for (const end of ['commandSucceeded', 'commandFailed'] as const) {
      client.on(end, () => {
        waiting -= 1
      })
    }
    const database = `start-${crypto.randomUUID()}`
    await start(mongoStore({ client, database }), 30)
    await client.db(database).dropDatabase()
    await client.close()
    expect(most).toBeGreaterThan(1)
  })
})
