import { MongoClient } from 'mongodb'
import { expect, onTestFinished, test } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { createRouter, defineModel, ref } from '../../../src/index.ts'
import { mongod } from '../../services/replica-set.ts'
import { freePorts, newFolder, startServer } from '../../services/server.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from '../../stores/mongodb/databases.ts'
import { service } from '../service.ts'
import { references } from './suite.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  references('MongoDB', () => mongoStore({ url, database: fresh() }))

  test('MongoDB: a server outside of a replica set is a start-up error', async () => {
    const [port] = await freePorts(1)
    const url = `mongodb://127.0.0.1:${port}`
    const folder = await newFolder('mongod')
    const server = await startServer({
      command: await mongod(),
      args: ['--nounixsocket', '--bind_ip', '127.0.0.1', `--port=${port}`, `--dbpath=${folder}`],
      folder,
      ready: async () => {
        const client = new MongoClient(url, { serverSelectionTimeoutMS: 500 })
        await client
          .db('admin')
          .command({ ping: 1 })
          .finally(() => client.close())
      },
    })
    onTestFinished(() => server.stop())
    defineModel('SingleOwner', { fields: {} })
    const held = (name: string, options = {}) =>
      defineModel(name, { fields: { owner: ref('SingleOwner', options) } })
    const start = (model: ReturnType<typeof held>) => {
      const { app } = service({ store: mongoStore({ url }) })
      app.mount('/held', createRouter({ model, allowedFields: [] }))
      return app.ready()
    }
    await start(held('SingleLoose'))
    await expect(start(held('SingleHeld', { onDelete: 'cascade' }))).rejects.toThrow(
      "Model 'SingleHeld': 'owner' has onDelete, but it cannot be enforced: MongoDB has transactions only in a replica set, and this server is not in one. Start mongod with --replSet, and run rs.initiate() once: one member is enough.",
    )
  })
})
