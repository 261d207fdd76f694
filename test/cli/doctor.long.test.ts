import { Binary, Decimal128, Double, Long, MongoClient, ObjectId, UUID } from 'mongodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { withService } from '../services/shared.ts'
import { type Project, project } from './project.ts'

/** An app over the database of an older program. */
const APP = `
import * as z from 'zod'
import { createApp, createAuthRouter, createRouter, defineModel, ref, userFields } from 'fieldgate'
STORE

const User = defineModel('User', {
  fields: {
    ...userFields(),
    phone: z.string().optional(),
    nick: z.string().optional(),
    name: z.string(),
  },
  unique: ['email', 'phone', 'nick'],
})
const Product = defineModel('Product', {
  fields: {
    sku: z.string(),
    price: z.number(),
    stock: z.number().int().optional(),
    owner: ref('User').optional(),
    tags: z.array(z.string()).optional(),
    reviews: z.array(z.object({ by: z.string() })).optional(),
    extra: z.unknown().optional(),
    soldAt: z.date().optional(),
    size: z.object({ width: z.number() }).optional(),
    boxes: z.record(z.string(), z.object({ width: z.number() })).optional(),
  },
  unique: ['sku'],
  indexes: ['-price'],
})
const Staff = defineModel('Person', { fields: { name: z.string() }, collection: 'persons' })
const Status = defineModel('Status', { fields: { name: z.string() } })
const auth = createAuthRouter({
  model: User,
  identifiers: ['email', 'phone', 'nick'],
  token: { secret: 'a secret of at least thirty-two characters' },
})
export const app = createApp({ store })
app.mount('/auth', auth.router)
for (const model of [Product, Staff, Status]) {
  app.mount('/' + model.collection, createRouter({ model, allowedFields: [], middlewares: [] }))
}
`
const SQLITE = `import { sqliteStore } from 'fieldgate/sqlite'
const store = sqliteStore({ path: ':memory:' })`
const mongoAt = (url: string) => `import { mongoStore } from 'fieldgate/mongodb'
const store = mongoStore({ url: '${url}' })`

const id = (last: number) => new ObjectId(last.toString(16).padStart(24, '0'))
const hex = (last: number) => id(last).toHexString()

await withService('mongo', ({ url }) => {
  describe('fieldgate doctor', () => {
    const client = new MongoClient(url)
    const database = client.db(`doctor-${crypto.randomUUID()}`)
    const address = new URL(url)
    address.pathname = database.databaseName
    const users = database.collection('users')
    const products = database.collection('products')
    let files: Project
    beforeAll(async () => {
      files = await project({
        'app.ts': APP.replace('STORE', mongoAt(address.href)),
        'sqlite.ts': APP.replace('STORE', SQLITE),
        'listener.ts': `import { toExpress } from 'fieldgate/express'
${APP.replace('STORE', SQLITE).replace('export const app', 'const app')}
export default toExpress(app)`,
        'server.ts':
          'export const app = (request: unknown, response: unknown, next: unknown) => {}',
      })
    })
    afterAll(async () => {
      await database.dropDatabase()
      await client.close()
      await files.remove()
    })

    /** A database in which all is well: what fieldgate would write, and what Mongoose adds to it. */
    beforeEach(async () => {
      await database.dropDatabase()
      await users.insertOne({ _id: id(1), email: 'ada@example.org', name: 'Ada', __v: 0 })
      const isString = { email: { $type: 'string' } }
      await users.createIndex({ email: 1 }, { unique: true, partialFilterExpression: isString })
      await products.insertOne({ _id: id(2), sku: 'A', price: 1.5, owner: id(1), __v: 3 })
      await products.createIndex({ price: -1, _id: 1 })
      await database
        .collection<{ _id: ObjectId }>('persons')
        .insertOne({ _id: id(3), name: 'P' } as never)
      await database
        .collection<{ _id: ObjectId }>('status')
        .insertOne({ _id: id(4), name: 'S' } as never)
    })

    const doctor = (...args: string[]) => files.fieldgate('doctor', './app.ts', ...args)
    async function found(): Promise<Record<string, unknown>[]> {
      const { code, out, err } = await doctor('--json')
      expect([code, err.includes('Error')]).toEqual([1, false])
      const { ok, problems } = JSON.parse(out)
      expect(ok).toBe(false)
      return problems
    }

    it('ends with 0 where all is well, and writes nothing', async () => {
      const everything = async () => {
        const collections = await database.listCollections().toArray()
        return Promise.all(
          collections
            .map(({ name }) => database.collection(name))
            .map(async (one) => [
              one.collectionName,
              await one.indexes(),
              await one.find().toArray(),
            ]),
        )
      }
      const before = await everything()
      const { code, out, err } = await doctor()
      const { databaseName } = database
      expect([code, out]).toEqual([0, `Database '${databaseName}': no problems found.\n`])
      expect(err).toContain('Product, types ██████████████████████████████ 100 %  1 of 1')
      expect(err).toContain('Product, fields ██████████████████████████████ 100 %  1 of 1')
      expect(await everything()).toEqual(before)
    })

    it('finds accounts whose stored identifier no sign-in matches', async () => {
      await users.insertMany([
        { _id: id(5), email: 'Bob@Example.org', name: 'B', phone: '+1 555 010 2031' },
        { _id: id(6), email: 'a,b@example.org', name: 'C', phone: 555 },
        { _id: id(7), email: 'dan@example.org', name: 'D', phone: '555/010 2031' },
        { _id: id(8), email: null, name: 'E', phone: '+15550102031' },
      ])
      const identifiers = (await found()).filter(({ problem }) => problem === 'identifier')
      const about = (field: string, note: string, example: number) => ({
        ...{ model: 'User', problem: 'identifier', field, count: 1, examples: [hex(example)] },
        note: `no sign-in finds it, because it is ${note}`,
      })
      const other = 'not stored in its normal form; store that, unless another account has it'
      expect(identifiers).toEqual([
        about('email', other, 5),
        about('phone', other, 5),
        about('email', 'not valid; correct it', 6),
        about('phone', 'not a string', 6),
        about('phone', 'not valid; correct it', 7),
      ])
    })

    it('finds user names that read as another identifier', async () => {
      await users.insertMany([
        { _id: id(5), name: 'B', nick: '(1) 2.34' },
        { _id: id(6), name: 'C', nick: 'Ann@Attacker.com' },
        { _id: id(7), name: 'D', nick: 'dan' },
        { _id: id(8), name: 'E', nick: 'caf\u0065\u0301' },
      ])
      const identifiers = (await found()).filter(({ problem }) => problem === 'identifier')
      expect(identifiers.map(({ field, note, examples }) => [field, note, examples])).toEqual([
        ['nick', expect.stringContaining('it reads as a phone number'), [hex(5)]],
        ['nick', expect.stringContaining('it reads as an email address'), [hex(6)]],
        ['nick', expect.stringContaining('not stored in its normal form'), [hex(8)]],
      ])
    })

    it('finds values that the model cannot hold, wherever they are', async () => {
      const long = Long.fromString('9007199254740993')
      await products.insertMany([
        { _id: id(5), sku: 'B', price: Decimal128.fromString('123456789012345678901234.5678') },
        { _id: id(6), sku: 'C', price: Decimal128.fromString('1.10'), stock: long },
        {
          _id: id(7),
          sku: new UUID(),
          price: new Double(Number.NaN),
          tags: [new Binary(new Uint8Array(3))],
        },
        { _id: id(8), sku: 'E', price: Long.fromNumber(7), extra: { at: new Date(0), by: id(1) } },
        { _id: id(9), sku: 'F', price: 2, owner: hex(1), undeclared: long },
        { _id: id(10), sku: 'G', price: '2', soldAt: '2024-01-02', stock: new Date(0) },
      ])
      const types = (await found()).filter(({ problem }) => problem === 'type')
      const shown = (field: string, type: string, becomes: string, example: number) => ({
        ...{ model: 'Product', problem: 'type', field, count: 1, examples: [hex(example)] },
        note: `${type} is shown as ${becomes}, and stored as that when the field is written`,
      })
      const other = (field: string, example: number) => ({
        ...shown(field, '', '', example),
        note: "its type is not the model's: it is shown as it is, even if another program casts it; change the records, or write a convert function",
      })
      expect(types).toEqual([
        shown('price', 'Decimal128', 'a rounded number', 5),
        shown('price', 'Decimal128', 'a number', 6),
        shown('stock', 'Long', 'a rounded number', 6),
        shown('sku', 'UUID', 'a string', 7),
        shown('price', 'Double', 'null', 7),
        shown('tags', 'Binary', 'a string in base64', 7),
        shown('extra.at', 'Date', 'a string', 8),
        shown('extra.by', 'ObjectId', 'a string', 8),
        shown('stock', 'Date', 'a string', 10),
        {
          ...shown('owner', 'String', '', 9),
          note: 'String is stored, where this app stores ObjectId: it is shown, but no filter and no reference finds it; store ObjectId instead',
        },
        { ...other('price', 7), count: 2, examples: [hex(7), hex(10)] },
        other('soldAt', 10),
        other('stock', 10),
      ])
    })

    it('finds members that the model does not declare, and tells of those that a write loses', async () => {
      await products.insertMany([
        { _id: id(5), sku: 'B', price: 1, hidden: true, reviews: [{ _id: id(9), by: 'x' }] },
        { _id: id(6), sku: 'C', price: 1, hidden: { deep: new UUID() } },
        {
          ...{ _id: id(7), sku: 'D', price: 1, reviews: [{ by: 'x', flag: true }] },
          ...{ size: { width: 1, height: 2 }, boxes: { small: { width: 1, height: 2 } } },
        },
      ])
      const lost = (field: string, whole: string) => ({
        ...{ model: 'Product', problem: 'undeclared', field, count: 1, examples: [hex(7)] },
        note: `clients never see it, and ${whole} that they write loses it; declare it in the model to keep it`,
      })
      expect(await found()).toEqual([
        {
          ...{ model: 'Product', problem: 'undeclared', field: 'hidden', count: 2 },
          examples: [hex(5), hex(6)],
          note: 'clients never see it; declare it in the model, or leave it to the program that stored it',
        },
        {
          ...{
            model: 'Product',
            problem: 'undeclared',
            field: 'reviews._id',
            count: 1,
            examples: [hex(5)],
          },
          note: 'clients never see it, and a list that they write loses it; declare it in the model to keep it',
        },
        lost('reviews.flag', 'a list'),
        {
          ...lost('size.height', ''),
          note: 'clients never see it; declare it in the model, or leave it to the program that stored it',
        },
        lost('boxes.small.height', 'an object'),
      ])
    })

    it('finds indexes that refuse or delete what the model takes; others are notes', async () => {
      await products.createIndex(
        { sku: 1 },
        { unique: true, collation: { locale: 'en', strength: 2 } },
      )
      await users.createIndex({ phone: 1 }, { unique: true })
      await users.createIndex({ name: 'text' })
      await users.createIndex({ name: 1 })
      await products.createIndex({ price: -1 })
      await products.createIndex({ tags: 1 })
      await products.createIndex({ owner: 1 }, { expireAfterSeconds: 3600 })
      const { code, out } = await doctor('--json')
      const { problems, notes } = JSON.parse(out)
      expect(code).toBe(1)
      const about = (model: string, field: string, note: string) => ({
        ...{ model, problem: 'index', field, count: 0, examples: [], note },
      })
      expect(problems).toEqual([
        about(
          'User',
          'phone',
          "the index 'phone_1' refuses a second record without phone, because it counts a missing value as a value. If nothing else needs it: db.users.dropIndex('phone_1')",
        ),
        about(
          'Product',
          'sku',
          "the index 'sku_1' refuses a sku that its collation (en, strength 2) takes for another's. Without it, only equal values clash. If nothing else needs it: db.products.dropIndex('sku_1')",
        ),
        about(
          'Product',
          'owner',
          "the index 'owner_1' deletes records 3,600 seconds after owner, past every guard, hook and reference. If nothing else needs it: db.products.dropIndex('owner_1')",
        ),
      ])
      expect(notes).toEqual([
        about(
          'User',
          'name',
          "the index 'name_1' is not one that the model declares. It slows down every write, and filters and sorts may still use it. If nothing else needs it: db.users.dropIndex('name_1')",
        ),
        about(
          'Product',
          'price',
          "the index 'price_-1' begins as 'price_-1__id_1' does, which serves the same reads. Once no other program declares it: db.products.dropIndex('price_-1')",
        ),
      ])
    })

    it('finds the collection that Mongoose has instead, and a collation', async () => {
      await database.collection('persons').drop()
      await database.collection('people').insertOne({ name: 'P' })
      await products.drop()
      await database.createCollection('products', { collation: { locale: 'sv' } })
      await products.insertOne({ sku: 'A', price: 1 })
      await database.collection('status').drop()
      const { code, out } = await doctor()
      expect(code).toBe(1)
      expect(out).toBe(
        `Database '${database.databaseName}':

model    problem     field  count  for example  what it means
Product  collation   -      -      -            the collection 'products' compares strings by sv, strength 3: filters, unique fields and sorts follow it. Only a new collection can have another
Person   collection  -      -      -            the collection 'persons' doesn't exist, but there is 'people'. If the records are there, write collection: 'people' in the model

No problem, but worth knowing:

model   problem     field  count  for example  what it means
Status  collection  -      -      -            the collection 'status' doesn't exist
`,
      )
    })

    it('asks whether a database without any record is the right one', async () => {
      const wrong = new URL(address)
      wrong.pathname = `${database.databaseName}-wrong`
      const { code, out } = await doctor('--mongo', wrong.href)
      expect(code).toBe(1)
      expect(out).toMatch(
        /\n- +collection +- +- +- +no model has a record in the database 'doctor-.*-wrong': is it the right one\?\n/,
      )
    })

    it("reads every document, also those with ids that are not the model's", async () => {
      const numbered = Array.from({ length: 2500 }, (_, at) => ({
        _id: `${at}`,
        sku: `S${at}`,
        price: 1,
      }))
      await products.insertMany(numbered as never)
      const last = Array.from({ length: 2500 }, (_, at) => ({ sku: `T${at}`, price: 1, more: 1 }))
      await products.insertMany(last)
      expect(await found()).toEqual([
        expect.objectContaining({
          problem: 'type',
          field: '_id',
          count: 2500,
          examples: ['"0"', '"1"', '"10"'],
        }),
        expect.objectContaining({ problem: 'undeclared', field: 'more', count: 2500 }),
      ])
    })

    it("takes the database of --mongo instead of the app's store", async () => {
      await products.insertOne({ _id: id(5), sku: 'B', price: 1, more: 1 })
      const { code, out } = await files.fieldgate('doctor', './sqlite.ts', '--mongo', address.href)
      expect(code).toBe(1)
      expect(out).toMatch(/\nProduct +undeclared +more +1 +0{23}5 +clients never see it/)
    })

    it.each([
      [
        ['./sqlite.ts'],
        "it looks at MongoDB, and the app's store is 'sqlite'. Name the database: --mongo mongodb://host/database. For other stores, use fieldgate check",
      ],
      [
        ['./app.ts', '--mongo', 'postgres://host/shop'],
        '--mongo is an address such as mongodb://host/database',
      ],
      [
        ['./sqlite.ts', '--mongo', 'mongodb://127.0.0.1:1/shop'],
        'the database cannot be reached: connect ECONNREFUSED 127.0.0.1:1',
      ],
      [
        ['./sqlite.ts', '--mongo', 'mongodb://127.0.0.1:1/?w=majority'],
        'the address names no database; write mongodb://host/database',
      ],
      [
        ['./listener.ts'],
        "'./listener.ts' exports a function of (request, response), as toExpress(app) and Express make them, and no app. Write in it: export const app = createApp({ … })",
      ],
      [
        ['./server.ts'],
        "'./server.ts' exports a function of (request, response), as toExpress(app) and Express make them, and no app. Write in it: export const app = createApp({ … })",
      ],
      [[], 'name the file that exports your app, as in ./src/app.ts'],
    ])('ends with 2 and says why: %j', async (args, message) => {
      const { code, out, err } = await files.fieldgate('doctor', ...args)
      expect([code, out, err]).toEqual([2, '', `fieldgate doctor: ${message}\n`])
    })
  })
})
