import { MongoClient } from 'mongodb'
import postgres from 'postgres'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel, type Store } from '../../src/index.ts'
import { withService } from '../services/shared.ts'
import { freshSchemas } from './postgres/schemas.ts'

/** An app of so many models, on a path for each. */
function appOf(store: Store, models: number) {
  const app = createApp({ store, logger: { debug() {}, info() {}, warn() {}, error() {} } })
  const fields = { name: z.string().max(80), email: z.string().max(80), at: z.date().optional() }
  const declared = { fields, unique: ['email'], indexes: ['at'] } as const
  for (let at = 0; at < models; at += 1) {
    const model = defineModel(`Distant${at}`, declared)
    const options = { search: ['name'], query: ['name'], allowedFields: ['name', 'email'] } as const
    app.mount(`/m${at}`, createRouter({ model, ...options, middlewares: [] }))
    app.mount(`/c${at}`, createRouter({ model, ...options, middlewares: [], pagination: 'cursor' }))
  }
  return app
}

async function start(store: Store, models: number): Promise<void> {
  const app = appOf(store, models)
  await app.ready()
  await app.close()
}

/** How often each request asks the database, which `count` tells: a place far away answers each time a little later. */
async function asked(store: Store, count: () => number): Promise<Record<string, number>> {
  const app = appOf(store, 1)
  await app.ready()
  let last: Record<string, unknown> = {}
  const send = async (method: string, path: string, body?: object): Promise<number> => {
    const before = count()
    const headers = { 'Content-Type': 'application/json' }
    const init = body ? { method, headers, body: JSON.stringify(body) } : { method }
    const response = await app.handle(new Request(`http://localhost${path}`, init))
    const text = await response.text()
    last = text === '' ? {} : JSON.parse(text)
    return count() - before
  }
  const found: Record<string, number> = {}
  for (const name of ['a', 'b', 'c'])
    found.create = await send('POST', '/m0', { name, email: name })
  const { _id } = last.data as { _id: string }
  found.read = await send('GET', `/m0/${_id}`)
  found['list with totals'] = await send('GET', '/m0?page=1&pageSize=2')
  found.search = await send('GET', '/m0?s=a')
  found['first page by cursor'] = await send('GET', '/c0?pageSize=1')
  const { nextCursor } = last.pagination as { nextCursor: string }
  found['next page by cursor'] = await send('GET', `/c0?pageSize=1&cursor=${nextCursor}`)
  found.patch = await send('PATCH', `/m0/${_id}`, { name: 'd' })
  found['a duplicate'] = await send('POST', '/m0', { name: 'a', email: 'a' })
  found.delete = await send('DELETE', `/m0/${_id}`)
  await app.close()
  return found
}

const STATEMENTS = {
  ...{ create: 1, read: 1, search: 1, patch: 1, delete: 1 },
  ...{ 'first page by cursor': 1, 'next page by cursor': 1 },
  // Both at the same time.
  'list with totals': 2,
  // Which of the unique fields it is, is asked for all of them at the same time.
  'a duplicate': 3,
}

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  let statements = 0
  const debug = () => {
    statements += 1
  }
  const connected = () => postgres(url, { max: 1, onnotice: () => {}, debug })

  it('a later start sends PostgreSQL as many statements for 30 models as for 3', async () => {
    const [client, schema] = [connected(), fresh()]
    const sentBy = async (models: number): Promise<number> => {
      statements = 0
      await start(postgresStore({ client, schema }), models)
      return statements
    }
    const first = await sentBy(30)
    const [few, many] = [await sentBy(3), await sentBy(30)]
    await client.end()
    expect(many).toBe(few)
    // One for each table that it makes.
    expect(first - many).toBeLessThan(40)
  })

  it('a request of a distant PostgreSQL waits for one answer, or two if it is refused', async () => {
    const client = connected()
    const store = postgresStore({ client, schema: fresh() })
    expect(await asked(store, () => statements)).toEqual(STATEMENTS)
    await client.end()
  })
})

await withService('mongo', ({ url }) => {
  const database = `distant-${crypto.randomUUID()}`
  const connected = () => new MongoClient(url, { monitorCommands: true })
  const ended = async (client: MongoClient): Promise<void> => {
    await client.db(database).dropDatabase()
    await client.close()
  }

  it('a start asks MongoDB for several models at the same time', async () => {
    const client = connected()
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
    await start(mongoStore({ client, database }), 30)
    await ended(client)
    expect(most).toBeGreaterThan(1)
  })

  it('a request of a distant MongoDB does too, but for the next page by cursor', async () => {
    const client = connected()
    let commands = 0
    client.on('commandStarted', () => {
      commands += 1
    })
    const store = mongoStore({ client, database })
    const found = await asked(store, () => commands)
    await ended(client)
    expect(found).toEqual({ ...STATEMENTS, 'next page by cursor': 2 })
  })
})
