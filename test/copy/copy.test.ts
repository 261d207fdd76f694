import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { CopyMismatch, copyRecords } from '../../src/copy/copy.ts'
import { createApp, createRouter, defineModel, type Model, ref } from '../../src/index.ts'
import type { Collection, Store } from '../../src/ports/store.ts'

const Author = defineModel('Author', {
  fields: { name: z.string(), born: z.date().optional() },
  unique: ['name'],
})
const Poem = defineModel('Poem', {
  fields: {
    title: z.string(),
    author: ref('Author'),
    lines: z.array(z.string()),
    notes: z.string().optional(),
  },
  timestamps: true,
  hidden: ['notes'],
})
const models = [Author, Poem] as unknown as Model[]

async function filled(poems: number): Promise<Store> {
  const store = sqliteStore()
  const app = createApp({ store })
  const author = await app.store
    .collection(Author)
    .insert({ name: 'Enheduanna', born: new Date('0001-01-01') })
  const insert = (at: number) =>
    app.store
      .collection(Poem)
      .insert({ title: `Hymn ${at}`, author: author._id, lines: ['é', '😀'], notes: 'n' })
  await Promise.all(Array.from({ length: poems }, (_, at) => insert(at)))
  return store
}

/** The same store, whose inserts fail after the first `most`. */
function failingAfter(store: Store, most: number): Store {
  let inserts = 0
  const wrapped = (collection: Collection): Collection => ({
    ...collection,
    async insert(record) {
      inserts += 1
      if (inserts > most) throw new Error('the line is cut')
      return collection.insert(record)
    },
  })
  return { ...store, collection: (schema) => wrapped(store.collection(schema)) }
}

describe('copying the records of one store to another', () => {
  it('takes every record exactly, hidden fields, dates and ids too', async () => {
    const [from, to] = [await filled(2500), sqliteStore()]
    const seen: string[] = []
    const results = await copyRecords(from, to, models, {
      advance: (collection, done) => seen.push(`${collection} ${done}`),
    })
    expect(
      results.map(({ collection, source, target, copied }) => [collection, source, target, copied]),
    ).toEqual([
      ['authors', 1, 1, 1],
      ['poems', 2500, 2500, 2500],
    ])
    expect(seen).toEqual(['authors 1', 'poems 1000', 'poems 2000', 'poems 2500'])
    const [ours, theirs] = [from, to].map((store) => createApp({ store }).store.collection(Poem))
    expect(await theirs?.find({}, { sort: '_id' })).toEqual(await ours?.find({}, { sort: '_id' }))
  })

  it('goes on where an interrupted copy was', async () => {
    const [from, to] = [await filled(2500), sqliteStore()]
    await expect(copyRecords(from, failingAfter(to, 1200), models)).rejects.toThrow(
      'the line is cut',
    )
    const [, poems] = await copyRecords(from, to, models)
    expect(poems).toMatchObject({ source: 2500, target: 2500 })
    expect(poems?.copied).toBeLessThan(2500)
    const [, again] = await copyRecords(from, to, models)
    expect(again?.copied).toBe(0)
  })

  it('leaves an app alone that searches and writes in the source', async () => {
    const from = await filled(3)
    const app = createApp({ store: from })
    app.mount('/poems', createRouter({ model: Poem, search: ['title'], allowedFields: ['title'] }))
    await app.ready()
    await copyRecords(from, sqliteStore(), models)
    const found = await app.handle(new Request('http://localhost/poems?s=hymn'))
    expect(await found.json()).toMatchObject({ data: [{}, {}, {}] })
    await app.store.collection(Poem).insert({ title: 'Ode', author: '0'.repeat(24), lines: [] })
  })

  it('takes a model that the source does not know yet for an empty one', async () => {
    const Later = defineModel('Later', { fields: { name: z.string() } })
    const all = [Later, ...models] as unknown as Model[]
    const [later, , poems] = await copyRecords(await filled(3), sqliteStore(), all)
    expect(later).toMatchObject({ source: 0, target: 0, copied: 0 })
    expect(poems).toMatchObject({ source: 3, target: 3 })
  })

  it('says so when records have ids of another type, which it does not meet', async () => {
    const from = await filled(3)
    const strange = (collection: Collection): Collection => ({
      ...collection,
      count: async (...asked) => (await collection.count(...asked)) + 2,
    })
    const store = { ...from, collection: (schema: never) => strange(from.collection(schema)) }
    await expect(copyRecords(store, sqliteStore(), models)).rejects.toThrow(
      "'authors': 2 of 3 records have an _id of another type than the model's, and were not copied",
    )
  })

  it.each([
    [
      'gains',
      (poems: Collection) => poems.insert({ _id: 'f'.repeat(24), title: 'Late', lines: [] }),
    ],
    ['loses', (poems: Collection) => poems.delete({ op: 'eq', field: 'title', value: 'Hymn 1' })],
  ])('says so when the source %s a record meanwhile', async (_, write) => {
    const from = await filled(30)
    const watched = (collection: Collection): Collection => {
      let isFirst = true
      return {
        ...collection,
        // Asked first when the copy is verified: nobody hears of progress here.
        async count(...asked) {
          const counted = await collection.count(...asked)
          if (isFirst) await write(collection)
          isFirst = false
          return counted
        },
      }
    }
    const store: Store = {
      ...from,
      collection: (schema) =>
        schema.name === 'poems' ? watched(from.collection(schema)) : from.collection(schema),
    }
    await expect(copyRecords(store, sqliteStore(), models)).rejects.toThrow(
      "'poems': the source was written to during the copy; stop what writes to the stores and copy again, into an empty target if records were changed or deleted since they were copied",
    )
  })

  it('says so when the target holds something else', async () => {
    const [from, to] = [await filled(3), sqliteStore()]
    await copyRecords(from, to, models)
    const poems = createApp({ store: to }).store.collection(Poem)
    const one = await poems.findOne({ title: 'Hymn 1' })
    await poems.update(String(one?._id), { title: 'Another hymn' })
    await expect(copyRecords(from, to, models)).rejects.toThrow(CopyMismatch)
  })
})
