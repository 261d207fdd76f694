import { expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel, type Store } from '../../src/index.ts'
import { recordedLog } from '../records/service.ts'
import { withService } from '../services/shared.ts'

/** The response to a read, and what the log says of it, where the database refuses the app's account or has no such database. */
async function refused(store: Store): Promise<readonly [number, unknown]> {
  const log = recordedLog()
  const app = createApp({ store, logger: log, env: {} })
  const Thing = defineModel('RefusedThing', { fields: { name: z.string() } })
  app.mount('/things', createRouter({ model: Thing, middlewares: [], allowedFields: ['name'] }))
  const { status } = await app.handle(new Request('http://localhost/things'))
  await app.close()
  return [status, log.lines.at(-1)?.details.error]
}

await withService('postgres', ({ url }) => {
  it.each([
    ['account', url.replace('fieldgate@', 'nobody:x@'), 'role "nobody" does not exist'],
    ['database', url.replace(/fieldgate$/, 'nowhere'), 'database "nowhere" does not exist'],
  ])('PostgreSQL without the %s is an outage, which the log explains', async (_, url, reason) => {
    const [status, error] = await refused(postgresStore({ url }))
    expect(status).toBe(503)
    expect(error).toBe(`the database cannot be used: ${reason}`)
  })
})

await withService('mongo', ({ url }) => {
  it('MongoDB without the account is an outage, which the log explains', async () => {
    const given = url.replace('mongodb://', 'mongodb://nobody:x@')
    const [status, error] = await refused(mongoStore({ url: given, database: 'refused' }))
    expect(status).toBe(503)
    expect(error).toBe('the database cannot be reached: Authentication failed.')
  })
})
