/** A client of the app whose options read otherwise than the store needs. */

import { Long, MongoClient, type MongoClientOptions } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../../records/service.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from './databases.ts'

const Note = defineModel('ClientNote', {
  fields: { text: z.string(), count: z.int() },
  unique: ['text'],
})

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  it.each<MongoClientOptions>([
    { raw: true },
    { promoteValues: false },
    { promoteLongs: false },
    { useBigInt64: true },
  ])('with %o serves the same', async (options) => {
    const client = new MongoClient(url, options)
    onTestFinished(() => client.close())
    const database = fresh()
    const { app, send } = service({ store: mongoStore({ client, database }) })
    const allowedFields = ['text', 'count'] as const
    app.mount('/notes', createRouter({ model: Note, middlewares: [], allowedFields }))
    const note = { text: 'a', count: 5 }
    const { status, body } = await send('POST', '/notes', { json: note })
    expect([status, body.data]).toMatchObject([201, note])
    expect((await send('POST', '/notes', { json: note })).status).toBe(409)
    expect((await send('GET', '/notes')).body.data).toMatchObject([note])
    const native = client.db(database).collection('clientnotes')
    await native.updateMany({}, { $set: { count: Long.fromNumber(7) } })
    const found = { text: 'a', count: 7 }
    const page = (await send('GET', '/notes?page=1')).body
    expect(page).toMatchObject({ data: [found], pagination: { totalRecords: 1 } })
    const path = `/notes/${(body.data as { _id: string })._id}`
    expect((await send('PATCH', path, { json: { text: 'a' } })).body.data).toMatchObject(found)
    expect((await send('GET', path)).body.data).toMatchObject(found)
    expect((await send('DELETE', path)).status).toBe(200)
  })
})
