import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { batch } from '../../../src/batch/index.ts'
import { createRouter, defineModel, HttpError, type Model, type Store } from '../../../src/index.ts'
import { collectionSchema } from '../../../src/model/collection-schema.ts'
import { service } from '../service.ts'

const status = z.enum(['requested', 'approved', 'lent'])
const fields = {
  tool: z.string().optional(),
  from: z.date(),
  to: z.date(),
  status: status.default('approved'),
}
const Booking = defineModel('RuledBooking', {
  fields,
  exclude: [{ equal: ['tool'], range: ['from', 'to'], where: { status: ['approved', 'lent'] } }],
})

const day = (at: number) => new Date(Date.UTC(2026, 0, at))
const days = (from: number, to: number, more: object = {}) => ({
  ...{ tool: 'saw', from: day(from), to: day(to) },
  ...more,
})

const OVERLAP = 'Overlaps an existing entry.'
const REFUSED = new HttpError(409, OVERLAP, { fields: { from: OVERLAP, to: OVERLAP } })

function bookings(store: Store = sqliteStore()) {
  const made = service({ store })
  made.app
    .mount('/bookings', createRouter({ model: Booking, middlewares: [] }))
    .mount('/batch', batch())
  const collection = made.app.store.collection(Booking)
  return { ...made, collection, post: (json: object) => made.send('POST', '/bookings', { json }) }
}

describe('exclude', () => {
  it('refuses a record whose range overlaps that of another one with equal values', async () => {
    const { collection, post } = bookings()
    expect((await post(days(5, 8))).status).toBe(201)
    const overlapping = [
      [5, 8],
      [4, 6],
      [7, 9],
      [6, 7],
      [1, 20],
    ] as const
    for (const [from, to] of overlapping) {
      expect(await post(days(from, to))).toMatchObject({
        status: 409,
        body: { success: false, error: OVERLAP, fields: { from: OVERLAP, to: OVERLAP } },
      })
    }
    expect(await collection.count()).toBe(1)
    const others = [
      days(8, 9),
      days(1, 5),
      days(5, 8, { tool: 'axe' }),
      days(5, 8, { status: 'requested' }),
      days(5, 8, { tool: undefined }),
    ]
    for (const other of others) expect((await post(other)).status).toBe(201)
  })

  it('refuses a change that would make records overlap', async () => {
    const { send, post, collection } = bookings()
    const [first, second, third] = await Promise.all(
      [days(1, 3), days(3, 5), days(1, 5, { status: 'requested' })].map(
        async (one) => `/bookings/${(await post(one)).record._id}`,
      ),
    )
    const patch = (path: string | undefined, json: object) => send('PATCH', `${path}`, { json })
    expect(await patch(first, { to: day(4) })).toMatchObject({
      status: 409,
      body: { error: OVERLAP },
    })
    expect(await patch(third, { status: 'approved' })).toMatchObject({ status: 409 })
    expect((await patch(third, { to: day(9) })).status).toBe(200)
    expect((await patch(first, { to: day(2), tool: 'saw' })).status).toBe(200)
    expect((await patch(second, { from: day(2) })).status).toBe(200)
    expect((await patch(second, { tool: 'axe' })).status).toBe(200)
    expect((await patch(first, { to: day(5) })).status).toBe(200)
    expect((await patch(second, { tool: 'saw' })).status).toBe(409)
    await expect(collection.updateWhere({}, { tool: 'axe' })).rejects.toEqual(REFUSED)
  })

  it('refuses a range whose end is not after its start', async () => {
    const { send, post, collection } = bookings()
    for (const to of [1, 2]) {
      expect(await post(days(2, to))).toMatchObject({
        status: 400,
        body: { fields: { to: "Must be after 'from'." } },
      })
    }
    const { _id } = await collection.insert(days(2, 4))
    expect((await send('PATCH', `/bookings/${_id}`, { json: { from: day(4) } })).status).toBe(400)
    expect(await collection.find()).toMatchObject([{ from: day(2), to: day(4) }])
  })

  it('holds for batches and atomic steps', async () => {
    const { app, send, collection } = bookings()
    const create = (from: number, to: number) => ({
      method: 'POST',
      path: '/bookings',
      body: days(from, to),
    })
    const operations = [create(1, 3), create(3, 5), create(4, 6)]
    expect(await send('POST', '/batch', { json: { operations } })).toMatchObject({
      status: 409,
      body: { error: OVERLAP, fields: { from: OVERLAP }, operation: 2 },
    })
    expect(await collection.count()).toBe(0)
    const move = { method: 'PATCH', path: '/bookings/$0', body: { from: day(7), to: day(9) } }
    const moved = [create(1, 3), create(5, 6), move, create(1, 3)]
    expect((await send('POST', '/batch', { json: { operations: moved } })).status).toBe(200)
    await expect(collection.insert(days(8, 10))).rejects.toEqual(REFUSED)
    const [first] = await collection.find({ from: day(1) })
    const step = (to: number) =>
      app.store.atomic(async (tx) => {
        const own = tx.collection(Booking)
        await own.update(String(first?._id), { from: day(11), to: day(12) })
        await own.insert(days(1, to))
      })
    await expect(step(6)).rejects.toEqual(REFUSED)
    expect(await collection.findById(String(first?._id))).toMatchObject({ from: day(1) })
    await step(5)
    expect(await collection.count()).toBe(4)
  })

  it('decides in the step of the write: of many bookings at once, one is taken', async () => {
    const { app, collection, post } = bookings()
    const all = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const one = days(1 + (at % 5), 7 + (at % 3))
        if (at % 3 === 0) return (await post(one)).status
        if (at % 3 === 1)
          return collection.insert(one).then(
            () => 201,
            (error) => error.status,
          )
        return app.store
          .atomic((tx) => tx.collection(Booking).insert(one))
          .then(
            () => 201,
            (error) => error.status,
          )
      }),
    )
    expect(all.filter((code) => code === 201)).toHaveLength(1)
    expect(new Set(all)).toEqual(new Set([201, 409]))
  })

  it('takes ranges of numbers, values without an equal one, and hidden fields, which it does not tell', async () => {
    const Shelf = defineModel('RuledShelf', {
      fields: { first: z.number(), last: z.number() },
      exclude: [{ equal: [], range: ['first', 'last'] }],
      hidden: ['last'],
    })
    const { app } = service({ store: sqliteStore() })
    const shelves = app.store.collection(Shelf)
    await shelves.insert({ first: 1, last: 2.5 })
    await shelves.insert({ first: 2.5, last: 3 })
    const error = await shelves.insert({ first: 2, last: 2.6 }).catch((thrown: HttpError) => thrown)
    expect(error).toEqual(new HttpError(409, OVERLAP))
  })

  it('does not start over records that overlap, and names some', async () => {
    const store = sqliteStore()
    const Before = defineModel('RuledBooking', { fields })
    const before = service({ store }).app.store.collection(Before)
    const one = await before.insert(days(1, 9))
    await before.insert(days(2, 3, { status: 'requested' }))
    await before.insert(days(2, 3, { tool: 'axe' }))
    const other = await before.insert(days(3, 5))
    const ready = () => bookings(store).app.ready()
    await expect(ready()).rejects.toThrow(
      `'ruledbookings' already holds records that overlap in from, to: ${other._id} and ${one._id}. Make them differ, or drop it from 'exclude'`,
    )
    await before.update(one._id, { to: day(3) })
    await ready()
    await expect(bookings(store).collection.insert(days(1, 2))).rejects.toEqual(REFUSED)
  })

  it('excludes nothing by records from before the rule in whose range is nothing', async () => {
    const store = sqliteStore()
    const before = service({ store }).app.store.collection(defineModel('RuledBooking', { fields }))
    await before.insert(days(2, 2))
    await before.insert(days(6, 4))
    const { app, collection, post, send } = bookings(store)
    await app.ready()
    expect((await post(days(1, 3))).status).toBe(201)
    const create = { method: 'POST', path: '/bookings', body: days(4, 6) }
    const json = { operations: [create, { ...create, body: days(7, 8) }] }
    expect((await send('POST', '/batch', { json })).status).toBe(200)
    await expect(collection.insert(days(1, 6))).rejects.toEqual(REFUSED)
    await app.store.atomic((tx) =>
      tx.collection(Booking).updateWhere({ from: day(7) }, { from: day(6) }),
    )
    expect(await collection.count()).toBe(5)
  })

  it('judges a change by the rules that it is about', async () => {
    const shelf = { at: z.number(), first: z.number(), last: z.number() }
    const store = sqliteStore()
    const { app: before } = service({ store })
    const old = before.store.collection(defineModel('TwoRules', { fields: shelf }))
    await old.insert({ at: 1, first: 1, last: 5 })
    const { app } = service({ store })
    const range = ['first', 'last'] as const
    const exclude = [
      { equal: [], range },
      { equal: ['at'], range },
    ] as const
    const shelves = app.store.collection(defineModel('TwoRules', { fields: shelf, exclude }))
    await app.ready()
    const { _id } = await old.insert({ at: 2, first: 3, last: 4 })
    expect(await shelves.update(_id, { at: 3 })).toMatchObject({ at: 3 })
    for (const change of [{ at: 1 }, { first: 2 }])
      await expect(shelves.update(_id, change)).rejects.toMatchObject({ status: 409 })
  })

  it('looks again after a version without the rule, as after a rollback', async () => {
    const store = sqliteStore()
    await bookings(store).app.ready()
    const { app } = service({ store })
    const without = app.store.collection(defineModel('RuledBooking', { fields }))
    await app.ready()
    await without.insert(days(1, 9))
    const { _id } = await without.insert(days(2, 5))
    const again = () => bookings(store).app.ready()
    await expect(again()).rejects.toThrow("'ruledbookings' already holds records that overlap")
    await without.delete(_id)
    await again()
  })

  it('looks at the records of another collection, and again after a version where the model had another name', async () => {
    const store = sqliteStore()
    const collection = 'earlier'
    const open = (name: string, more: object) => {
      const { app } = service({ store })
      return { app, records: app.store.collection(defineModel(name, { fields, ...more })) }
    }
    await bookings(store).app.ready()
    const overlapping = async () => {
      const { app, records } = open('RuledEarlier', { collection })
      await app.ready()
      await records.insert(days(1, 9))
      const { _id } = await records.insert(days(2, 5))
      const { exclude } = Booking
      const again = () => open('RuledBooking', { collection, exclude }).app.ready()
      await expect(again()).rejects.toThrow("'earlier' already holds records that overlap")
      await records.delete(_id)
      await again()
      for (const one of await records.find()) await records.delete(one._id)
    }
    await overlapping()
    await overlapping()
  })

  it('asks a store for an index once, if the model or another rule has it too', () => {
    const shelf = { first: z.number(), last: z.number(), kind: z.string() }
    const rule = { equal: ['kind'], range: ['first', 'last'] } as const
    const Indexed = defineModel('IndexedShelf', {
      ...{
        fields: shelf,
        indexes: [['kind', 'last']],
        exclude: [rule, { ...rule, where: { kind: ['a'] } }],
      },
    })
    const keys = [
      { field: 'kind', descending: false },
      { field: 'last', descending: false },
    ]
    expect(collectionSchema(Indexed as unknown as Model).indexes).toEqual([keys])
  })

  it('needs a store that writes several records in one step, with guards', async () => {
    const { guards: _, ...store } = sqliteStore()
    const { app } = bookings(store)
    await expect(app.ready()).rejects.toThrow(
      "Model 'RuledBooking': 'exclude' can't be kept: the store 'sqlite' takes no guards in its writes.",
    )
  })

  it('fails at start-up for what the model does not have', () => {
    const define = (exclude: unknown) => () =>
      defineModel('Wrong', { fields: { ...fields, tags: z.array(z.string()) }, exclude } as never)
    const range = ['from', 'to']
    expect(define([{ equal: ['tol'], range }])).toThrow(
      "Model 'Wrong': 'exclude' lists 'tol', but Wrong has no such field. Did you mean 'tool'?",
    )
    expect(define([{ equal: ['tags'], range }])).toThrow(
      "'exclude' names 'tags', which has more than one value",
    )
    expect(define([{ equal: [], range: ['from', 'tool'] }])).toThrow("in 'range'")
    expect(define([{ equal: [], range: ['from', 'from'] }])).toThrow("in 'range'")
    expect(define([{ equal: [], range, where: { status: ['len'] } }])).toThrow(
      "'exclude' lists 'len' for 'status', which does not take it. Did you mean 'lent'?",
    )
    expect(define([{ equal: [], range, when: {} }])).toThrow("'exclude' must be a list like")
    expect(define({ equal: [], range })).toThrow("'exclude' must be a list like")
  })
})
