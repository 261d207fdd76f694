import { expect, onTestFinished, test } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { createRouter, defineModel, ref } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { startSingleMongod } from '../../services/single-mongod.ts'
import { service } from '../service.ts'

await withService('mongod', () => {
  test('MongoDB: a server outside of a replica set is a start-up error', async () => {
    const { url, stop } = await startSingleMongod()
    onTestFinished(stop)
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
