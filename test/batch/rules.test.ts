import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { rateLimit } from '../../src/guards/index.ts'
import {
  type ApiRequest,
  type AppOptions,
  type Context,
  createRouter,
  defineModel,
  HttpError,
  type Store,
} from '../../src/index.ts'
import { service as accounts } from '../auth/service.ts'
import { answerOf, request, service } from '../records/service.ts'

const Task = defineModel('BatchTask', {
  fields: { name: z.string(), owner: z.string().optional(), done: z.boolean().optional() },
  unique: ['name'],
})

/** The index of the operation that was refused. */
const operationOf = (body: object) => (body as { operation?: number }).operation

/** An app with tasks and a batch. */
function tasks(options: object = {}, given: Partial<AppOptions> = {}) {
  const made = service(given)
  const router = createRouter({ model: Task, allowedFields: ['name', 'done'], ...options })
  made.app.mount('/tasks', router).mount('/batch', batch())
  const create = (name: unknown) => ({ method: 'POST', path: '/tasks', body: { name } })
  const send = (operations: readonly object[], headers: Record<string, string> = {}) =>
    made.send('POST', '/batch', { json: { operations }, headers })
  return { ...made, batch: send, create }
}

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

describe('guards', () => {
  it('of the app run for the batch and for each operation, those of the router for each', async () => {
    const seen: string[] = []
    const { app, batch, create } = tasks({
      middlewares: [
        ({ method, route, params }: ApiRequest) =>
          void seen.push(`${method} ${route} ${params.id ?? ''}`),
      ],
    })
    app.use(({ method, url }) => void seen.push(`${method} ${new URL(url).pathname}`))
    await batch([create('a'), { method: 'DELETE', path: `/tasks/${'a'.repeat(24)}` }])
    expect(seen).toEqual([
      'POST /batch',
      'POST /tasks',
      'POST /tasks ',
      `DELETE /tasks/${'a'.repeat(24)}`,
      `DELETE /tasks/:id ${'a'.repeat(24)}`,
    ])
  })

  it('that refuse an operation refuse the batch, whether they throw or respond', async () => {
    for (const refuse of [
      () => {
        throw new HttpError(403, 'Not you.')
      },
      () => Response.json({ success: false, error: 'Not you.' }, { status: 403 }),
    ]) {
      const guard = ({ method }: ApiRequest) => (method === 'DELETE' ? refuse() : undefined)
      const { app, batch, create } = tasks({ middlewares: [guard] })
      const { _id } = await app.store.collection(Task).insert({ name: 'kept' })
      const answer = await batch([create('a'), { method: 'DELETE', path: `/tasks/${_id}` }])
      expect([answer.status, answer.body.error, operationOf(answer.body)]).toEqual([
        403,
        'Not you.',
        1,
      ])
      expect(await app.store.collection(Task).count()).toBe(1)
    }
  })

  it('see the headers of the batch, without those of its own body', async () => {
    const seen: (string | null)[][] = []
    const { batch, create } = tasks({
      middlewares: [
        ({ headers, requestId }: ApiRequest) =>
          void seen.push([
            headers.get('authorization'),
            headers.get('idempotency-key'),
            headers.get('content-type'),
            headers.get('content-length'),
            requestId,
          ]),
      ],
    })
    await batch([create('a')], {
      authorization: 'Basic x',
      'idempotency-key': 'k',
      'content-type': 'application/vnd.api+json',
      'x-request-id': 'one',
    })
    expect(seen).toEqual([['Basic x', null, 'application/json', null, 'one']])
  })

  it('read what earlier operations have done through context.store', async () => {
    const counts: number[] = []
    const { batch, create, app } = tasks({
      middlewares: [
        async (_: ApiRequest, { store }: Context) =>
          void counts.push(await store.collection(Task).count({ name: ['a', 'b', 'c'] })),
      ],
    })
    await batch([create('a'), create('b'), { method: 'DELETE', path: '/tasks/$0' }, create('c')])
    expect(counts).toEqual([0, 1, 2, 1])
    expect(await app.store.collection(Task).count()).toBe(2)
  })

  it('may change the response of their operation', async () => {
    const statuses: number[] = []
    const { batch, create } = tasks({
      middlewares: [
        (_: ApiRequest, context: Context) =>
          context.onResponse(({ status }) => void statuses.push(status)),
      ],
    })
    await batch([create('a'), create('b')])
    expect(statuses).toEqual([201, 201])
    await batch([create('c'), create('b')])
    expect(statuses).toEqual([201, 201, 409, 409])
  })

  it('count each operation', async () => {
    const { batch, create } = tasks({ middlewares: [rateLimit({ limit: 3, windowSeconds: 60 })] })
    expect((await batch([create('a'), create('b')])).status).toBe(200)
    const refused = await batch([create('c'), create('d')])
    expect([refused.status, operationOf(refused.body)]).toEqual([429, 1])
  })

  it('of accounts find out who asks', async () => {
    const { app, auth, call, register } = await accounts()
    app
      .mount(
        '/tasks',
        createRouter({
          model: Task,
          allowedFields: ['name'],
          middlewares: [auth.requireAuth],
          scope: (asked: ApiRequest) => ({ owner: asked.auth?.userId ?? '' }),
        }),
      )
      .mount('/batch', batch())
    const operations = [{ method: 'POST', path: '/tasks', body: { name: 'mine' } }]
    const stranger = await call('POST', '/batch', { operations })
    expect([stranger.status, stranger.body.operation]).toEqual([401, 0])
    const { token, user } = await register('a@example.com')
    const answer = await call('POST', '/batch', { operations }, token)
    expect(answer.body.data).toMatchObject([{ status: 201, body: { data: { owner: user._id } } }])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })
})

describe('rules of the router', () => {
  it('keep each operation within its scope', async () => {
    const scope = ({ headers }: ApiRequest) => ({ owner: headers.get('x-user') ?? '' })
    const { app, batch, create } = tasks({ scope })
    const records = app.store.collection(Task)
    const other = await records.insert({ name: 'hers', owner: 'her' })
    const own = await records.insert({ name: 'mine', owner: 'me' })
    const change = (id: unknown) => ({
      method: 'PATCH',
      path: `/tasks/${id}`,
      body: { done: true },
    })
    const refused = await batch([change(own._id), change(other._id)], { 'x-user': 'me' })
    expect([refused.status, refused.body.error, operationOf(refused.body)]).toEqual([
      404,
      'Entry not found.',
      1,
    ])
    const taken = await batch([create('new'), change(own._id)], { 'x-user': 'me' })
    expect(taken.status).toBe(200)
    expect(await records.find({}, { sort: 'name' })).toMatchObject([
      { name: 'hers', owner: 'her' },
      { name: 'mine', owner: 'me', done: true },
      { name: 'new', owner: 'me' },
    ])
  })

  it('run validate hooks in order, and side effects after everything is written', async () => {
    const told: string[] = []
    const { app, batch, create } = tasks({
      validate: (payload: { name?: unknown }) => void told.push(`validate ${payload.name}`),
      runAfterCreate: async ({ name }: { name: string }) => {
        told.push(`${name} of ${await app.store.collection(Task).count()}`)
      },
    })
    await batch([create('a'), create('b')])
    expect(told).toEqual(['validate a', 'validate b', 'a of 2', 'b of 2'])
    told.length = 0
    expect((await batch([create('c'), create('a')])).status).toBe(409)
    expect(told.filter((one) => !one.startsWith('validate'))).toEqual([])
  })

  it('tell of a side effect that failed in its operation alone', async () => {
    const { app, batch, create, log } = tasks({
      strictAfterCreate: true,
      runAfterCreate: ({ name }: { name: string }) => {
        if (name === 'b') throw new Error('no mail')
      },
    })
    const answer = await batch([create('a'), create('b'), create('c')])
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject([
      { status: 201 },
      { status: 500, body: { success: false, error: 'Internal Server Error' } },
      { status: 201 },
    ])
    expect(await app.store.collection(Task).count()).toBe(3)
    expect(log.text).toContain('no mail')
  })

  it('clear the response cache once the batch is written', async () => {
    const { batch, create, send } = tasks({ cache: true }, { cache: memoryCache() })
    const names = async () => {
      const { records, headers } = await send('GET', '/tasks')
      return [headers.get('x-cache'), ...records.map(({ name }) => name)]
    }
    await names()
    expect(await names()).toEqual(['HIT'])
    await batch([create('a'), create('b')])
    expect((await names()).slice(1)).toEqual(['a', 'b'])
  })
})

describe('a batch among others', () => {
  it('is one write of the store', async () => {
    const { store, calls } = counting()
    const { app, batch, create } = tasks({}, { store })
    await app.ready()
    calls.length = 0
    await batch(Array.from({ length: 100 }, (_, at) => create(`t${at}`)))
    expect(calls).toEqual(['write'])
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
            return { failed: steps.length - 1 }
          },
        },
      },
    )
    const answer = await made.batch([made.create('a'), made.create('b')])
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
