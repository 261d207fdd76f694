import { describe, expect, it } from 'vitest'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { batch } from '../../src/batch/index.ts'
import { rateLimit } from '../../src/guards/index.ts'
import { type ApiRequest, type Context, createRouter, HttpError } from '../../src/index.ts'
import { service as accounts } from '../auth/service.ts'
import { operationOf, Task, tasks } from './tasks.ts'

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

  it('run the hooks that judge stored records on what the batch has made of them', async () => {
    const told: string[] = []
    const { app, batch, create } = tasks({
      beforeUpdate: ({
        record,
        changes,
      }: {
        record: { name: string; done?: boolean }
        changes: object
      }) => {
        told.push(`before ${record.name} ${record.done}`)
        if (record.done) throw new HttpError(409, 'Done already.')
        return changes
      },
      afterUpdate: async ({ before, record }: Record<'before' | 'record', { done?: boolean }>) => {
        const stored = await app.store.collection(Task).count({ done: true })
        told.push(`after ${before.done} ${record.done} ${stored}`)
      },
      beforeRemove: ({ record }: { record: { done?: boolean } }) => {
        if (!record.done) throw new HttpError(409, 'Not done.')
      },
      afterRemove: ({ record }: { record: { name: string } }) =>
        void told.push(`gone ${record.name}`),
    })
    const finish = { method: 'PATCH', path: '/tasks/$0', body: { done: true } }
    const remove = { method: 'DELETE', path: '/tasks/$0' }
    const refused = await batch([create('a'), remove, finish])
    expect([refused.status, refused.body.error, operationOf(refused.body)]).toEqual([
      409,
      'Not done.',
      1,
    ])
    const twice = await batch([create('a'), finish, finish])
    expect([twice.body.error, operationOf(twice.body)]).toEqual(['Done already.', 2])
    expect(told).toEqual(['before a undefined', 'before a true'])
    told.length = 0
    expect((await batch([create('b'), create('a'), finish, remove])).status).toBe(200)
    expect(told).toEqual(['before b undefined', 'after undefined true 0', 'gone b'])
    expect(await app.store.collection(Task).count()).toBe(1)
  })

  it('close routes to batches too', async () => {
    const refuse = () => {
      throw new HttpError(403, 'Not you.')
    }
    const { batch, create } = tasks({ access: { remove: false, update: refuse } })
    const closed = async (method: string) => {
      const { status, body } = await batch([create('a'), { method, path: '/tasks/$0', body: {} }])
      return [status, body.error, operationOf(body)]
    }
    expect(await closed('DELETE')).toEqual([405, 'Method not allowed.', 1])
    expect(await closed('PATCH')).toEqual([403, 'Not you.', 1])
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

  it('set each header of the response once, with the last value, however many operations there are', async () => {
    let seen = 0
    const { app, batch, create } = tasks({
      middlewares: [
        rateLimit({ limit: 500, windowSeconds: 60, name: 'router', cache: memoryCache() }),
        (_: ApiRequest, { headers }: Context) => {
          headers.append('Vary', 'X-Team')
          seen += 1
          headers.append('X-Seen', String(seen))
          headers.append('Set-Cookie', 'seen=1; Path=/')
          headers.append('Set-Cookie', 'team=2; Path=/')
        },
      ],
    })
    for (const name of ['second', 'minute', 'hour', 'day']) {
      app.use(rateLimit({ limit: 1000, windowSeconds: 60, name, cache: memoryCache() }))
    }
    app.use((_, { headers }) => headers.append('Vary', 'Accept'))
    const { headers, status } = await batch(Array.from({ length: 100 }, (_, at) => create(`${at}`)))
    expect(status).toBe(200)
    const remaining = headers
      .get('ratelimit')
      ?.replaceAll(/;t=\d+/g, '')
      .split(', ')
    expect(remaining?.toSorted()).toEqual([
      '"day";r=899',
      '"hour";r=899',
      '"minute";r=899',
      '"router";r=400',
      '"second";r=899',
    ])
    expect(headers.get('ratelimit-policy')?.split(', ').length).toBe(5)
    expect(headers.get('x-seen')).toBe('100')
    expect(headers.getSetCookie()).toEqual(['seen=1; Path=/', 'team=2; Path=/'])
    expect([...headers].join().length).toBeLessThan(1500)
  })

  it('tell a client that is refused when to come back', async () => {
    const { batch, create } = tasks({
      middlewares: [rateLimit({ limit: 2, windowSeconds: 60, cache: memoryCache() })],
    })
    const { headers, status } = await batch([create('a'), create('b'), create('c')])
    expect([status, headers.get('ratelimit')?.replace(/;t=\d+/, '')]).toEqual([
      429,
      '"default";r=0',
    ])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  })
})
