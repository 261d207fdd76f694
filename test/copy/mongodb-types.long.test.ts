import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  type Db,
  Decimal128,
  type Document,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  MongoClient,
  ObjectId,
  Timestamp,
  UUID,
} from 'mongodb'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, defineModel, type Model, ref, type Store } from '../../src/index.ts'
import { copyRecords } from '../../src/upkeep/copy/copy.ts'
import { ForeignValues, type Loss } from '../../src/upkeep/copy/losses.ts'
import { withService } from '../services/shared.ts'

const Shop = defineModel('Shop', { fields: { name: z.string() } })
const Price = defineModel('Price', {
  fields: {
    name: z.string(),
    amount: z.number().optional(),
    at: z.date().optional(),
    shop: ref('Shop').optional(),
    lines: z.array(z.object({ when: z.date().optional(), sku: z.string() })).optional(),
    notes: z.record(z.string(), z.string()).optional(),
    extra: z.unknown().optional(),
  },
})
const models = [Price] as unknown as Model[]

/** Every type of BSON, at places that the model declares as something else and at places that it doesn't know. */
const everyType = (): Document => ({
  _id: new ObjectId(),
  name: new ObjectId(),
  amount: Decimal128.fromString('19.990'),
  at: '2024-05-01',
  shop: new ObjectId(),
  lines: [
    { _id: new ObjectId(), when: new Date(5), sku: new UUID() },
    { _id: new ObjectId(), sku: new Date(6) },
  ],
  notes: { total: Long.fromString('9007199254740993') },
  extra: {
    decimal: Decimal128.fromString('0.1000000000000000055511151231257827'),
    infinite: Decimal128.fromString('Infinity'),
    long: Long.fromString('9007199254740992'),
    int: new Int32(5),
    double: new Double(5),
    minusZero: new Double(-0),
    nan: new Double(Number.NaN),
    uuid: new UUID(),
    oldUuid: new Binary(Buffer.alloc(16, 7), 3),
    bytes: new Binary(Buffer.from([0, 255])),
    pattern: new BSONRegExp('^a', 'i'),
    time: new Timestamp({ t: 1, i: 2 }),
    least: new MinKey(),
    most: new MaxKey(),
    symbol: new BSONSymbol('s'),
    code: new Code('return 1'),
    scoped: new Code('return a', { a: 1 }),
    far: new Date(8.64e15),
    text: 'é😀',
    none: null,
    yes: true,
    list: [1, [new Date(7)]],
    typed: new Map([['_bsontype', 'ObjectId']]),
  },
  __v: new Int32(3),
  undeclared: { anything: Long.fromNumber(7) },
})

await withService('mongo', ({ url }) => {
  const client = new MongoClient(url)
  const names: string[] = []
  afterAll(async () => {
    for (const name of names) await client.db(name).dropDatabase()
    await client.close()
  })

  /** A new database with `documents` as prices. */
  async function prices(...documents: Document[]): Promise<{ db: Db; store: Store }> {
    const name = `types-${crypto.randomUUID()}`
    names.push(name)
    const db = client.db(name)
    if (documents.length > 0) {
      await db.collection('prices').insertMany(documents as never[], { ignoreUndefined: false })
    }
    const store = mongoStore({ url, database: name })
    onTestFinished(() => store.close())
    return { db, store }
  }

  const rawOf = (db: Db) =>
    db
      .collection('prices')
      .find<Buffer>({}, { raw: true, sort: { _id: 1 } })
      .toArray()

  function pricesIn(store: Store) {
    const app = createApp({ store })
    app.store.collection(Shop)
    return app.store.collection(Price).find({})
  }

  async function lostBy(copy: Promise<unknown>): Promise<readonly Loss[]> {
    const error = await copy.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(ForeignValues)
    return error instanceof ForeignValues ? error.lost : []
  }

  describe('a copy from MongoDB to MongoDB', () => {
    it('keeps every type and every member, byte for byte', async () => {
      const from = await prices(...Array.from({ length: 5 }, everyType), { _id: 7 }, { _id: 'x' })
      const to = await prices()
      const [result] = await copyRecords(from.store, to.store, models)
      expect(result).toMatchObject({ source: 7, target: 7, copied: 7 })
      expect(await rawOf(to.db)).toEqual(await rawOf(from.db))
      const [again] = await copyRecords(from.store, to.store, models)
      expect(again?.copied).toBe(0)
    })

    it('leaves the data of search indexes behind, which the target makes itself', async () => {
      const from = await prices({ _id: new ObjectId(), name: 'a', _grams: { name: ['a'] } })
      const to = await prices()
      await copyRecords(from.store, to.store, models)
      expect(await to.db.collection('prices').findOne({})).not.toHaveProperty('_grams')
    })

    it('names documents that the driver would write in another way, before it writes any', async () => {
      const _id = new ObjectId()
      const from = await prices(
        {
          _id,
          extra: new Map([
            ['b', 1],
            ['1', 2],
          ]),
        },
        { _id: new ObjectId() },
      )
      const to = await prices()
      const [loss, ...others] = await lostBy(copyRecords(from.store, to.store, models))
      expect(loss).toMatchObject({ collection: 'prices', count: 1, examples: [String(_id)] })
      expect(others).toEqual([])
      expect(await rawOf(to.db)).toEqual([])
      await copyRecords(from.store, to.store, models, { convert: true })
      expect(await to.db.collection('prices').findOne({ _id })).toEqual({
        _id,
        extra: { 1: 2, b: 1 },
      })
    })
  })

  describe('a copy from MongoDB to SQLite', () => {
    it('names what SQLite cannot hold, before it writes anything', async () => {
      const documents = Array.from({ length: 5 }, everyType)
      const from = await prices(...documents)
      const to = sqliteStore()
      const lost = await lostBy(copyRecords(from.store, to, models))
      const examples = documents.slice(0, 3).map(({ _id }) => String(_id))
      for (const loss of lost) {
        expect(loss).toMatchObject({ collection: 'prices', count: 5, examples })
      }
      expect(lost.map(({ field, type, becomes }) => `${field}: ${type}, ${becomes}`)).toEqual([
        'name: ObjectId, a string',
        'amount: Decimal128, a number',
        'at: String, a date',
        'lines.sku: UUID, a string',
        'lines.sku: Date, a string',
        'notes.*: Long, a rounded number',
        'extra.decimal: Decimal128, a rounded number',
        'extra.infinite: Decimal128, null',
        'extra.nan: Double, null',
        'extra.uuid: UUID, a string',
        'extra.oldUuid: UUID (subtype 3), a string in base64',
        'extra.bytes: Binary, a string in base64',
        'extra.pattern: RegExp, a string',
        'extra.time: Timestamp, an object',
        'extra.least: MinKey, null',
        'extra.most: MaxKey, null',
        'extra.symbol: Symbol, a string',
        'extra.code: Code, an object',
        'extra.scoped: Code, an object',
        'extra.far: Date, a string',
        'extra.list: Date, a string',
      ])
      expect(await pricesIn(to)).toEqual([])
    })

    it('is not ended as equal if a value that SQLite cannot hold came after the look for them', async () => {
      const from = await prices({ _id: new ObjectId(), name: 'a' })
      const { exact: _, foreign, ...copying } = from.store.copying ?? {}
      const store: Store = {
        ...from.store,
        copying: {
          ...copying,
          async *foreign(schema) {
            if (foreign) yield* foreign(schema)
            await from.db
              .collection('prices')
              .updateOne({}, { $set: { amount: Decimal128.fromString('1.5') } })
          },
        },
      }
      await expect(copyRecords(store, sqliteStore(), models)).rejects.toThrow(
        'the source was written to during the copy, so it is not certain that both sides are equal.',
      )
    })

    it('copies them as it has said, if it may', async () => {
      const [document] = [everyType()]
      const from = await prices(document)
      const to = sqliteStore()
      const heard: (readonly Loss[])[] = []
      const converting = (lost: readonly Loss[]) => heard.push(lost)
      const [result] = await copyRecords(from.store, to, models, { convert: true, converting })
      expect(result).toMatchObject({ source: 1, target: 1 })
      expect(heard[0]).toHaveLength(21)
      const [copied] = await pricesIn(to)
      expect(copied).toMatchObject({
        _id: String(document._id),
        name: String(document.name),
        amount: 19.99,
        at: new Date('2024-05-01'),
        shop: String(document.shop),
        notes: { total: 9007199254740992 },
        extra: { long: 9007199254740992, int: 5, double: 5, nan: null, least: null, bytes: 'AP8=' },
      })
    })

    it('keeps what is the same in both, without a word', async () => {
      const from = await prices({
        _id: new ObjectId(),
        name: 'plain',
        amount: Long.fromString('-9007199254740992'),
        at: new Date(5),
        shop: new ObjectId(),
        lines: [{ _id: new ObjectId(), when: new Date(6), sku: 's' }],
        extra: { list: [1, 2.5, null, true, { deep: 'é' }], int: new Int32(1) },
        undeclared: 1,
      })
      const back = await prices()
      const middle = sqliteStore()
      await copyRecords(from.store, middle, models)
      await copyRecords(middle, back.store, models)
      const [there, here] = await Promise.all(
        [from, back].map(({ db }) => db.collection('prices').findOne({})),
      )
      expect(here).toEqual({ ...there, amount: -9007199254740992 })
    })

    it('names records with ids of other types, and leaves them out if it may', async () => {
      const id = new ObjectId()
      const from = await prices(
        { _id: 7 },
        { _id: 'x' },
        { _id: id, name: 'kept' },
        { _id: new UUID() },
      )
      const to = sqliteStore()
      const lost = await lostBy(copyRecords(from.store, to, models))
      expect(lost.map(({ field, type, becomes }) => [field, type, becomes])).toEqual([
        ['_id', 'Int32', 'nothing: the record is left out'],
        ['_id', 'String', 'nothing: the record is left out'],
        ['_id', 'UUID', 'nothing: the record is left out'],
      ])
      const [result] = await copyRecords(from.store, to, models, { convert: true })
      expect(result).toMatchObject({ source: 1, target: 1, copied: 1 })
    })
  })
})
