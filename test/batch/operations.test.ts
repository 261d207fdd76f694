import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { createRouter, defineModel, type Fields, ref } from '../../src/index.ts'
import { type Service, service } from '../records/service.ts'

const Shelf = defineModel('BatchShelf', {
  fields: { name: z.string(), room: z.string().optional() },
  unique: ['name'],
})
const Book = defineModel('BatchBook', {
  fields: {
    title: z.string(),
    pages: z.number().int().optional(),
    owner: z.string().optional(),
    shelf: ref('BatchShelf', { onDelete: 'restrict' }).optional(),
    note: z.string().optional(),
  },
  unique: ['title'],
  hidden: ['note'],
})

interface Outcome {
  readonly status: number
  readonly body: { readonly data: Fields; readonly message?: string }
}

interface Shown extends Service {
  batch(
    operations: readonly object[],
    headers?: Record<string, string>,
  ): ReturnType<Service['send']>
}

/** An app with two models and a batch. */
function library(options: object = {}): Shown {
  const made = service()
  made.app
    .mount('/shelves', createRouter({ model: Shelf, allowedFields: ['name', 'room'] }))
    .mount(
      '/books',
      createRouter({ model: Book, allowedFields: ['title', 'pages', 'shelf'], ...options }),
    )
    .mount('/batch', batch({ max: 20 }))
  return {
    ...made,
    batch: (operations, headers = {}) =>
      made.send('POST', '/batch', { json: { operations }, headers }),
  }
}

const outcomes = (answer: { readonly body: { readonly data?: unknown } }) =>
  answer.body.data as Outcome[]

describe('a batch', () => {
  it('returns what each operation would alone, in order', async () => {
    const { batch, send } = library()
    const first = await send('POST', '/books', { json: { title: 'first', pages: 1 } })
    const answer = await batch([
      { method: 'POST', path: '/books', body: { title: 'second', note: 'not writable' } },
      { method: 'PATCH', path: `/books/${first.record._id}`, body: { pages: 2 } },
      { method: 'DELETE', path: `/books/${first.record._id}` },
    ])
    expect(answer.status).toBe(200)
    const [created, changed, removed] = outcomes(answer)
    expect(created).toMatchObject({
      status: 201,
      body: { success: true, data: { title: 'second' } },
    })
    expect(created?.body.data).not.toHaveProperty('note')
    expect(changed).toMatchObject({ status: 200, body: { data: { title: 'first', pages: 2 } } })
    expect(removed).toEqual({
      status: 200,
      body: { success: true, message: 'Item successfully deleted.' },
    })
    const { records } = await send('GET', '/books')
    expect(records).toEqual([created?.body.data])
  })

  it('fills references in as each operation has left them, whatever later ones do', async () => {
    const { batch, send } = library({ onGet: () => ({ populate: 'shelf' }) })
    const shelf = String((await send('POST', '/shelves', { json: { name: 'A' } })).record._id)
    const book = await send('POST', '/books', { json: { title: 'one', shelf } })
    const path = `/books/${book.record._id}`
    const answer = await batch([
      { method: 'PATCH', path, body: { pages: 1 } },
      { method: 'PATCH', path: `/shelves/${shelf}`, body: { name: 'B' } },
      { method: 'PATCH', path, body: { pages: 2 } },
      { method: 'POST', path: '/shelves', body: { name: 'C' } },
      { method: 'PATCH', path, body: { shelf: { $id: 3 } } },
      { method: 'DELETE', path: `/shelves/${shelf}` },
      { method: 'PATCH', path: '/shelves/$3', body: { name: 'D' } },
    ])
    expect(outcomes(answer).map(({ body }) => (body.data?.shelf as Fields)?.name)).toEqual([
      ...['A', undefined, 'B', undefined, 'C', undefined, undefined],
    ])
    expect((await send('GET', path)).record).toMatchObject({ shelf: { name: 'D' }, pages: 2 })
  })

  it('stores nothing if one operation is refused, and says which and why', async () => {
    const { batch, send } = library()
    const shelf = await send('POST', '/shelves', { json: { name: 'A' } })
    const answer = await batch([
      { method: 'POST', path: '/books', body: { title: 'one' } },
      { method: 'PATCH', path: `/shelves/${shelf.record._id}`, body: { room: 'R' } },
      { method: 'POST', path: '/books', body: { title: 'two', pages: 'many' } },
      { method: 'POST', path: '/books', body: {} },
    ])
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      success: false,
      error: 'Check the submitted values.',
      fields: { pages: expect.any(String) },
      operation: 2,
    })
    expect((await send('GET', '/books')).records).toEqual([])
    expect((await send('GET', `/shelves/${shelf.record._id}`)).record).toEqual(shelf.record)
  })

  it('creates a record and one that refers to it, and removes both in turn', async () => {
    const { batch, send, app } = library()
    const { _id } = await app.store.collection(Shelf).insert({ name: 'S' })
    const id = String(_id)
    const refused = await batch([
      { method: 'POST', path: '/books', body: { title: 'b', shelf: id } },
      { method: 'DELETE', path: `/shelves/${id}` },
    ])
    expect([refused.status, refused.body]).toEqual([
      409,
      {
        success: false,
        error: 'Entry is still referenced by BatchBook.',
        requestId: expect.any(String),
        operation: 1,
      },
    ])
    const book = await send('POST', '/books', { json: { title: 'b', shelf: id } })
    const taken = await batch([
      { method: 'DELETE', path: `/books/${book.record._id}` },
      { method: 'DELETE', path: `/shelves/${id}` },
    ])
    expect(taken.status).toBe(200)
    expect((await send('GET', '/shelves')).records).toEqual([])
  })

  it('lets operations name the records that earlier ones create', async () => {
    const { batch, send } = library()
    const answer = await batch([
      { method: 'POST', path: '/shelves', body: { name: 'S' } },
      { method: 'POST', path: '/books', body: { title: 'b', shelf: { $id: 0 } } },
      { method: 'PATCH', path: '/books/$1', body: { pages: 9 } },
      { method: 'POST', path: '/books', body: { title: 'c', shelf: { $id: 0 } } },
      { method: 'DELETE', path: '/books/$3?hard=yes' },
    ])
    const [shelf, created, changed] = outcomes(answer)
    const { records } = await send('GET', '/books')
    expect(records).toEqual([changed?.body.data])
    expect(records).toEqual([{ ...created?.body.data, pages: 9 }])
    expect(records[0]?.shelf).toBe(shelf?.body.data._id)
    for (const [name, place, wrong] of [
      ['$1', 'path', { method: 'PATCH', path: '/books/$1', body: { pages: 1 } }],
      ['$id', 'body.shelf', { method: 'POST', path: '/books', body: { shelf: { $id: 1 } } }],
      [
        '$id',
        'body.tags.1',
        { method: 'POST', path: '/books', body: { tags: ['', { $id: 'S' }] } },
      ],
    ] as const) {
      const refused = await batch([{ method: 'DELETE', path: `/books/${records[0]?._id}` }, wrong])
      expect([refused.status, refused.body]).toMatchObject([
        400,
        {
          error: `'${name}' in '${place}' must name an earlier operation that creates a record, by its index.`,
          operation: 1,
        },
      ])
    }
  })

  it('tells of a unique value that is taken, in the store or by an earlier operation', async () => {
    const { batch, send } = library()
    await send('POST', '/books', { json: { title: 'taken' } })
    const conflict = (operation: number) => ({
      success: false,
      error: 'Duplicate value for: title.',
      fields: { title: 'Already exists.' },
      requestId: expect.any(String),
      operation,
    })
    const stored = await batch([
      { method: 'POST', path: '/books', body: { title: 'new' } },
      { method: 'POST', path: '/books', body: { title: 'taken' } },
      { method: 'POST', path: '/books', body: { title: 'other' } },
      // Refused too, but later.
      { method: 'POST', path: '/books', body: { title: 5 } },
    ])
    expect([stored.status, stored.body]).toEqual([409, conflict(1)])
    const within = await batch([
      { method: 'POST', path: '/books', body: { title: 'new' } },
      { method: 'POST', path: '/shelves', body: { name: 'x' } },
      { method: 'POST', path: '/books', body: { title: 'new' } },
    ])
    expect([within.status, within.body]).toEqual([409, conflict(2)])
    expect((await send('GET', '/books')).records).toHaveLength(1)
  })

  it('frees a unique value for the operations after', async () => {
    const { batch, send } = library()
    const { record } = await send('POST', '/books', { json: { title: 'name' } })
    const answer = await batch([
      { method: 'PATCH', path: `/books/${record._id}`, body: { title: 'other' } },
      { method: 'POST', path: '/books', body: { title: 'name' } },
    ])
    expect(answer.status).toBe(200)
    expect((await send('GET', '/books')).records).toHaveLength(2)
  })

  it('takes an ETag for each operation', async () => {
    const { batch, send } = library()
    const { record } = await send('POST', '/books', { json: { title: 'name' } })
    const path = `/books/${record._id}`
    const etag = (await send('GET', path)).headers.get('etag')
    const change = { method: 'PATCH', path, body: { pages: 3 }, ifMatch: etag }
    expect((await batch([change])).status).toBe(200)
    const stale = await batch([{ method: 'POST', path: '/books', body: { title: 'x' } }, change])
    expect([stale.status, stale.body]).toMatchObject([
      412,
      { error: 'The record has changed since it was read.', operation: 1 },
    ])
    expect((await batch([{ ...change, ifMatch: '*' }], { 'if-match': '"no"' })).status).toBe(200)
  })

  it.each([
    [{ operations: 'all' }, "'operations' must be a list of at most 20 operations.", undefined],
    [{}, "'operations' must be a list of at most 20 operations.", undefined],
    [
      { operations: Array.from({ length: 21 }, () => ({ method: 'POST', path: '/books' })) },
      "'operations' must be a list of at most 20 operations.",
      undefined,
    ],
    [
      { operations: [{ method: 'GET', path: '/books' }] },
      "'method' must be POST, PATCH or DELETE.",
      0,
    ],
    [
      { operations: [{ method: 'POST', path: 'http://evil.test/books' }] },
      "'path' must be a path like '/cities' or '/cities/<id>'.",
      0,
    ],
    [
      { operations: [{ method: 'POST', path: '/books', body: { title: 'x' }, header: 1 }] },
      "Unknown key 'header' in an operation. Allowed: method, path, body, ifMatch.",
      0,
    ],
    [
      { operations: ['POST /books'] },
      "An operation is an object with 'method' and 'path', and perhaps 'body' and 'ifMatch'.",
      0,
    ],
    [
      { operations: [{ method: 'PATCH', path: '/books/1', body: {}, ifMatch: 'a\nb' }] },
      "'ifMatch' must be an ETag, or '*'.",
      0,
    ],
    [
      { operations: [{ method: 'PATCH', path: '/books/1', body: {}, ifMatch: 1 }] },
      "'ifMatch' must be an ETag, or '*'.",
      0,
    ],
  ])('refuses %j', async (json, error, operation) => {
    const { send } = library()
    const answer = await send('POST', '/batch', { json })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe(error)
    expect((answer.body as { operation?: number }).operation).toBe(operation)
  })

  it('refuses paths that are no record routes', async () => {
    const { batch, app } = library()
    app.mount(
      '/extra',
      createRouter({
        model: defineModel('BatchExtra', { fields: { a: z.string() } }),
        allowedFields: ['a'],
      }).post('/import', () => Response.json({ done: true })),
    )
    const created = { method: 'POST', path: '/books', body: { title: 'x' } }
    const refused = async (operation: object) => {
      const answer = await batch([created, operation])
      return [answer.status, answer.body.error, (answer.body as { operation?: number }).operation]
    }
    const other =
      'A batch only creates, changes and deletes records. This path does something else.'
    expect(await refused({ method: 'POST', path: '/none' })).toEqual([404, 'Not found.', 1])
    expect(await refused({ method: 'POST', path: '/books/1' })).toEqual([
      405,
      'Method not allowed.',
      1,
    ])
    expect(await refused({ method: 'PATCH', path: '/books' })).toEqual([
      405,
      'Method not allowed.',
      1,
    ])
    expect(await refused({ method: 'POST', path: '/batch', body: {} })).toEqual([400, other, 1])
    expect(await refused({ method: 'POST', path: '/extra/import', body: {} })).toEqual([
      400,
      other,
      1,
    ])
    expect(await refused({ method: 'DELETE', path: '/books/x' })).toEqual([
      400,
      'Invalid ID format.',
      1,
    ])
    expect(await app.store.collection(Book).count()).toBe(0)
  })

  it('without operations does nothing', async () => {
    const { batch } = library()
    expect((await batch([])).body).toEqual({ success: true, data: [] })
  })

  it('cannot be mounted on a store that writes one record at a time', async () => {
    const { write: _, ...store } = sqliteStore()
    const { app } = service({
      store: { ...store, collection: (schema) => sqliteStore().collection(schema) },
    })
    app.mount('/batch', batch())
    await expect(app.ready()).rejects.toThrow(
      "batch() at '/batch': the store 'sqlite' cannot write several records in one step. Use SQLite, PostgreSQL, D1 or a MongoDB replica set, or remove it.",
    )
    expect(() => batch({ max: 0 })).toThrow("batch: 'max' must be a whole number of at least 1")
  })
})
