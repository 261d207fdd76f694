import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel, type Model, ref } from '../../src/index.ts'
import type { Collection, Store } from '../../src/ports/store/store.ts'
import { copyRecords } from '../../src/upkeep/copy/copy.ts'
import { CopyMismatch } from '../../src/upkeep/copy/mismatch.ts'

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
  it('goes on where another copy into the same target was faster', async () => {
    const [from, to] = [await filled(300), sqliteStore()]
    const twice = (collection: Collection): Collection => ({
      ...collection,
      async insert(record) {
        await collection.insert(record)
        return collection.insert(record)
      },
    })
    const raced: Store = { ...to, collection: (schema) => twice(to.collection(schema)) }
    const results = await copyRecords(from, raced, models)
    expect(results.map(({ source, target }) => [source, target])).toEqual([
      [1, 1],
      [300, 300],
    ])
  })

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
    const passes = ['copying', 'comparing'].flatMap((pass) => [
      `${pass} authors 1`,
      ...[1000, 2000, 2500].map((done) => `${pass} poems ${done}`),
    ])
    expect(seen).toEqual(passes)
    const [ours, theirs] = [from, to].map((store) => createApp({ store }).store.collection(Poem))
    expect(await theirs?.find({}, { sort: '_id' })).toEqual(await ours?.find({}, { sort: '_id' }))
  })

  it('takes records whose ids are UUIDs', async () => {
    const Tag = defineModel('Tag', { fields: { name: z.string() }, id: 'uuid' })
    const [from, to] = [sqliteStore(), sqliteStore()]
    const tags = createApp({ store: from }).store.collection(Tag)
    for (let at = 0; at < 30; at += 1) await tags.insert({ name: `tag ${at}` })
    const [result] = await copyRecords(from, to, [Tag] as unknown as Model[])
    expect(result).toMatchObject({ source: 30, target: 30, copied: 30 })
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

  it('names the record that the target refuses', async () => {
    const refused = copyRecords(await filled(3), failingAfter(sqliteStore(), 1), models)
    await expect(refused).rejects.toThrow(
      /^'poems': the record [0-9a-f]{24} can't be written: the line is cut$/,
    )
  })

  it('says so when the target holds something else', async () => {
    const [from, to] = [await filled(3), sqliteStore()]
    await copyRecords(from, to, models)
    const poems = createApp({ store: to }).store.collection(Poem)
    const one = await poems.findOne({ title: 'Hymn 1' })
    await poems.update(String(one?._id), { title: 'Another hymn' })
    const copied = copyRecords(from, to, models)
    await expect(copied).rejects.toThrow(CopyMismatch)
    await expect(copied).rejects.toThrow(
      `'poems': 1 record is different in the target (${one?._id}). Nothing wrote to the source meanwhile, so the target held other records before.`,
    )
  })
})
