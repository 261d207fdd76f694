/** What docs/batch.md says of batches, as far as no other test here shows it. */

import { describe, expect, it } from 'vitest'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { rateLimit } from '../../src/guards/index.ts'
import { metrics } from '../../src/health/index.ts'
import type { ApiRequest, Context } from '../../src/index.ts'
import { service as accounts } from '../auth/service.ts'
import { operationOf, Task, tasks } from './tasks.ts'

const MANY = "'operations' must be a list of at most 100 operations."

describe('a batch', () => {
  it('has at most 100 operations by default, and as many bytes as any other body', async () => {
    const { batch, create, send } = tasks()
    const create100 = Array.from({ length: 100 }, (_, at) => create(`t${at}`))
    expect((await batch(create100)).status).toBe(200)
    const more = await batch([...create100, create('more')])
    expect([more.status, more.body.error, operationOf(more.body)]).toEqual([400, MANY, undefined])
    const large = await send('POST', '/batch', {
      json: { operations: [create('x'.repeat(1024 * 1024))] },
    })
    expect([large.status, large.body.error]).toEqual([
      413,
      'Request body exceeds the limit of 1048576 bytes.',
    ])
  })

  it('takes a path of 8 KiB and an ETag of 1 KiB', async () => {
    const { batch, create } = tasks()
    const path = `/tasks?${'x'.repeat(8192 - '/tasks?'.length)}`
    expect((await batch([{ ...create('a'), path }])).status).toBe(200)
    const change = { method: 'PATCH', path: '/tasks/$0', body: { done: true } }
    const stale = await batch([create('b'), { ...change, ifMatch: `"${'x'.repeat(1022)}"` }])
    expect([stale.status, operationOf(stale.body)]).toEqual([412, 1])
  })

  it('creates no accounts, and signs nobody in', async () => {
    const { app, users, post } = await accounts()
    app.mount('/batch', batch())
    for (const path of ['/auth/register', '/auth/login']) {
      const body = { email: 'ann@example.com', password: 'correct horse battery' }
      const operations = [{ method: 'POST', path, body }]
      const refused = await post('/batch', { operations })
      expect([refused.status, refused.body.operation]).toEqual([400, 0])
    }
    expect(await users.count()).toBe(0)
  })

  it('is counted by the rate limit of the app once, beside each of its operations', async () => {
    const { app, batch, create } = tasks()
    app.use(rateLimit({ limit: 10, windowSeconds: 60, cache: memoryCache() }))
    const { headers } = await batch([create('a'), create('b')])
    expect(headers.get('ratelimit')).toContain('r=7')
  })

  it('is one request for the metrics', async () => {
    const { app, batch, create, send } = tasks()
    app.mount('/', metrics())
    await batch([create('a'), create('b')])
    const { text } = await send('GET', '/metrics')
    const counts = text.match(/^http_server_request_duration_seconds_count.*$/gm)
    expect(counts).toEqual([expect.stringMatching(/method="POST",route="\/batch".* 1$/)])
  })
})

describe('what is not part of a batch', () => {
  it('is what a guard writes through context.store: it stays, though the batch is refused', async () => {
    const { app, batch, create } = tasks({
      middlewares: [
        async ({ method }: ApiRequest, { store }: Context) => {
          if (method === 'POST') await store.collection(Task).insert({ name: 'by the guard' })
        },
      ],
    })
    expect((await batch([create(7)])).status).toBe(400)
    const stored = await app.store.collection(Task).find()
    expect(stored).toMatchObject([{ name: 'by the guard' }])
  })

  it('is what a hook does with app.store before the write: it reads what was there, and it stays', async () => {
    const read: number[] = []
    const made = tasks({
      validate: async ({ name }: { name?: unknown }) => {
        const records = made.app.store.collection(Task)
        read.push(await records.count({ name: ['a', 'b'] }))
        await records.insert({ name: `note on ${name}` })
      },
    })
    const { app, batch, create } = made
    expect((await batch([create('a'), create('b'), create('a')])).status).toBe(409)
    expect(read).toEqual([0, 0, 0])
    const names = (await app.store.collection(Task).find()).map(({ name }) => name)
    expect(names).not.toContain('a')
    expect(names).toContain('note on a')
  })
})

describe('a batch that runs again', () => {
  it('asks its hooks again, and its guards and scope once', async () => {
    const store = sqliteStore()
    const asked: string[] = []
    let meddle = async () => {}
    const made = tasks(
      {
        middlewares: [() => void asked.push('guard')],
        scope: () => {
          asked.push('scope')
          return { owner: 'me' }
        },
        beforeUpdate: ({ record }: { record: { name: string } }) =>
          void asked.push(`hook on ${record.name}`),
      },
      {
        store: {
          ...store,
          collection: (schema) => store.collection(schema),
          write: async (steps) => {
            if (steps.length > 0) await meddle()
            return store.write?.(steps) ?? Promise.reject(new TypeError('no write'))
          },
        },
      },
    )
    const records = made.app.store.collection(Task)
    const { _id } = await records.insert({ name: 'one', owner: 'me' })
    meddle = async () => {
      meddle = async () => {}
      await records.update(_id, { name: 'other' })
    }
    const change = { method: 'PATCH', path: `/tasks/${_id}`, body: { done: true } }
    expect((await made.batch([change])).status).toBe(200)
    expect(asked.filter((one) => one.startsWith('hook'))).toEqual(['hook on one', 'hook on other'])
    expect(asked.filter((one) => !one.startsWith('hook'))).toEqual(['guard', 'scope'])
  })
})
