import { type Document, MongoClient } from 'mongodb'
import { afterAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { createApp, defineModel } from '../../src/index.ts'
import { withService } from '../services/shared.ts'
import { freshDatabases } from '../stores/mongodb/databases.ts'
import { mongoose, VERSIONS } from './installation.ts'

/** The part of Mongoose that is used here. */
interface Mongoose {
  readonly Schema: new (fields: object, options: object) => MongooseSchema
  createConnection(url: string, options: object): Connection
}
interface MongooseSchema {
  index(keys: object, options?: object): void
}
interface Connection {
  model(name: string, schema: MongooseSchema): MongooseModel
  asPromise(): Promise<unknown>
  close(): Promise<void>
}
interface MongooseModel {
  init(): Promise<unknown>
  create(fields: object): Promise<{ readonly id: string }>
  findById(id: string): { lean(): Promise<Document | null> }
  updateOne(filter: object, change: object): Promise<unknown>
}

const RESTARTS = 10
const FIRST = new Date(Date.UTC(2026, 0, 1))

const Product = defineModel('Product', {
  fields: {
    sku: z.string(),
    slug: z.string().optional(),
    code: z.string().optional(),
    name: z.string(),
    price: z.number(),
    category: z.string(),
    madeAt: z.date().optional(),
  },
  unique: ['sku', 'slug', 'code'],
  indexes: ['-price', ['category', '-madeAt'], 'name'],
})

/** A schema that has every kind of index that Mongoose can declare; most are on fields of the model above. */
function schemaOf({ Schema }: Mongoose): MongooseSchema {
  const schema = new Schema(
    {
      sku: { type: String, required: true, unique: true },
      slug: { type: String, unique: true, sparse: true },
      code: String,
      name: String,
      price: Number,
      category: String,
      madeAt: Date,
      expiresAt: Date,
      note: String,
    },
    { autoIndex: true },
  )
  schema.index(
    { code: 1 },
    { unique: true, partialFilterExpression: { code: { $type: 'string' } } },
  )
  schema.index({ sku: 1 }, INSENSITIVE)
  schema.index({ name: -1 })
  schema.index({ name: 1, _id: 1 })
  schema.index({ price: -1, _id: 1 }, { name: 'price_-1__id_1' })
  schema.index({ category: 1, price: -1 })
  schema.index({ price: 1 }, { partialFilterExpression: { price: { $gt: 100 } } })
  schema.index({ category: 1 }, { collation: { locale: 'de' } })
  schema.index({ name: 'text', note: 'text' })
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 1_000_000 })
  return schema
}
const INSENSITIVE = {
  name: 'insensitive',
  unique: true,
  collation: { locale: 'en', strength: 2 },
} as const

/** Indexes that somebody made by hand. */
const BY_HAND = [
  [{ sku: 1 }, INSENSITIVE],
  [{ sku: -1 }, { name: 'by-hand', unique: true }],
  [{ madeAt: 1 }, { name: 'sparse-by-hand', sparse: true }],
  [{ 'name.first': 'hashed' }, { name: 'hashed-by-hand' }],
] as const

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Numbers that look random, and are the same in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const client = new MongoClient(url)
  afterAll(() => client.close())

  describe.each(VERSIONS)('%s and fieldgate on one database', (version) => {
    it.each([1, 2, 3])(
      'restart ten times each, in the order of seed %i, and keep every index and document',
      async (seed) => {
        const database = fresh()
        const native = client.db(database).collection('products')
        const world = await mongoose<Mongoose>(version)
        const roll = dice(seed)
        for (const [keys, options] of BY_HAND) await native.createIndex(keys, options)
        const known = new Map<string | undefined, Document>()
        const documents = new Map<string, Document>()

        /** Nothing is lost: every index that was ever seen is as it was, and so is every document. */
        async function nothingIsLost(): Promise<void> {
          const indexes = new Map((await native.indexes()).map((one) => [one.name, one]))
          for (const [name, index] of known) expect(indexes.get(name)).toEqual(index)
          for (const [name, index] of indexes) known.set(name, index)
          const stored = await native.find({}).toArray()
          expect(new Map(stored.map(({ _id, ...rest }) => [String(_id), rest]))).toEqual(documents)
        }

        let number = 0
        const newFields = () => {
          number += 1
          return {
            sku: `SKU-${number}`,
            ...(roll(2) === 0 && { slug: `slug-${number}` }),
            ...(roll(2) === 0 && { code: `code-${number}` }),
            name: `Name ${roll(5)}`,
            price: roll(200),
            category: `Category ${roll(3)}`,
            madeAt: new Date(FIRST.getTime() + number),
          }
        }

        async function mongooseLives(): Promise<void> {
          const connection = world.createConnection(url, { dbName: database })
          await connection.asPromise()
          const Products = connection.model('Product', schemaOf(world))
          // Rejects if one of its indexes can't be made.
          await Products.init()
          const fields = { ...newFields(), note: 'Only Mongoose declares this.' }
          const { id } = await Products.create(fields)
          documents.set(id, { ...fields, __v: 0 })
          const [other = ''] = documents.keys()
          await Products.updateOne({ _id: other }, { $set: { price: number } })
          documents.set(other, { ...documents.get(other), price: number })
          expect(await Products.findById(other).lean()).toMatchObject(documents.get(other) ?? {})
          await connection.close()
        }

        async function fieldgateLives(): Promise<void> {
          const app = createApp({ store: mongoStore({ client, database }), logger: silent })
          const products = app.store.collection(Product)
          const fields = newFields()
          const { _id } = await products.insert(fields)
          documents.set(_id, fields)
          const [other = ''] = documents.keys()
          await products.update(other, { category: `Category ${number}` })
          documents.set(other, { ...documents.get(other), category: `Category ${number}` })
          // One is refused by each index, and neither index is bypassed.
          for (const sku of ['SKU-1', 'sku-1']) {
            const again = products.insert({ ...newFields(), sku })
            await expect(again).rejects.toMatchObject({
              status: 409,
              fields: { sku: expect.anything() },
            })
          }
          await app.close()
        }

        const lives = [
          ...Array(RESTARTS).fill(mongooseLives),
          ...Array(RESTARTS).fill(fieldgateLives),
        ]
        while (lives.length > 0) {
          const [live] = lives.splice(roll(lives.length), 1)
          await live()
          await nothingIsLost()
        }
        expect([...known.keys()].sort()).toEqual(ALL)
      },
    )
  })
})

/** The names of all indexes: those of a person, of Mongoose, and of fieldgate that no other one does for. */
const ALL = [
  ...['_id_', 'by-hand', 'sparse-by-hand', 'hashed-by-hand', 'insensitive'],
  ...['sku_1', 'slug_1', 'code_1', 'name_-1', 'price_1', 'category_1', 'category_1_price_-1'],
  ...['name_text_note_text', 'expiresAt_1', 'name_1__id_1', 'price_-1__id_1'],
  ...['unique(sku)', 'unique(slug)', 'unique(code)', 'category_1_madeAt_-1__id_1'],
].sort()
