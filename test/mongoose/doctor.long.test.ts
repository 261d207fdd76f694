import { Binary, Decimal128, Long, MongoClient, ObjectId, UUID } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { fromMongoose } from '../../extras/mongoose/index.ts'
import { type App, createApp, createRouter, defineModel } from '../../src/index.ts'
import { collectionSchema } from '../../src/model/collection-schema.ts'
import type { Model } from '../../src/model/model.ts'
import { checkRecords } from '../../src/upkeep/check/check.ts'
import { examine } from '../../src/upkeep/doctor/doctor.ts'
import { withService } from '../services/shared.ts'
import { mongoose, VERSIONS } from './installation.ts'

/** The part of Mongoose that is used here. */
interface Mongoose {
  readonly Schema: (new (
    fields: object,
    options?: object,
  ) => MongooseSchema) & {
    readonly Types: Readonly<Record<'Decimal128' | 'BigInt' | 'UUID' | 'ObjectId', unknown>>
  }
  createConnection(url: string, options: object): Connection
}
type MongooseSchema = Parameters<typeof fromMongoose>[0] & {
  index(keys: object, options?: object): void
}
interface Connection {
  model(name: string, schema: MongooseSchema): { init(): Promise<unknown> }
  asPromise(): Promise<unknown>
  getClient(): MongoClient
  close(): Promise<void>
}

const FIRST = -3
const FIELDS = ['size', 'boxes', 'list'] as const

async function ask(app: App, method: string, path: string, body?: object) {
  const init = body && {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const response = await app.handle(new Request(`http://app${path}`, { method, ...init }))
  return response.json()
}

await withService('mongo', ({ url }) => {
  it.each(VERSIONS)('a model of %s has no problem with what Mongoose stores', async (version) => {
    const client = await MongoClient.connect(url)
    const database = `doctor-${crypto.randomUUID()}`
    onTestFinished(async () => {
      await client.db(database).dropDatabase()
      await client.close()
    })
    const { Schema } = await mongoose<Mongoose>(version)
    const { Types } = Schema
    const schema = new Schema({
      _id: Number,
      price: Types.Decimal128,
      views: Types.BigInt,
      code: Types.UUID,
      photo: Buffer,
      counts: { type: Map, of: Number },
      reviews: [{ by: String }],
    })
    const { model } = fromMongoose(schema, { name: 'Thing' })
    const things = client.db(database).collection('things')
    await things.insertMany(
      Array.from({ length: 2500 }, (_, at) => ({
        _id: (FIRST + at) as never,
        price: Decimal128.fromString('12345678901234567890.10'),
        views: Long.fromString('9007199254740993'),
        code: new UUID(),
        photo: new Binary(new Uint8Array(3)),
        counts: { a: 1 },
        reviews: [{ _id: new ObjectId(), by: 'x' }],
        more: 1,
      })),
    )
    const store = mongoStore({ client, database })
    const models = [model as unknown as Model]
    const patient = { database: store, models, identifiers: new Map() }
    const { problems, notes } = await examine(patient, { start() {}, advance() {} })
    const undeclared = { problem: 'undeclared', field: 'more', count: 2500 }
    expect(problems).toMatchObject([{ ...undeclared, examples: ['-3', '-2', '-1'] }])
    expect(notes).toEqual([])
    expect((await checkRecords(store, models)).problems).toMatchObject([undeclared])
  })
  it.each(VERSIONS)(
    'of the indexes that a schema of %s declares, none is called useless',
    async (version) => {
      const { Schema, createConnection } = await mongoose<Mongoose>(version)
      const { ObjectId: Id } = Schema.Types
      const schema = new Schema({
        seller: { type: Id, ref: 'Seller', index: true },
        status: String,
        tags: { type: [String], index: true },
        lines: [{ sku: { type: String, index: true } }],
        title: String,
        place: { type: { type: String }, coordinates: [Number] },
        made: Date,
      })
      schema.index({ status: 1, made: -1 })
      schema.index({ title: 'text' })
      schema.index({ place: '2dsphere' })
      schema.index({ title: 'hashed' })
      const database = `doctor-${crypto.randomUUID()}`
      const connection = createConnection(url, { dbName: database })
      onTestFinished(async () => {
        await connection.getClient().db(database).dropDatabase()
        await connection.close()
      })
      await connection.asPromise()
      await connection.model('Stock', schema).init()
      const { model } = fromMongoose(schema, { name: 'Stock' })
      const models = [model as unknown as Model]
      const store = mongoStore({ client: connection.getClient(), database })
      const warnings = async () => {
        const messages: string[] = []
        await store.prepare(
          models.map((one) => collectionSchema(one)),
          (message) => messages.push(message),
        )
        return messages
      }
      const notes = async () => {
        const patient = { database: store, models, identifiers: new Map() }
        const diagnosis = await examine(patient, { start() {}, advance() {} })
        return diagnosis.notes.flatMap(({ problem, note }) => (problem === 'index' ? [note] : []))
      }
      expect([await notes(), await warnings()]).toEqual([[], []])
      // Now fieldgate has its own: the others may go once Mongoose doesn't declare them.
      const covered = (name: string, own: string) =>
        `the index '${name}' begins as '${own}' does, which serves the same reads. Once no other program declares it: db.stocks.dropIndex('${name}')`
      expect(await notes()).toEqual([
        covered('seller_1', 'seller_1__id_1'),
        covered('status_1_made_-1', 'status_1_made_-1__id_1'),
      ])
      expect(await warnings()).toHaveLength(2)
      // A filter by a list needs the one that Mongoose made.
      const stocks = connection.getClient().db(database).collection('stocks')
      await stocks.insertMany(Array.from({ length: 100 }, (_, at) => ({ tags: [`t${at}`] })))
      const { executionStats } = await stocks.find({ tags: 't7' }).explain()
      expect(executionStats.totalDocsExamined).toBe(1)
    },
  )

  it.each(VERSIONS)('values that %s casts and filters do not find are told', async (version) => {
    const { Schema } = await mongoose<Mongoose>(version)
    const { Types } = Schema
    const client = await MongoClient.connect(url)
    const database = `doctor-${crypto.randomUUID()}`
    onTestFinished(async () => {
      await client.db(database).dropDatabase()
      await client.close()
    })
    const schema = new Schema({
      customer: Types.ObjectId,
      parts: [Types.ObjectId],
      price: Types.Decimal128,
      views: Types.BigInt,
      code: Types.UUID,
      photo: Buffer,
      count: Number,
      made: Date,
    })
    const { model } = fromMongoose(schema, { name: 'Order' })
    const store = mongoStore({ client, database })
    const uuid = new UUID()
    const customer = new ObjectId()
    const right = {
      customer,
      parts: [customer],
      price: Decimal128.fromString('3.50'),
      views: Long.fromNumber(7),
      code: uuid.toBinary(),
      photo: new Binary(new Uint8Array(3)),
    }
    const strings = {
      customer: customer.toHexString(),
      parts: [customer.toHexString()],
      price: '3.50',
      views: '7',
      code: uuid.toHexString(),
      photo: 'AAAA',
    }
    const orders = client.db(database).collection('orders')
    await orders.insertMany([
      right,
      strings,
      { price: 3.5, views: 7 },
      { count: '7', made: '2024-01-02' },
    ] as object[])
    const models = [model as unknown as Model]
    const patient = { database: store, models, identifiers: new Map() }
    const { problems } = await examine(patient, { start() {}, advance() {} })
    const told = problems.map(({ problem, field, count, note }) => {
      const [, type] = /where this app stores (\w+)/.exec(note) ?? []
      return [problem, field, count, type ?? note.slice(0, 27)]
    })
    const other = "its type is not the model's"
    expect(told).toEqual([
      ['type', 'customer', 1, 'ObjectId'],
      ['type', 'parts', 1, 'ObjectId'],
      ['type', 'price', 1, 'Decimal128'],
      ['type', 'views', 1, 'Long'],
      ['type', 'code', 1, 'UUID'],
      ['type', 'photo', 1, 'Binary'],
      ['type', 'count', 1, other],
      ['type', 'made', 1, other],
    ])
    // What is told of them is so: records show the strings, and filters don't find them.
    const stored = store.collection(collectionSchema(model as unknown as Model))
    const find = (field: string, value: string) =>
      stored.count({ op: 'eq', field, value }) as Promise<number>
    expect(await find('customer', strings.customer)).toBe(1)
    expect(await find('parts', strings.customer)).toBe(1)
    expect(await find('price', '3.50')).toBe(2)
    expect(await find('views', '7')).toBe(2)
    expect(await find('code', strings.code)).toBe(1)
  })

  it('what is said of undeclared members is so: a write of all that was read loses those, and no others', async () => {
    const client = await MongoClient.connect(url)
    const database = `doctor-${crypto.randomUUID()}`
    onTestFinished(async () => {
      await client.db(database).dropDatabase()
      await client.close()
    })
    const things = client.db(database).collection('things')
    const size = { width: 1, more: 2 }
    await things.insertOne({ size, boxes: { small: size }, list: [size], more: 2 })
    const width = z.object({ width: z.number() })
    const Thing = defineModel('Thing', {
      fields: { size: width, boxes: z.record(z.string(), width), list: z.array(width) },
    })
    const store = mongoStore({ client, database })
    const models = [Thing as unknown as Model]
    const patient = { database: store, models, identifiers: new Map() }
    const { problems } = await examine(patient, { start() {}, advance() {} })
    const lost = problems.filter(({ note }) => note.includes('loses it')).map(({ field }) => field)
    expect(problems.map(({ field }) => field)).toHaveLength(4)
    expect(lost).toEqual(['boxes.small.more', 'list.more'])
    const app = createApp({ store })
    app.mount('/things', createRouter({ model: Thing, middlewares: [], allowedFields: FIELDS }))
    const [{ _id, boxes, list }] = (await ask(app, 'GET', '/things')).data
    const body = { size: { width: 1 }, boxes, list }
    expect((await ask(app, 'PATCH', `/things/${_id}`, body)).success).toBe(true)
    await app.close()
    const stored = await things.findOne()
    const cut = { width: 1 }
    expect(stored).toMatchObject({ size, boxes: { small: cut }, list: [cut], more: 2 })
    expect([stored?.boxes.small, stored?.list[0]]).toEqual([cut, cut])
  })
})
