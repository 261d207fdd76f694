/** References to records whose ids are any text, such as the keys of an adopted table: capitals are part of them. */

import { expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel, ref } from '../../../src/index.ts'

const Airport = defineModel('TextIdAirport', { id: 'text', fields: { name: z.string() } })
const Flight = defineModel('TextIdFlight', {
  fields: {
    from: ref('TextIdAirport', { onDelete: 'restrict' }),
    to: ref('TextIdAirport').optional(),
  },
})

it('a client may write a reference to an id with capitals, and it is stored as it was sent', async () => {
  const app = createApp({ store: sqliteStore() })
  const open = { middlewares: [], allowedFields: ['from', 'to'] } as const
  app.mount('/flights', createRouter({ ...open, model: Flight }))
  await app.store.collection(Airport).insert({ _id: 'ZRH', name: 'Zurich' })
  const send = async (method: string, path: string, json: object) => {
    const init = { method, headers: { 'content-type': 'application/json' } }
    const request = new Request(`http://localhost${path}`, { ...init, body: JSON.stringify(json) })
    const response = await app.handle(request)
    return { status: response.status, ...JSON.parse(await response.text()) }
  }
  const made = await send('POST', '/flights', { from: 'ZRH', to: 'BRN' })
  expect(made).toMatchObject({ status: 201, data: { from: 'ZRH', to: 'BRN' } })
  const changed = await send('PATCH', `/flights/${made.data._id}`, { to: 'ZRH' })
  expect(changed).toMatchObject({ status: 200, data: { to: 'ZRH' } })
  await app.close()
})
