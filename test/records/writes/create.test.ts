import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  type CacheStore,
  createRouter,
  defineModel,
  type Fields,
  HttpError,
  type RouterOptions,
} from '../../../src/index.ts'
import { NOON, service } from '../service.ts'

const City = defineModel('CreateCity', {
  fields: { name: z.string(), notes: z.string().optional(), size: z.number().optional() },
  timestamps: true,
  hidden: ['notes'],
})
type CityOptions = Partial<
  RouterOptions<{ name: string; notes?: string | undefined; size?: number | undefined }>
>

function cities(options: CityOptions = {}) {
  const served = service()
  served.app.mount(
    '/cities',
    createRouter({ model: City, allowedFields: ['name', 'notes', 'size'], ...options }),
  )
  return { ...served, stored: served.app.store.collection(City) }
}

describe('4.1 POST: the answer', () => {
  test('answers, Writes: 201 with the stored record, hidden fields left out, and Location', async () => {
    const { send, stored } = cities()
    const created = await send('POST', '/cities', {
      json: { name: 'Oslo', notes: 'private', size: 5 },
    })
    expect(created.status).toBe(201)
    const { record } = created
    expect(record).toEqual({
      _id: record._id,
      name: 'Oslo',
      size: 5,
      createdAt: new Date(NOON).toISOString(),
      updatedAt: new Date(NOON).toISOString(),
    })
    expect(created.headers.get('location')).toBe(`/cities/${record._id}`)
    expect((await send('GET', String(created.headers.get('location')))).text).toBe(created.text)
    expect(await stored.findById(String(record._id))).toMatchObject({ notes: 'private' })
  })

  test('answers, Writes: Location leaves the query string out', async () => {
    const { send } = cities()
    const { headers, record } = await send('POST', '/cities?draft=1', { json: { name: 'Oslo' } })
    expect(headers.get('location')).toBe(`/cities/${record._id}`)
  })

  test('2.1 _id: ids ascend in the order of creation within one app', async () => {
    const { send, stored } = cities()
    for (let index = 0; index < 20; index += 1)
      await send('POST', '/cities', { json: { name: `c${index}` } })
    const names = (await stored.find()).map(({ name }) => name)
    expect(names).toEqual(Array.from({ length: 20 }, (_, index) => `c${index}`))
  })
})

describe('2.1 createdAt and updatedAt', () => {
  test("2.1 createdAt and updatedAt: they follow the app's clock", async () => {
    const { send, clock } = cities()
    const { record } = await send('POST', '/cities', { json: { name: 'Oslo' } })
    clock.at = NOON + 5000
    const { record: patched } = await send('PATCH', `/cities/${record._id}`, { json: { size: 1 } })
    expect(patched.createdAt).toBe(new Date(NOON).toISOString())
    expect(patched.updatedAt).toBe(new Date(NOON + 5000).toISOString())
    clock.at = NOON + 9000
    await send('PATCH', `/cities/${record._id}`, { json: { size: 'many' } })
    expect((await send('GET', `/cities/${record._id}`)).record).toEqual(patched)
  })

  test('2.1 createdAt and updatedAt: no client, hook or caller of app.store sets them', async () => {
    const old = new Date(0)
    const { send, stored } = cities({
      validate: (payload) => ({ ...payload, createdAt: old, updatedAt: old }) as object,
    })
    const { record } = await send('POST', '/cities', {
      json: { name: 'Oslo', createdAt: old, updatedAt: old },
    })
    expect(record.createdAt).toBe(new Date(NOON).toISOString())
    const times = { createdAt: old, updatedAt: old }
    const inserted = await stored.insert({ name: 'Rome', ...times } as never)
    expect(inserted).toMatchObject({ createdAt: new Date(NOON), updatedAt: new Date(NOON) })
    await stored.update(inserted._id, { name: 'Roma', ...times } as never)
    await stored.updateWhere({}, { size: 1, ...times } as never)
    for (const { createdAt, updatedAt } of await stored.find()) {
      expect([createdAt, updatedAt]).toEqual([new Date(NOON), new Date(NOON)])
    }
  })
})

describe('4.1 Write rules, 5: runAfterCreate', () => {
  test('4.1 Write rules, 5: it is awaited before the 201, and gets the record and the request', async () => {
    const calls: [Fields, string][] = []
    const { send } = cities({
      async runAfterCreate(record, request) {
        await new Promise((resolve) => setImmediate(resolve))
        calls.push([{ ...record }, request.requestId])
      },
    })
    const created = await send('POST', '/cities', { json: { name: 'Oslo', notes: 'private' } })
    expect(calls).toEqual([
      [
        {
          _id: created.record._id,
          name: 'Oslo',
          notes: 'private',
          createdAt: new Date(NOON),
          updatedAt: new Date(NOON),
        },
        created.headers.get('x-request-id'),
      ],
    ])
  })

  test('4.1 Write rules, 5: it does not run for PATCH, DELETE, or a POST that fails', async () => {
    let runs = 0
    const { send } = cities({
      runAfterCreate() {
        runs += 1
      },
    })
    await send('POST', '/cities', { json: { name: 5 } })
    expect(runs).toBe(0)
    const { record } = await send('POST', '/cities', { json: { name: 'Oslo' } })
    await send('PATCH', `/cities/${record._id}`, { json: { name: 'Rome' } })
    await send('DELETE', `/cities/${record._id}`)
    expect(runs).toBe(1)
  })

  const failures: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('the mail bounced')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('the mail bounced')
      },
    ],
    [
      'throws an HttpError',
      () => {
        throw new HttpError(402, 'Pay first.')
      },
    ],
    [
      'throws nothing at all',
      () => {
        throw undefined
      },
    ],
  ]

  test.each(failures)(
    '4.1 Write rules, 5: when it %s, that is logged and the client still gets 201',
    async (_, runAfterCreate) => {
      const { send, log } = cities({ runAfterCreate })
      const created = await send('POST', '/cities', { json: { name: 'Oslo' } })
      expect(created.status).toBe(201)
      expect(log.lines).toMatchObject([
        {
          level: 'error',
          message: "Router '/cities': runAfterCreate failed",
          details: { requestId: created.headers.get('x-request-id') },
        },
      ])
    },
  )

  test.each(failures)(
    '2.6 strictAfterCreate: when it %s, the answer is a 500, and the record stays',
    async (_, runAfterCreate) => {
      const { send, log, stored } = cities({ runAfterCreate, strictAfterCreate: true })
      const answer = await send('POST', '/cities', { json: { name: 'Oslo' } })
      expect(answer.status).toBe(500)
      expect(answer.body).toEqual({
        success: false,
        error: 'Internal Server Error',
        requestId: answer.headers.get('x-request-id'),
      })
      expect(log.lines).toHaveLength(1)
      expect(await stored.find()).toMatchObject([{ name: 'Oslo' }])
    },
  )

  test('answers, Writes: with strictAfterCreate the cache is cleared all the same', async () => {
    const kept = new Map<string, string>()
    const cache: CacheStore = {
      get: async (key) => kept.get(key),
      set: async (key, value) => kept.set(key, value),
    }
    const { app, send } = service({ cache })
    app.mount(
      '/cities',
      createRouter({
        model: City,
        allowedFields: ['name'],
        cache: true,
        strictAfterCreate: true,
        runAfterCreate() {
          throw new Error('the mail bounced')
        },
      }),
    )
    expect((await send('GET', '/cities')).records).toEqual([])
    expect((await send('GET', '/cities')).headers.get('x-cache')).toBe('HIT')
    expect((await send('POST', '/cities', { json: { name: 'Oslo' } })).status).toBe(500)
    const after = await send('GET', '/cities')
    expect(after.headers.get('x-cache')).toBe('MISS')
    expect(after.records).toMatchObject([{ name: 'Oslo' }])
  })
})
