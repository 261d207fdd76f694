import { MongoClient, ObjectId } from 'mongodb'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { openStore } from '../../adapters/cli/stores.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, defineModel, type Model, ref, type Store } from '../../src/index.ts'
import { copyRecords } from '../../src/upkeep/copy/copy.ts'
import type { ForeignValues } from '../../src/upkeep/copy/losses.ts'
import { withService } from '../services/shared.ts'
import { addressOf } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'

const Author = defineModel('CopiedAuthor', {
  fields: { name: z.string(), born: z.date().nullish() },
  unique: ['name'],
})
const Poem = defineModel('CopiedPoem', {
  fields: {
    title: z.string(),
    author: ref('CopiedAuthor'),
    lines: z.array(z.string()),
    score: z.number().nullable(),
    reads: z.int().optional(),
    extra: z.unknown(),
  },
  timestamps: true,
})
const models = [Author, Poem] as unknown as Model[]

function poem(author: string, at: number) {
  return {
    title: `Hymn ${at}\u0000\u0001`,
    author,
    lines: ['é', '😀', '"\\'],
    score: at % 3 === 0 ? null : at / 3,
    ...(at % 2 === 0 && { reads: at }),
    extra: at % 5 === 0 ? { b: [null, 1e21], a: '\u0000' } : at,
  }
}

/** Three authors, and more poems than a copy reads at once. */
async function fill(store: Store | undefined): Promise<void> {
  const app = createApp({ store: { ...store, close: async () => {} } as Store })
  const authors = app.store.collection(Author)
  const { _id } = await authors.insert({ name: 'Enheduanna', born: new Date('0001-01-01') })
  await authors.insert({ name: 'Ovid', born: null })
  await authors.insert({ name: 'Anon' })
  const poems = app.store.collection(Poem)
  await Promise.all(Array.from({ length: 1100 }, (_, at) => poems.insert(poem(_id, at))))
  await app.close()
}

/** Records as an earlier version of the app, or another program, has left them. */
const Former = defineModel('Left', {
  fields: {
    title: z.string(),
    pages: z.union([z.number(), z.string()]).nullish(),
    note: z.string().nullish(),
    born: z.string(),
    secret: z.string().optional(),
  },
})
const Left = defineModel('Left', {
  fields: {
    title: z.string(),
    pages: z.int(),
    note: z.string().optional(),
    born: z.date().nullable(),
  },
})
const LEFT = [
  { title: 'fits', pages: 1, note: 'n', born: '2020-01-31' },
  { title: 'lacks', born: '2020-01-31' },
  { title: 'null', pages: null, note: null, born: 'yesterday' },
  { title: 'types', pages: 'many', born: '2020-01-31', secret: 's' },
  { title: 'part', pages: 1.5, born: '2020-01-31' },
]

/** What a copy of them to PostgreSQL tells: types, fields, and what becomes of their values. */
const LOST = [
  'Null note nothing',
  'Null pages nothing',
  'Number pages nothing',
  'String born null',
  'String pages nothing',
  'String secret nothing',
]

/** Copies from each store to the next, and expects the same checksums every time. */
async function copyAlong(stores: readonly Store[]): Promise<void> {
  const seen = new Set<string>()
  for (const [at, from] of stores.slice(0, -1).entries()) {
    const results = await copyRecords(from, stores[at + 1] as Store, models)
    expect(results.map(({ target, copied }) => [target, copied])).toEqual([
      [3, 3],
      [1100, 1100],
    ])
    seen.add(results.map(({ checksum }) => checksum).join())
  }
  expect(seen.size).toBe(1)
}

await withService('mongo', async (mongo) => {
  await withService('postgres', ({ url }) => {
    const fresh = freshSchemas(url)

    describe('a copy', () => {
      it('from SQLite to PostgreSQL, on to MongoDB, back to PostgreSQL and to SQLite is the same', async () => {
        const database = new URL(mongo.url)
        database.pathname = `/copy-${crypto.randomUUID()}`
        const stores = [addressOf(url, fresh()), database.href, addressOf(url, fresh())]
        const others = await Promise.all(stores.map((address) => openStore(address)))
        const opened = [sqliteStore(), ...others, sqliteStore()] as const
        const [first] = opened
        await fill(first)
        await copyAlong(opened)
        for (const store of opened) await store.close()
      })

      it('of numbers that are none has null or nothing, and is equal', async () => {
        const database = `copy-${crypto.randomUUID()}`
        const client = new MongoClient(mongo.url)
        const documents = [Number.NaN, Number.POSITIVE_INFINITY].map((none, at) => {
          return { _id: new ObjectId(), name: `${at}`, size: none, rate: none, all: [none] }
        })
        await client.db(database).collection('numbers').insertMany(documents)
        await client.close()
        const address = new URL(mongo.url)
        address.pathname = `/${database}`
        const [from, to] = [await openStore(address.href), await openStore(addressOf(url, fresh()))]
        const numbers = { size: z.number().optional(), rate: z.number().nullable() }
        const fields = { name: z.string(), ...numbers, all: z.array(z.number()) }
        const Numbers = defineModel('Number', { fields }) as unknown as Model
        const refused = await copyRecords(from, to, [Numbers]).catch((error: unknown) => error)
        const { lost } = refused as ForeignValues
        const told = lost.map(({ type, field, becomes }) => `${type} ${field} ${becomes}`)
        expect(told.sort()).toEqual(['Double all null', 'Double rate null', 'Double size null'])
        const [copied] = await copyRecords(from, to, [Numbers], { convert: true })
        expect(copied).toMatchObject({ source: 2, target: 2, copied: 2 })
        for (const store of [from, to]) await store.close()
      })

      it.each(['SQLite', 'MongoDB'])(
        'from %s tells before it writes what no column can hold',
        async (name) => {
          const database = new URL(mongo.url)
          database.pathname = `/copy-${crypto.randomUUID()}`
          const from = name === 'SQLite' ? sqliteStore() : await openStore(database.href)
          const to = await openStore(addressOf(url, fresh()))
          const app = createApp({ store: { ...from, close: async () => {} } as Store })
          for (const record of LEFT) await app.store.collection(Former).insert(record)
          await app.close()
          const left = [Left] as unknown as Model[]
          const refused = await copyRecords(from, to, left).catch((error: unknown) => error)
          const lost = (refused as ForeignValues).lost.filter(({ becomes }) => becomes !== 'a date')
          expect(
            lost.map(({ type, field, becomes }) => `${type} ${field} ${becomes}`).sort(),
          ).toEqual(LOST)
          const stored = createApp({ store: to }).store.collection(Left)
          expect(await stored.count()).toBe(0)
          const [copied] = await copyRecords(from, to, left, { convert: true })
          expect(copied).toMatchObject({ copied: 5, target: 5 })
          const born = new Date('2020-01-31')
          expect(await stored.find({}, { sort: 'title' })).toMatchObject([
            { title: 'fits', pages: 1, note: 'n', born },
            { title: 'lacks', born },
            { title: 'null', born: null },
            { title: 'part', born },
            { title: 'types', born },
          ])
          for (const store of [from, to]) await store.close()
        },
      )
    })
  })
})
