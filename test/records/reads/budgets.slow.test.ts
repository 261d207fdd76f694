import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  createRouter,
  defineModel,
  type OnGet,
  type RouterOptions,
  ref,
} from '../../../src/index.ts'
import { service } from '../service.ts'
import { watched } from '../watched.ts'

const Writer = defineModel('BudgetWriter', { fields: { name: z.string() } })
const Text = defineModel('BudgetText', {
  fields: {
    title: z.string(),
    body: z.string().optional(),
    by: ref('BudgetWriter').optional(),
    editor: ref('BudgetWriter').optional(),
    authors: z.array(ref('BudgetWriter')).optional(),
  },
})

const TOO_LARGE = 'Response is too large. Ask for fewer records.'
const everything = { populate: ['by', 'editor', 'authors'] }

type Options = Partial<RouterOptions<{ title: string }>>

function texts(
  options: Options = {},
  app: { maxPopulated?: number; maxResponseBytes?: number } = {},
) {
  const store = watched(sqliteStore())
  const served = service({ store, ...app })
  served.app.mount(
    '/texts',
    createRouter({
      model: Text,
      middlewares: [],
      onGet: (() => everything) as OnGet,
      ...(options as object),
    }),
  )
  const writers = served.app.store.collection(Writer)
  const stored = served.app.store.collection(Text)
  const writer = async (name = 'Ann') => (await writers.insert({ name }))._id
  const several = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, at) => writer(`w${at}`)))
  return { ...served, store, writer, several, stored }
}

describe('maxPopulated', () => {
  test('fills in so many distinct records, in the order of the records; the rest stay ids', async () => {
    const { send, several, stored } = texts({ maxPopulated: 3 })
    const [a = '', b = '', c = '', d = ''] = await several(4)
    await stored.insert({ title: '1', by: a, authors: [a, b, a] })
    await stored.insert({ title: '2', by: b, authors: [c, d, a] })
    await stored.insert({ title: '3', by: d })
    const shown = (name: string) => expect.objectContaining({ name })
    for (const [method, message] of [
      ['GET', {}],
      ['QUERY', { json: {} }],
    ] as const) {
      const { records } = await send(method, '/texts', message)
      expect(records).toEqual([
        expect.objectContaining({
          by: shown('w0'),
          authors: [shown('w0'), shown('w1'), shown('w0')],
        }),
        expect.objectContaining({ by: shown('w1'), authors: [shown('w2'), d, shown('w0')] }),
        expect.objectContaining({ by: d }),
      ])
    }
  })

  test('is 1,000 by default, is set for an app, and for a router', async () => {
    const counts = async (options: Options, app: { maxPopulated?: number }) => {
      const { send, several, stored } = texts(options, app)
      const { _id } = await stored.insert({ title: '1', authors: await several(1005) })
      const { record } = await send('GET', `/texts/${_id}`)
      const authors = record.authors as unknown[]
      expect(authors).toHaveLength(1005)
      return authors.filter((author) => typeof author === 'object').length
    }
    expect(await counts({}, {})).toBe(1000)
    expect(await counts({}, { maxPopulated: 7 })).toBe(7)
    expect(await counts({ maxPopulated: 1004 }, { maxPopulated: 7 })).toBe(1004)
  })

  test('each record is loaded once, also through several references', async () => {
    const { send, writer, stored, store } = texts()
    const id = await writer()
    await stored.insert({ title: '1', by: id, editor: id, authors: [id, id] })
    store.taken()
    const { records } = await send('GET', '/texts')
    const ann = { _id: id, name: 'Ann' }
    expect(records).toMatchObject([{ by: ann, editor: ann, authors: [ann, ann] }])
    const asked = store.taken().filter((name) => name.startsWith('budgetwriters.'))
    expect(asked).toHaveLength(1)
  })

  test('the record that only tells whether a page follows takes nothing of it', async () => {
    const { send, several, stored } = texts({ maxPopulated: 1, pagination: 'cursor' })
    const [a = '', b = ''] = await several(2)
    await stored.insert({ title: '1', by: a })
    await stored.insert({ title: '2', by: b })
    for (const cursor of ['', 'next']) {
      const first = await send('GET', '/texts?pageSize=1')
      const { nextCursor } = first.body.pagination as { nextCursor: string }
      const page =
        cursor === '' ? first : await send('GET', `/texts?pageSize=1&cursor=${nextCursor}`)
      expect(page.records).toMatchObject([{ by: { name: cursor === '' ? 'w0' : 'w1' } }])
    }
  })
})

describe('maxResponseBytes', () => {
  test.each([['a'], ['é'], ['日'], ['💥']])('counts bytes, to the last one (%s)', async (char) => {
    const { send, stored, store } = texts({ onGet: () => ({}) } as Options)
    const { _id } = await stored.insert({ title: '1', body: char.repeat(1000) })
    await stored.insert({ title: '2', body: char.repeat(2000) })
    const paths = ['/texts', '/texts?page=1&pageSize=1', `/texts/${_id}`]
    for (const path of paths) {
      const { text } = await send('GET', path)
      const bytes = Buffer.byteLength(text)
      const at = path.replace('/texts', '')
      const fits = service({ store })
      fits.app.mount(
        '/fits',
        createRouter({ model: Text, middlewares: [], maxResponseBytes: bytes }),
      )
      fits.app.mount(
        '/less',
        createRouter({ model: Text, middlewares: [], maxResponseBytes: bytes - 1 }),
      )
      expect((await fits.send('GET', `/fits${at}`)).text).toBe(text)
      const refused = await fits.send('GET', `/less${at}`)
      expect([refused.status, refused.body.error]).toEqual([413, TOO_LARGE])
      expect(refused.body.requestId).toEqual(expect.any(String))
    }
  })

  test('a list of a hundred records of a mebibyte is refused, and fewer are read', async () => {
    const { send, stored } = texts({ onGet: () => ({}) } as Options)
    for (let at = 0; at < 40; at += 1)
      await stored.insert({ title: `${at}`, body: 'x'.repeat(1 << 20) })
    const refused = await send('GET', '/texts')
    expect([refused.status, refused.body.error]).toEqual([413, TOO_LARGE])
    expect((await send('QUERY', '/texts', { json: {} })).status).toBe(413)
    expect((await send('QUERY', '/texts', { json: { limit: 30 } })).records).toHaveLength(30)
    expect((await send('GET', '/texts?page=1&pageSize=30')).records).toHaveLength(30)
  })

  test('one record, repeated until a response has no room, is refused without being repeated', async () => {
    const { send, writer, stored } = texts()
    const id = await writer('x'.repeat(4000))
    const authors = Array<string>(37_000).fill(id)
    const { _id } = await stored.insert({ title: '1', authors })
    for (let at = 0; at < 5; at += 1) await stored.insert({ title: '2', authors })
    const before = process.memoryUsage().rss
    for (const path of ['/texts', `/texts/${_id}`]) {
      const answer = await send('GET', path)
      expect([answer.status, answer.body.error]).toEqual([413, TOO_LARGE])
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
  })

  test('a write whose answer would be too large is answered with ids', async () => {
    const { send, writer, stored } = texts({ maxResponseBytes: 10_000 })
    const id = await writer('x'.repeat(4000))
    const { _id } = await stored.insert({ title: '1', authors: [id, id, id] })
    expect((await send('GET', `/texts/${_id}`)).status).toBe(413)
    const patched = await send('PATCH', `/texts/${_id}`, { json: { title: '2' } })
    expect(patched.status).toBe(200)
    expect(patched.record).toMatchObject({ title: '2', authors: [id, id, id] })
    const posted = await send('POST', '/texts', { json: { title: '3', body: 'y'.repeat(20_000) } })
    expect(posted.status).toBe(201)
  })

  test('records that a response refers to are not loaded beyond what it may have', async () => {
    const { send, stored, store, app } = texts({ maxResponseBytes: 100_000 })
    const writers = app.store.collection(Writer)
    const ids: string[] = []
    for (let at = 0; at < 500; at += 1) {
      ids.push((await writers.insert({ name: 'x'.repeat(2000) }))._id)
    }
    await stored.insert({ title: '1', authors: ids })
    store.taken()
    expect((await send('GET', '/texts')).status).toBe(413)
    const asked = store.taken().filter((name) => name.startsWith('budgetwriters.'))
    expect(asked.length).toBeLessThan(3)
  })
})
