import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type Fields, ref, type Store } from '../../src/index.ts'
import { answerOf, request } from '../records/service.ts'
import { operationOf, Task, tasks } from './tasks.ts'

const Shelf = defineModel('OtherShelf', { fields: { name: z.string() } })
const Book = defineModel('OtherBook', {
  fields: { shelf: ref('OtherShelf', { onDelete: 'restrict' }) },
})

/** A store that counts its calls. */
function counting(): { store: Store; calls: string[] } {
  const store = sqliteStore()
  const calls: string[] = []
  return {
    calls,
    store: {
      ...store,
      write: (steps) => {
        if (steps.length > 0) calls.push('write')
        return store.write?.(steps) ?? Promise.reject(new TypeError('no write'))
      },
      collection(schema) {
        const collection = store.collection(schema)
        return new Proxy(collection, {
          get(target, name) {
            const member: unknown = Reflect.get(target, name)
            if (typeof member !== 'function') return member
            return (...values: unknown[]) => {
              calls.push(String(name))
              return Reflect.apply(member, target, values)
            }
          },
        })
      },
    },
  }
}

describe('a batch among others', () => {
  it('is one write of the store', async () => {
    const { store, calls } = counting()
    const { app, batch, create } = tasks({}, { store })
    await app.ready()
    calls.length = 0
    await batch(Array.from({ length: 100 }, (_, at) => create(`t${at}`)))
    expect(calls).toEqual(['write'])
  })

  it('looks once for a record that many operations refer to, and again once the batch has written it', async () => {
    const { store, calls } = counting()
    const { app, batch, send } = tasks({}, { store })
    const middlewares: [] = []
    app
      .mount('/shelves', createRouter({ model: Shelf, allowedFields: ['name'], middlewares }))
      .mount('/books', createRouter({ model: Book, allowedFields: ['shelf'], middlewares }))
    const { record: shelf } = await send('POST', '/shelves', { json: { name: 'A' } })
    const put = { method: 'POST', path: '/books', body: { shelf: shelf._id } }
    const gone = { method: 'DELETE', path: `/shelves/${shelf._id}` }
    calls.length = 0
    const { body } = await batch([put, put, put, put])
    expect(calls).toEqual(['find', 'write'])
    const ids = (body.data as { body: { data: Fields } }[]).map((one) => one.body.data._id)
    const taken = ids.map((id) => ({ method: 'DELETE', path: `/books/${id}` }))
    expect((await batch([...taken, put, gone])).status).toBe(409)
    expect((await batch([put, ...taken, gone])).status).toBe(409)
    const late = await batch([...taken, gone, put])
    expect([late.status, operationOf(late.body)]).toEqual([400, 5])
    expect((await batch([...taken, gone])).status).toBe(200)
    expect((await batch([put])).status).toBe(400)
  })

  it('is one request for the log', async () => {
    const { batch, create, log } = tasks({}, { accessLog: true })
    await batch([create('a'), create('b')])
    expect(log.lines.filter(({ message }) => message === 'request')).toMatchObject([
      { details: { method: 'POST', path: '/batch', status: 200 } },
    ])
    await batch([create('c'), create('a')])
    expect(log.lines.filter(({ message }) => message === 'request refused')).toHaveLength(1)
  })

  it('runs again if another request changes a record between its read and its write', async () => {
    const store = sqliteStore()
    let writes = 0
    let meddle = async () => {}
    const made = tasks(
      {},
      {
        store: {
          ...store,
          collection: (schema) => store.collection(schema),
          write: async (steps) => {
            if (steps.length > 0) {
              writes += 1
              await meddle()
            }
            return store.write?.(steps) ?? Promise.reject(new TypeError('no write'))
          },
        },
      },
    )
    const records = made.app.store.collection(Task)
    const { _id } = await records.insert({ name: 'one' })
    const etag = (await made.send('GET', `/tasks/${_id}`)).headers.get('etag')
    const change = { method: 'PATCH', path: `/tasks/${_id}`, body: { done: true } }
    meddle = async () => {
      meddle = async () => {}
      await records.update(_id, { name: 'other' })
    }
    const blind = await made.batch([made.create('a'), change])
    // What the client did not ask about stays as the other one left it, and the response shows it.
    expect(blind.body.data).toMatchObject([
      { status: 201 },
      { body: { data: { name: 'other', done: true } } },
    ])
    expect(writes).toBe(1)
    await records.update(_id, { name: 'one', done: undefined })
    meddle = async () => {
      meddle = async () => {}
      await records.update(_id, { name: 'third' })
    }
    const stale = await made.batch([made.create('b'), { ...change, ifMatch: etag }])
    expect([stale.status, operationOf(stale.body)]).toEqual([412, 1])
    meddle = async () => {
      meddle = async () => {}
      await records.delete(_id)
    }
    const gone = await made.batch([made.create('b'), change])
    expect([gone.status, gone.body.error, operationOf(gone.body)]).toEqual([
      404,
      'Entry not found.',
      1,
    ])
    expect(await records.count()).toBe(1)
  })

  it('gives up after ten times', async () => {
    const store = sqliteStore()
    let writes = 0
    const made = tasks(
      {},
      {
        store: {
          ...store,
          collection: (schema) => store.collection(schema),
          write: async (steps) => {
            if (steps.length === 0) return { results: [] }
            writes += 1
            return { failed: 1 }
          },
        },
      },
    )
    const answer = await made.batch(['a', 'b', 'c'].map((name) => made.create(name)))
    expect([answer.status, answer.body.error, operationOf(answer.body)]).toEqual([
      409,
      'Other requests kept changing the same entries. Try again.',
      1,
    ])
    expect(writes).toBe(10)
  })

  it('writes nothing once its time is over', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { app, create, log } = tasks(
      { validate: async ({ name }: { name?: unknown }) => (name === 'b' ? promise : undefined) },
      { requestTimeoutMs: 50 },
    )
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    // Called with the 503, and again when the code that serves the request has ended.
    let calls = 0
    app.use(({ url }, context) =>
      context.onResponse(() => {
        if (url.endsWith('/batch')) calls += 1
        if (calls === 2) end()
      }),
    )
    const json = { operations: [create('a'), create('b'), create('c')] }
    const answer = await answerOf(await app.handle(request('POST', '/batch', { json })))
    expect(answer.status).toBe(503)
    resolve()
    await over
    expect(await app.store.collection(Task).count()).toBe(0)
    expect(log.text).not.toContain('"request failed"')
  })
})
