import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { createRouter, defineModel, ref, type Store } from '../../src/index.ts'
import { service } from '../records/service.ts'
import { operationOf } from './tasks.ts'

const Author = defineModel('BudgetAuthor', { fields: { name: z.string() } })
const Note = defineModel('BudgetNote', {
  fields: {
    title: z.string().optional(),
    text: z.string().optional(),
    any: z.unknown().optional(),
    code: z.string().optional(),
    author: ref('BudgetAuthor').optional(),
  },
  unique: ['code'],
})

/** Notes of which an app answers at most `maxResponseBytes`; `steps` are those that its store was asked to write. */
function notes(maxResponseBytes: number, options: object = {}) {
  const store = sqliteStore()
  const steps: number[] = []
  const counted: Store = new Proxy(store, {
    get(target, key) {
      const value = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      if (key !== 'write') return value.bind(target)
      return (all: readonly unknown[]) => {
        steps.push(all.length)
        return value.call(target, all)
      }
    },
  })
  const made = service({ store: counted, maxResponseBytes })
  const allowedFields = ['title', 'text', 'any', 'code', 'author'] as const
  made.app
    .mount('/notes', createRouter({ model: Note, allowedFields, middlewares: [], ...options }))
    .mount('/authors', createRouter({ model: Author, allowedFields: ['name'], middlewares: [] }))
    .mount('/batch', batch())
  const records = made.app.store.collection(Note)
  const send = (operations: readonly object[]) =>
    made.send('POST', '/batch', { json: { operations } })
  const patches = (ids: readonly string[], count: number, body: (at: number) => object) =>
    Array.from({ length: count }, (_, at) => ({
      method: 'PATCH',
      path: `/notes/${ids[at % ids.length]}`,
      body: body(at),
    }))
  return { ...made, records, steps, send, patches }
}

const TOO_LARGE = 'The batch is too large. Send fewer operations.'

describe('what the operations of a batch read, keep and answer', () => {
  it.each([
    ['changes of one record', 1, { title: 'a', text: 'x'.repeat(20_000) }],
    ['changes of several', 3, { any: Array.from({ length: 5000 }, () => ({})) }],
    ['text that UTF-8 makes longer', 2, { text: '\u65e5'.repeat(7000) }],
  ])('is at most maxResponseBytes together: %s', async (_, count, record) => {
    const { send, patches, records } = notes(100_000)
    const made = await Promise.all(Array.from({ length: count }, () => records.insert(record)))
    const ids = made.map(({ _id }) => _id)
    const refused = await send(patches(ids, 20, (at) => ({ title: `t${at}` })))
    expect([refused.status, refused.body.error]).toEqual([413, TOO_LARGE])
    expect(operationOf(refused.body)).toBeLessThan(5)
    expect((await records.find({})).map(({ title }) => title)).toEqual(
      made.map(({ title }) => title),
    )
    const taken = await send(patches(ids, 2, (at) => ({ title: `t${at}` })))
    expect(taken.status).toBe(200)
    expect(taken.text.length).toBeLessThan(100_000)
  })

  it('counts records that operations create, and those that hooks and guards read', async () => {
    const text = 'x'.repeat(30_000)
    const { send } = notes(100_000)
    const create = { method: 'POST', path: '/notes', body: { text } }
    expect((await send([create, create, create])).status).toBe(200)
    expect((await send([create, create, create, create])).status).toBe(413)

    const guarded = notes(100_000, {
      beforeUpdate: () => {},
      middlewares: [
        async (_: unknown, { store }: { store: typeof guarded.app.store }) =>
          void (await store.collection(Note).find({})),
      ],
    })
    const { _id } = await guarded.records.insert({ text })
    const patches = (count: number) => guarded.patches([_id], count, (at) => ({ title: `t${at}` }))
    expect((await guarded.send(patches(1))).status).toBe(413)
  })

  it('leaves out what references would add beyond it, as the write has happened', async () => {
    const onGet = () => ({ populate: ['author'] })
    const { app, send, patches, records } = notes(100_000, { onGet })
    const author = await app.store.collection(Author).insert({ name: 'n'.repeat(60_000) })
    const { _id } = await records.insert({ title: 'a', author: author._id })
    const answer = await send(patches([_id], 5, (at) => ({ title: `t${at}` })))
    expect(answer.status).toBe(200)
    expect(answer.text.length).toBeLessThan(100_000)
    expect(answer.text).toContain(`"author":"${author._id}"`)
  })
})

describe('several changes of one record', () => {
  it('are one step of the write, and each response is as alone', async () => {
    const { send, patches, records, steps } = notes(1_000_000)
    const a = await records.insert({ title: 'a', text: 'one' })
    const b = await records.insert({ title: 'b' })
    const sent = patches([a._id, b._id], 40, (at) =>
      at % 3 === 0 ? { text: null } : { title: `t${at}`, text: `x${at}` },
    )
    const answer = await send(sent)
    const shown = (answer.body.data as unknown as { body: { data: object } }[]).map(
      ({ body }) => body.data,
    )
    expect(steps.at(-1)).toBe(2)
    expect(shown[2]).toEqual({ _id: a._id, title: 't2', text: 'x2' })
    expect(shown[3]).toEqual({ _id: b._id, title: 't1' })
    expect(shown[4]).toEqual({ _id: a._id, title: 't4', text: 'x4' })
    expect(await records.findById(a._id)).toEqual({ _id: a._id, title: 't38', text: 'x38' })
    expect(await records.findById(b._id)).toEqual({ _id: b._id, title: 't37' })
  })

  it('join the record that an earlier operation creates', async () => {
    const { send, records, steps } = notes(1_000_000)
    const answer = await send([
      { method: 'POST', path: '/notes', body: { title: 'a', code: '1' } },
      { method: 'PATCH', path: '/notes/$0', body: { title: 'b' } },
      { method: 'PATCH', path: '/notes/$0', body: { text: 'c', title: null } },
    ])
    expect(answer.status).toBe(200)
    expect(steps.at(-1)).toBe(1)
    const [{ _id, ...record } = { _id: '' }] = await records.find({})
    expect([_id.length, record]).toEqual([24, { code: '1', text: 'c' }])
  })

  it('stay apart where unique values change hands', async () => {
    const { send, records } = notes(1_000_000)
    const a = await records.insert({ title: 'a', code: 'A' })
    const b = await records.insert({ title: 'b', code: 'B' })
    const patch = (id: string, code: string | null) => ({
      ...{ method: 'PATCH', path: `/notes/${id}`, body: { code, title: `now ${code}` } },
    })
    const answer = await send([patch(a._id, null), patch(b._id, 'A'), patch(a._id, 'B')])
    expect(answer.status).toBe(200)
    expect((await records.findById(a._id))?.code).toBe('B')
    expect((await records.findById(b._id))?.code).toBe('A')
  })

  it('are refused if another request has changed what one of them requires', async () => {
    const { app, send, records } = notes(1_000_000)
    const { _id } = await records.insert({ title: 'a' })
    const etag = (await app.handle(new Request(`http://x/notes/${_id}`))).headers.get('etag')
    await records.update(_id, { text: 'by another' })
    const answer = await send([
      { method: 'PATCH', path: `/notes/${_id}`, body: { title: 'b' }, ifMatch: etag },
      { method: 'PATCH', path: `/notes/${_id}`, body: { title: 'c' } },
    ])
    expect([answer.status, operationOf(answer.body)]).toEqual([412, 0])
    expect((await records.findById(_id))?.title).toBe('a')
  })
})

describe('an operation', () => {
  it.each([
    ['path', { path: `/notes/${'/'.repeat(900_000)}` }, `'path' has more than 8192 bytes.`],
    ['path of references', { path: '/$0'.repeat(300_000) }, `'path' has more than 8192 bytes.`],
    [
      'ifMatch',
      { path: '/notes/1', ifMatch: `"${'x'.repeat(1023)}"` },
      `'ifMatch' has more than 1024 bytes.`,
    ],
  ])('has a %s of bounded length', async (_, operation, error) => {
    const { send } = notes(1_000_000)
    const create = { method: 'POST', path: '/notes', body: { title: 'a' } }
    const answer = await send([create, { method: 'PATCH', body: { title: 'b' }, ...operation }])
    expect([answer.status, answer.body.error, operationOf(answer.body)]).toEqual([400, error, 1])
  })
})
