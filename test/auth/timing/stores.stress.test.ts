import { MongoClient } from 'mongodb'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { startWorker } from '../workers.ts'
import { gate, served } from './gate.ts'

gate('D1', async () => {
  const workerd = await startWorker(new URL('worker.ts', import.meta.url))
  const ask = async (path: string) => {
    const { ok } = await workerd.dispatchFetch(`http://localhost${path}`)
    if (!ok) throw new Error(`the worker could not ${path}`)
  }
  return {
    prepare: () => ask('/prepare'),
    restore: () => ask('/restore'),
    async send(path, body, client, token) {
      const headers = {
        ...{ 'content-type': 'application/json', 'x-client': client },
        ...(token && { authorization: `Bearer ${token}` }),
      }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await workerd.dispatchFetch(`http://localhost/auth/${path}`, init)
      return { status: response.status, text: await response.text() }
    },
    close: () => workerd.dispose(),
  }
})

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)()
  gate('PostgreSQL', () => served(postgresStore({ url, schema })))
})

await withService('mongo', ({ url }) => {
  gate('MongoDB', async () => {
    const database = `timing-${crypto.randomUUID()}`
    const opened = await served(mongoStore({ url, database }))
    const close = async () => {
      await opened.close()
      const client = new MongoClient(url)
      await client.db(database).dropDatabase()
      await client.close()
    }
    return { ...opened, close }
  })
})
