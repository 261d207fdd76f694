import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type Fields, type OnGet, ref } from '../../../src/index.ts'
import { service } from '../service.ts'
import { watched } from '../watched.ts'

const Person = defineModel('ReadPerson', {
  fields: {
    name: z.string(),
    password: z.string(),
    home: z.object({ city: z.string(), code: z.string() }).optional(),
    boss: ref('ReadPerson').optional(),
  },
  hidden: ['password', 'home.code'],
  output: (record) => ({ ...record, shout: record.name.toUpperCase() }),
  collection: 'persons',
})
const Book = defineModel('ReadBook', {
  fields: {
    title: z.string(),
    author: ref('ReadPerson').nullish(),
    editors: z.array(ref('ReadPerson')).optional(),
    loan: z.object({ to: ref('ReadPerson').nullish(), days: z.number() }).optional(),
    reviews: z.array(z.object({ by: ref('ReadPerson'), stars: z.number() })).optional(),
    owner: ref('ReadPerson').optional(),
  },
  hidden: ['owner'],
  collection: 'books',
})

const NOBODY = 'ffffffffffffffffffffffff'
const EVERY = ['author', 'editors', 'loan.to', 'reviews.by']

/** Two people and a library whose router populates as the test says. */
async function library(populate: unknown, more: { lean?: boolean; select?: string[] } = {}) {
  const store = watched(sqliteStore())
  const served = service({ store })
  const { select, lean = false } = more
  const onGet = (() => ({ populate, ...(select && { select }) })) as OnGet
  const fields = ['title', 'author'] as const
  served.app.mount(
    '/books',
    createRouter({ model: Book, query: ['title'], allowedFields: fields, onGet, lean }),
  )
  await served.app.ready()
  const people = served.app.store.collection(Person)
  const home = { city: 'Oslo', code: 'hidden-code' }
  const ann = await people.insert({ name: 'Ann', password: 'hidden-password', home })
  const bob = await people.insert({ name: 'Bob', password: 'hidden-password', boss: ann._id })
  const books = served.app.store.collection(Book)
  const insert = async (values: Fields) => (await books.insert(values as never))._id
  store.taken()
  return { ...served, store, people, insert, ann: ann._id, bob: bob._id }
}

const shownAnn = (_id: string) => ({ _id, name: 'Ann', home: { city: 'Oslo' }, shout: 'ANN' })

describe('2.6 onGet, populate', () => {
  test('a reference, lists of them, and references inside objects and lists of objects', async () => {
    const { send, insert, ann, bob } = await library(EVERY)
    const _id = await insert({
      title: 'a',
      author: ann,
      editors: [bob, ann, bob],
      loan: { to: ann, days: 3 },
      reviews: [
        { by: bob, stars: 1 },
        { by: ann, stars: 5 },
      ],
    })
    const [a, b] = [shownAnn(ann), { _id: bob, name: 'Bob', boss: ann, shout: 'BOB' }]
    const shown = {
      _id,
      title: 'a',
      author: a,
      editors: [b, a, b],
      loan: { to: a, days: 3 },
      reviews: [
        { by: b, stars: 1 },
        { by: a, stars: 5 },
      ],
    }
    expect((await send('GET', `/books/${_id}`)).record).toEqual(shown)
    expect((await send('GET', '/books')).records).toEqual([shown])
    expect((await send('QUERY', '/books', { json: {} })).records).toEqual([shown])
    expect((await send('PATCH', `/books/${_id}`, { json: { title: 'a' } })).record).toEqual(shown)
  })

  test('a missing target is null, in a list it is left out; what is absent stays absent', async () => {
    const { send, insert, people, ann, bob } = await library(EVERY)
    const gone = {
      title: 'a',
      author: NOBODY,
      editors: [NOBODY, ann, NOBODY],
      loan: { to: NOBODY, days: 1 },
      reviews: [{ by: NOBODY, stars: 1 }],
    }
    await insert(gone)
    await insert({ title: 'b', author: null, editors: [], loan: { to: null, days: 2 } })
    await insert({ title: 'c' })
    await insert({ title: 'd', author: bob })
    await people.delete(bob)
    const { records } = await send('GET', '/books')
    expect(records.map(({ _id, ...shown }) => shown)).toEqual([
      {
        title: 'a',
        author: null,
        editors: [shownAnn(ann)],
        loan: { to: null, days: 1 },
        reviews: [{ by: null, stars: 1 }],
      },
      { title: 'b', author: null, editors: [], loan: { to: null, days: 2 } },
      { title: 'c' },
      { title: 'd', author: null },
    ])
  })

  test('no N+1: one query for each model and page, however many references and records there are', async () => {
    const { send, insert, store, ann, bob } = await library(EVERY)
    for (let at = 0; at < 40; at += 1) {
      const reviews = [{ by: at % 2 ? ann : bob, stars: at }]
      await insert({
        title: `${at}`,
        author: ann,
        editors: [ann, bob],
        loan: { to: bob, days: 1 },
        reviews,
      })
    }
    store.taken()
    for (const path of ['/books', '/books?page=2&pageSize=15']) {
      expect((await send('GET', path)).status).toBe(200)
      const calls = store.calls.filter(({ name }) => name === 'persons.find')
      expect(calls).toHaveLength(1)
      // Each id is asked for once, and no more records than ids.
      for (const { argument } of calls) expect(argument.limit).toBeLessThanOrEqual(2)
      expect(store.taken().filter((name) => name.startsWith('books.find'))).toHaveLength(1)
    }
  })

  test('a path that is named twice is filled in once, as it was asked for last', async () => {
    const named = { path: 'author', select: 'name' }
    const { send, insert, ann } = await library(['author', named, 'editors', 'editors'])
    const _id = await insert({ title: 'a', author: ann, editors: [ann] })
    expect((await send('GET', `/books/${_id}`)).record).toEqual({
      _id,
      title: 'a',
      author: { _id: ann, name: 'Ann', shout: 'ANN' },
      editors: [shownAnn(ann)],
    })
  })

  test('a page without references asks for none', async () => {
    const { send, insert, store } = await library(EVERY)
    await insert({ title: 'a', author: null, editors: [] })
    store.taken()
    expect((await send('GET', '/books')).records).toHaveLength(1)
    expect((await send('GET', '/books?title=nothing')).records).toEqual([])
    expect(store.taken().filter((name) => name.startsWith('persons'))).toEqual([])
  })

  test.each([
    ['name', { name: 'Ann', shout: 'ANN' }],
    [['name', 'home'], { name: 'Ann', home: { city: 'Oslo' }, shout: 'ANN' }],
    [['name', 'home.city'], { name: 'Ann', home: { city: 'Oslo' }, shout: 'ANN' }],
    ['-home', { name: 'Ann', shout: 'ANN' }],
    [['name', 'password', 'home.code'], { name: 'Ann', shout: 'ANN' }],
    [['-home.city'], { name: 'Ann', home: {}, shout: 'ANN' }],
  ])('a nested select of %j', async (select, shown) => {
    const { send, insert, ann } = await library({ path: 'author', select })
    const id = await insert({ title: 'a', author: ann })
    const { record, text } = await send('GET', `/books/${id}`)
    expect(record.author).toEqual({ _id: ann, ...shown })
    expect(text).not.toContain('hidden-')
  })

  test('2.6 lean: what is populated is shown without its output too, hidden fields still hidden', async () => {
    const { send, insert, ann } = await library(EVERY, { lean: true })
    const id = await insert({ title: 'a', author: ann, editors: [ann] })
    const { record, text } = await send('GET', `/books/${id}`)
    const plain = { _id: ann, name: 'Ann', home: { city: 'Oslo' } }
    expect(record).toEqual({ _id: id, title: 'a', author: plain, editors: [plain] })
    expect(text).not.toContain('hidden-')
  })

  test('a select on the record and populate go together', async () => {
    const { send, insert, ann } = await library(['author', 'editors'], { select: ['author'] })
    const id = await insert({ title: 'a', author: ann, editors: [ann] })
    expect((await send('GET', `/books/${id}`)).record).toEqual({ _id: id, author: shownAnn(ann) })
  })

  test.each([
    ['a hidden reference', 'owner'],
    ['a field that is no reference', 'title'],
    ['a path through a reference', 'author.boss'],
    ['nothing', ''],
    ['a key of every object', '__proto__'],
  ])(
    '2.6 hidden field: %s cannot be populated: it is left out, the rest filled in, and the log says so once',
    async (_title, path) => {
      const { send, insert, log, ann, bob } = await library([path, 'editors'])
      const id = await insert({ title: 'a', author: ann, owner: ann, editors: [bob] })
      for (let time = 0; time < 3; time += 1) {
        expect((await send('GET', `/books/${id}`)).record).toEqual({
          _id: id,
          title: 'a',
          author: ann,
          editors: [{ _id: bob, name: 'Bob', boss: ann, shout: 'BOB' }],
        })
      }
      const message = `Router '/books': onGet's 'populate' names ${JSON.stringify(path)}, which is not a reference of 'ReadBook' to a model. It is left out.`
      const told = log.lines.filter((line) => line.message.includes('onGet'))
      expect(told).toEqual([{ level: 'warn', message, details: {} }])
    },
  )
})
