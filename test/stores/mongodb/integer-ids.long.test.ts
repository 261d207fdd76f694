import { type Document, Long, MongoClient, ObjectId } from 'mongodb'
import { afterAll, expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { createApp, defineModel, ref } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from './databases.ts'

const Ticket = defineModel('Ticket', {
  id: 'integer',
  collection: 'tickets',
  fields: { title: z.string() },
})

const Seat = defineModel('Seat', { fields: { ticket: ref('Ticket') }, unique: ['ticket'] })

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const client = new MongoClient(url)
  afterAll(() => client.close())

  it.each<[string, Document['_id'], string]>([
    ['an ObjectId', new ObjectId(), '1'],
    ['a string', 'zzz', '1'],
    ['a number', 41, '42'],
    ['a part of a number', 41.5, '42'],
    ['a number beyond all integers', Number.POSITIVE_INFINITY, '1'],
    [
      'an integer that JavaScript has no number for',
      Long.fromString('9007199254740993'),
      '9007199254740994',
    ],
  ])('beside %s of another program, new records get integers', async (_, _id, wanted) => {
    const database = fresh()
    await client.db(database).collection<Document>('tickets').insertOne({ _id, title: 'theirs' })
    const app = createApp({ store: mongoStore({ url, database }) })
    const tickets = app.store.collection(Ticket)
    expect((await tickets.insert({ title: 'first' }))._id).toBe(wanted)
    const next = String(BigInt(wanted) + 1n)
    expect((await tickets.insert({ title: 'second' }))._id).toBe(next)
    await app.close()
  })

  it('a step reads records in the order of their numbers, as outside of it', async () => {
    const app = createApp({ store: mongoStore({ url, database: fresh() }) })
    const tickets = app.store.collection(Ticket)
    await app.ready()
    for (let at = 1; at <= 12; at += 1) await tickets.insert({ title: `t${at}` })
    const last = { _id: { gt: '8' } } as never
    const outside = (await tickets.find(last, { sort: '_id', limit: 3 })).map(({ _id }) => _id)
    expect(outside).toEqual(['9', '10', '11'])
    await app.store.atomic(async (tx) => {
      for (const id of ['2', '9', '10']) await tx.collection(Ticket).update(id, { title: 'new' })
      const inside = await tx.collection(Ticket).find(last, { sort: '_id', limit: 3 })
      expect(inside.map(({ _id }) => _id)).toEqual(outside)
    })
    await app.close()
  })

  it('a unique reference refuses a second record with the same integer id', async () => {
    const app = createApp({ store: mongoStore({ url, database: fresh() }) })
    const [tickets, seats] = [app.store.collection(Ticket), app.store.collection(Seat)]
    await app.ready()
    const { _id } = await tickets.insert({ title: 'first' })
    await seats.insert({ ticket: _id })
    await expect(seats.insert({ ticket: _id })).rejects.toMatchObject({ status: 409 })
    await app.close()
  })

  it('processes that create at once get an id each', async () => {
    const database = fresh()
    const apps = [0, 1].map(() => createApp({ store: mongoStore({ url, database }) }))
    for (const app of apps) {
      app.store.collection(Ticket)
      await app.ready()
    }
    const made = apps.flatMap((app) =>
      Array.from({ length: 15 }, () => app.store.collection(Ticket).insert({ title: 'one' })),
    )
    const ids = (await Promise.all(made)).map(({ _id }) => Number(_id))
    expect(ids.toSorted((a, b) => a - b)).toEqual(ids.map((_, at) => at + 1))
    for (const app of apps) await app.close()
  })
})
