import {
  BSON,
  type Collection,
  type CreateIndexesOptions,
  type IndexDescriptionInfo,
  type IndexSpecification,
  MongoClient,
  MongoServerError,
} from 'mongodb'
import { afterAll, describe, expect, it, test } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { isAsStrict } from '../../../adapters/stores/mongodb/schema/foreign-indexes.ts'
import { prepareCollection } from '../../../adapters/stores/mongodb/schema/schema.ts'
import { defineModel } from '../../../src/index.ts'
import { collectionSchema } from '../../../src/model/collection-schema.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from './databases.ts'

const Part = defineModel('IndexedPart', {
  fields: {
    sku: z.string(),
    slug: z.string().optional(),
    alias: z.string().nullish(),
    tenant: z.string(),
    at: z.date().optional(),
    price: z.number().optional(),
    tags: z.array(z.string()).optional(),
    reviews: z.array(z.object({ by: z.string() })).optional(),
    extra: z.unknown().optional(),
    place: z.object({ type: z.string(), coordinates: z.array(z.number()) }).optional(),
  },
  unique: ['sku', 'slug', 'alias', ['tenant', 'price']],
  indexes: ['-price', ['tenant', '-at']],
  collection: 'parts',
})
const schema = collectionSchema(Part as never)
const INSENSITIVE = { locale: 'en', strength: 2 } as const

type Given = readonly [keys: IndexSpecification, options?: CreateIndexesOptions]

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const client = new MongoClient(url)
  afterAll(() => client.close())

  function opened() {
    const database = fresh()
    const store = mongoStore({ client, database })
    return { store, native: client.db(database).collection('parts') }
  }

  const specsOf = async (native: Collection) =>
    new Map((await native.indexes()).map((index) => [index.name, index]))

  /** What a start says of one index that was there before; that index is there, as it was, after a second start too. */
  async function said(...[keys, options]: Given): Promise<string[]> {
    const { store, native } = opened()
    const name = await native.createIndex(keys, options)
    const before = (await specsOf(native)).get(name)
    const messages: string[] = []
    await store.prepare([schema], (message) => messages.push(message))
    await store.prepare([schema])
    expect((await specsOf(native)).get(name)).toEqual(before)
    return messages
  }

  const about = (name: string, note: string) => [
    `MongoDB: the index '${name}' of 'parts' ${/^(?:refuses|deletes)/.test(note) ? 'was not created by fieldgate. It ' : ''}${note} If nothing else needs it: db.parts.dropIndex('${name}')`,
  ]
  const UNUSED =
    'is not one that the model declares. It slows down every write, and filters and sorts may still use it.'

  describe('an index of another program stays as it is, and start-up says what it does', () => {
    const cases: readonly [string, Given, string[]][] = [
      [
        'unique with a collation',
        [{ sku: 1 }, { unique: true, collation: INSENSITIVE }],
        about(
          'sku_1',
          "refuses a sku that its collation (en, strength 2) takes for another's. Without it, only equal values clash.",
        ),
      ],
      ['unique and descending, of a required field', [{ sku: -1 }, { unique: true }], []],
      ['unique, of a required field', [{ sku: 1 }, { unique: true }], []],
      [
        'unique, of an optional field',
        [{ slug: 1 }, { unique: true }],
        about(
          'slug_1',
          'refuses a second record without slug, because it counts a missing value as a value.',
        ),
      ],
      [
        'sparse and unique, of a field that is never null',
        [{ slug: 1 }, { unique: true, sparse: true }],
        [],
      ],
      [
        'sparse and unique, of a field that may be null',
        [{ alias: 1 }, { unique: true, sparse: true }],
        about(
          'alias_1',
          'refuses a second record in which alias is null, because it counts null as a value.',
        ),
      ],
      [
        'unique over several fields',
        [{ price: 1, tenant: 1 }, { unique: true }],
        about(
          'price_1_tenant_1',
          'refuses a second record without price, because it counts a missing value as a value.',
        ),
      ],
      [
        'unique where the model is not',
        [{ tenant: 1 }, { unique: true }],
        about(
          'tenant_1',
          'refuses a second record with the same tenant, which the model does not say is unique.',
        ),
      ],
      [
        'unique and partial',
        [{ sku: 1 }, { unique: true, partialFilterExpression: { tenant: 'a' } }],
        about('sku_1', UNUSED),
      ],
      ['sparse', [{ sku: 1 }, { sparse: true }], about('sku_1', UNUSED)],
      [
        'partial, where the whole one is not there yet',
        [{ price: -1, _id: 1 }, { partialFilterExpression: { price: { $gt: 5 } } }],
        [],
      ],
      [
        'partial',
        [{ price: 1, _id: 1 }, { partialFilterExpression: { price: { $gt: 5 } } }],
        about('price_1__id_1', UNUSED),
      ],
      [
        'with a collation',
        [{ tenant: 1, at: -1, _id: 1 }, { collation: INSENSITIVE }],
        about('tenant_1_at_-1__id_1', UNUSED),
      ],
      ['of another direction', [{ price: 1, _id: 1 }], about('price_1__id_1', UNUSED)],
      ['that begins as one of the model, which is not there yet', [{ tenant: 1 }], []],
      ['that begins as one of the model, backwards', [{ tenant: -1, at: 1 }], []],
      [
        'that begins as one of the model in other directions',
        [{ tenant: 1, at: 1 }],
        about('tenant_1_at_1', UNUSED),
      ],
      [
        'that begins as one of the model, with a collation',
        [{ tenant: 1 }, { collation: INSENSITIVE }],
        about('tenant_1', UNUSED),
      ],
      ['of a list', [{ tags: 1 }], []],
      ['of a list and more', [{ price: 1, tags: -1 }], []],
      ['of a member of the elements of a list', [{ 'reviews.by': 1 }], []],
      ['of a value that may be a list', [{ extra: 1 }], []],
      ['hashed', [{ tenant: 'hashed' }], []],
      ['of places', [{ place: '2dsphere' }], []],
      ['of every member', [{ 'extra.$**': 1 }], []],
      ['as the model declares it, by any name', [{ price: -1, _id: 1 }, { name: 'theirs' }], []],
      [
        'hidden, as the model declares it',
        [{ price: -1, _id: 1 }, { hidden: true }],
        about(
          'price_-1__id_1',
          "is the one that the model declares, but it is hidden, so no read uses it. To use it: db.parts.unhideIndex('price_-1__id_1').",
        ),
      ],
      ['text', [{ sku: 'text', note: 'text' }], []],
      [
        'with an expiry',
        [{ at: 1 }, { expireAfterSeconds: 86_400 }],
        about(
          'at_1',
          'deletes records 86,400 seconds after at, past every guard, hook and reference.',
        ),
      ],
      [
        'of fields that the model does not declare',
        [{ elsewhere: 1 }, { unique: true, sparse: true }],
        [],
      ],
    ]
    test.each(cases)('%s', async (_, given, expected) => {
      expect(await said(...given)).toEqual(expected)
    })
  })

  it('one that begins as one of fieldgate may go only once that is there, and no read is slower then', async () => {
    const { store, native } = opened()
    await native.createIndex({ tenant: 1 })
    await native.createIndex({ price: 1 })
    const first: string[] = []
    await store.prepare([schema], (message) => first.push(message))
    expect(first).toEqual([])
    const messages: string[] = []
    await store.prepare([schema], (message) => messages.push(message))
    const covered = (name: string, own: string) =>
      `MongoDB: the index '${name}' of 'parts' begins as '${own}' does, which serves the same reads. Once no other program declares it: db.parts.dropIndex('${name}')`
    expect(messages).toEqual([
      covered('tenant_1', 'tenant_1_at_-1__id_1'),
      covered('price_1', 'price_-1__id_1'),
    ])
    await native.insertMany(
      Array.from({ length: 100 }, (_, at) => ({ sku: `${at}`, tenant: `${at % 20}`, price: at })),
    )
    const examined = async (find: object, sort: Record<string, 1 | -1>) => {
      const { executionStats } = await native.find(find).sort(sort).limit(5).explain()
      return executionStats.totalDocsExamined as number
    }
    const reads = [
      [{ tenant: '7' }, {}],
      [{}, { tenant: 1 }],
      [{}, { price: 1 }],
      [{ price: 7 }, {}],
    ] as const
    const all = () => Promise.all(reads.map(([find, sort]) => examined(find, sort)))
    const before = await all()
    expect(before).toEqual([5, 5, 5, 1])
    for (const name of ['tenant_1', 'price_1']) await native.dropIndex(name)
    expect(await all()).toEqual(before)
  })

  it("a unique index by the model's own collation is no other one's", async () => {
    const { store, native } = opened()
    await native.createIndex({ sku: 1 }, { unique: true, collation: INSENSITIVE })
    const collations = [{ fields: ['sku'], collation: INSENSITIVE }]
    const messages: string[] = []
    await store.prepare([{ ...schema, collations }], (message) => messages.push(message))
    await store.prepare([{ ...schema, collations }])
    expect(messages).toEqual([])
    expect((await specsOf(native)).get('unique(sku)')).toMatchObject({ collation: INSENSITIVE })
  })

  it('what a foreign index refuses stays refused, and what the model says is unique is so too', async () => {
    const { store, native } = opened()
    await native.createIndex({ sku: 1 }, { unique: true, collation: INSENSITIVE })
    await native.createIndex(
      { slug: -1 },
      { unique: true, partialFilterExpression: { tenant: 'a' } },
    )
    await store.prepare([schema])
    const parts = store.collection(schema)
    const insert = (fields: object) =>
      parts.insert({ _id: crypto.randomUUID(), tenant: 'b', ...fields })
    await insert({ sku: 'ABC', slug: 's' })
    await expect(insert({ sku: 'abc' })).rejects.toMatchObject({
      name: 'DuplicateKey',
      fields: ['sku'],
    })
    await expect(insert({ sku: 'ABC' })).rejects.toMatchObject({ fields: ['sku'] })
    await expect(insert({ sku: 'x', slug: 's' })).rejects.toMatchObject({ fields: ['slug'] })
    await insert({ sku: 'y' })
  })

  it('an index that another program makes later, on the same keys, is made without an error', async () => {
    const { store, native } = opened()
    await store.prepare([schema])
    for (const [keys, options] of [
      [{ sku: 1 }, { unique: true }],
      [{ slug: 1 }, { unique: true, sparse: true }],
      [{ price: -1, _id: 1 }, {}],
      [{ tenant: 1, at: -1, _id: 1 }, {}],
    ] as const) {
      expect(await native.createIndex(keys, options)).toBeTypeOf('string')
    }
  })

  it('an index that the model no longer declares stays, and start-up tells of it', async () => {
    const { store, native } = opened()
    await store.prepare([schema])
    const messages: string[] = []
    await store.prepare([{ ...schema, indexes: [] }], (message) => messages.push(message))
    expect(messages).toEqual([
      ...about('price_-1__id_1', UNUSED),
      ...about('tenant_1_at_-1__id_1', UNUSED),
    ])
    expect([...(await specsOf(native)).keys()]).toContain('price_-1__id_1')
  })

  it('an index of its own that has another condition now is replaced; it stays if the new one is impossible', async () => {
    const { store, native } = opened()
    const Typed = (sku: z.ZodType) =>
      collectionSchema(
        defineModel(`Typed${crypto.randomUUID()}`, {
          fields: { sku },
          unique: ['sku'],
          collection: 'parts',
        }) as never,
      )
    await store.prepare([Typed(z.string())])
    await native.insertMany([{ sku: 1 }, { sku: 1 }])
    const before = (await specsOf(native)).get('unique(sku)')
    await expect(store.prepare([Typed(z.number())])).rejects.toMatchObject({
      name: 'IndexConflict',
    })
    expect((await specsOf(native)).get('unique(sku)')).toEqual(before)
    await native.deleteOne({ sku: 1 })
    await store.prepare([Typed(z.number())])
    await expect(native.insertOne({ sku: 1 })).rejects.toThrow('E11000')
  })

  it('a collection with a collation of its own: start-up says what follows from it', async () => {
    const { store, native } = opened()
    await client.db(native.dbName).createCollection('parts', { collation: INSENSITIVE })
    await native.createIndex({ price: -1, _id: 1 }, { name: 'theirs' })
    const messages: string[] = []
    await store.prepare([schema], (message) => messages.push(message))
    expect(messages).toEqual([
      "MongoDB: the collection 'parts' compares strings by a collation of its own (en, strength 2), so filters, unique fields and sorts do too. Only a new collection can have another.",
    ])
  })

  it('names of collections and indexes are quoted for the shell', async () => {
    const { store, native } = opened()
    const odd = client.db(native.dbName).collection("it's-odd")
    await odd.createIndex({ sku: 1 }, { name: "o'sku", sparse: true })
    const messages: string[] = []
    await store.prepare([{ ...schema, name: "it's-odd" }], (message) => messages.push(message))
    expect(messages.join()).toContain(`db.getCollection("it's-odd").dropIndex("o'sku")`)
  })
})

describe('before MongoDB 5, which has one index for the same keys and collation', () => {
  /** What `prepare` does if there is this index, and the database takes no other one on its keys. */
  function started(index: IndexDescriptionInfo) {
    const keysOf = (keys: IndexSpecification) => JSON.stringify([...(keys as Map<string, number>)])
    const native = {
      listIndexes: () => ({ toArray: async () => [BSON.serialize(index)] }),
      createIndex: async (keys: IndexSpecification) => {
        if (keysOf(keys) !== JSON.stringify(Object.entries(index.key))) return
        throw new MongoServerError({ message: 'Index already exists', code: 85 })
      },
    }
    const messages: string[] = []
    const stored = { schema, native: native as unknown as Collection, indexed: () => [] }
    const ended = prepareCollection(stored, (message) => messages.push(message))
    return ended.then(() => messages)
  }

  it('a stricter index does for a unique one', async () => {
    expect(await started({ v: 2, name: 'sku_1', key: { sku: 1 }, unique: true })).toEqual([])
  })

  it('another one is an error, with the command that ends it', async () => {
    await expect(started({ v: 2, name: 'sku_1', key: { sku: 1 }, sparse: true })).rejects.toThrow(
      "MongoDB: 'parts' can't have an index that keeps sku unique beside 'sku_1', which fieldgate did not create. If nothing else needs it, run db.parts.dropIndex('sku_1') and start again. Otherwise drop sku from 'unique'.",
    )
  })

  it('one in the place of an index for sorting is a warning', async () => {
    const messages = await started({
      v: 2,
      name: 'theirs',
      key: { price: -1, _id: 1 },
      sparse: true,
    })
    expect(messages[0]).toBe(
      "MongoDB: 'parts' can't have the index on price, _id that the model declares, because of an index that fieldgate did not create: Index already exists. Look at db.parts.getIndexes(), and drop it with db.parts.dropIndex(name) if nothing else needs it.",
    )
  })
})

describe('an index of another program does for a unique index if it is as strict', () => {
  const index = { v: 2, name: 'x', key: { tenant: 1, price: 1 }, unique: true } as const
  const some = (value: object) => ({ ...index, ...value })
  const existing = ({ key, ...rest }: typeof index) => ({
    ...rest,
    key: new Map(Object.entries(key)),
  })
  test.each([
    [index, true],
    [some({ key: { price: -1, tenant: 1 } }), true],
    [some({ sparse: true }), true],
    [some({ collation: INSENSITIVE }), true],
    [some({ partialFilterExpression: { price: { $exists: true } } }), true],
    [some({ partialFilterExpression: { tenant: { $gte: '' } } }), true],
    [some({ partialFilterExpression: { tenant: { $type: 'string' } } }), true],
    [some({ partialFilterExpression: { price: { $type: 'number' } } }), true],
    [some({ partialFilterExpression: { price: { $type: 'string' } } }), false],
    [some({ partialFilterExpression: { price: { $gt: 5 } } }), false],
    [some({ partialFilterExpression: { tenant: 'a' } }), false],
    [some({ partialFilterExpression: { active: true } }), false],
    [some({ unique: false }), false],
    [some({ key: { tenant: 1 } }), false],
    [some({ key: { tenant: 1, price: 1, at: 1 } }), false],
  ])('%j: %s', (given, expected) => {
    expect(isAsStrict(existing(given), ['tenant', 'price'], schema)).toBe(expected)
  })

  test.each([
    [some({}), false],
    [some({ collation: { locale: 'en', strength: 1 } }), false],
    [some({ collation: { ...INSENSITIVE, version: '57.1' } }), true],
  ])('where the model declares a collation, %j: %s', (given, expected) => {
    const collations = [{ fields: ['price', 'tenant'], collation: INSENSITIVE }]
    expect(isAsStrict(existing(given), ['tenant', 'price'], { ...schema, collations })).toBe(
      expected,
    )
  })
})
