/** What docs/operations.md says of outages, deadlines and probes, as far as no other test here shows it. */

import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { health } from '../../src/health/index.ts'
import { outageLog } from '../../src/http/errors/outages.ts'
import {
  type AppOptions,
  createApp,
  createRouter,
  defineModel,
  HttpError,
} from '../../src/index.ts'
import { service } from '../records/service.ts'
import { watched } from '../records/watched.ts'
import { observedApp } from './observed.ts'

const UNAVAILABLE = 'The service is unavailable. Try again shortly.'

async function outageOf(response: Response) {
  const { error } = (await response.json()) as { error: string }
  return [response.status, response.headers.get('retry-after'), error]
}

/** Runs `work` with timers that go on only when they are moved. */
async function withTimers(work: (move: (ms: number) => Promise<unknown>) => Promise<void>) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    await work((ms) => vi.advanceTimersByTimeAsync(ms))
  } finally {
    vi.useRealTimers()
  }
}

describe('while the store is out', () => {
  it('every request is the same 503, and the log has one line without a stack that says why', async () => {
    const { ask, lines } = observedApp()
    for (let requests = 0; requests < 20; requests += 1) {
      expect(await outageOf(await ask('/notes/out'))).toEqual([503, '5', UNAVAILABLE])
    }
    const [[level, message, details] = [], ...more] = lines.filter(([each]) => each === 'error')
    expect([level, message]).toEqual(['error', 'service unavailable'])
    expect(details).toMatchObject({ status: 503, path: '/notes/out', error: 'no database' })
    expect(more.length).toBeLessThan(5)
  })

  it('there is a line each second for each cause, which says how many were left out', () => {
    let now = 0
    const due = outageLog(() => now)
    const [down, slow] = [new Error('no database'), new Error('too slow')]
    expect([due(down), due(down), due(down), due(slow)]).toEqual([0, undefined, undefined, 0])
    now = 999
    expect(due(down)).toBeUndefined()
    now = 1000
    expect([due(down), due(down), due(slow)]).toEqual([3, undefined, 0])
  })
})

describe('an app that is closing', () => {
  it('answers what comes after close() with a 503', async () => {
    const { app, ask } = observedApp()
    await app.ready()
    await app.close()
    expect(await outageOf(await ask('/notes'))).toEqual([503, '5', UNAVAILABLE])
  })
})

describe('the deadline of a request', () => {
  const Note = defineModel('DeadlineNote', { fields: { text: z.string() } })
  const never = () => new Promise<never>(() => {})

  it.each([
    ['runAfterCreate', 'POST', ['new', 'old']],
    ['afterUpdate', 'PATCH', ['new']],
    ['afterRemove', 'DELETE', []],
  ] as const)('leaves what was written when %s is too slow', async (hook, method, left) => {
    const { app, send } = service({ requestTimeoutMs: 5000 })
    const options = { model: Note, middlewares: [], allowedFields: ['text'] as const }
    app.mount('/notes', createRouter({ ...options, [hook]: never }))
    const stored = app.store.collection(Note)
    const { _id } = await stored.insert({ text: 'old' })
    await withTimers(async (move) => {
      const path = method === 'POST' ? '/notes' : `/notes/${_id}`
      const json = method === 'DELETE' ? undefined : { text: 'new' }
      const answer = send(method, path, { json })
      await vi.waitFor(async () => {
        await move(5000)
        expect((await answer).status).toBe(503)
      }, 20_000)
    })
    const texts = (await stored.find()).map(({ text }) => text)
    expect(texts.sort()).toEqual(left)
  })

  it('does not end a response that has begun', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { app } = service({ requestTimeoutMs: 5000 })
    const router = createRouter({ model: Note, middlewares: [], allowedFields: ['text'] })
    const slowly = async (controller: ReadableStreamDefaultController) => {
      await promise
      controller.enqueue(new TextEncoder().encode('the end'))
      controller.close()
    }
    router.get('/download', () => new Response(new ReadableStream({ pull: slowly })))
    app.mount('/notes', router)
    await app.ready()
    await withTimers(async (move) => {
      const response = await app.handle(new Request('http://localhost/notes/download'))
      const text = response.text()
      await move(60_000)
      resolve()
      expect([response.status, await text]).toEqual([200, 'the end'])
    })
  })

  it('comes for the signals when the runtime says that the client has gone away', async () => {
    const client = new AbortController()
    const { app } = service()
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const router = createRouter({ model: Note, middlewares: [], allowedFields: ['text'] })
    router.get('/wait', async (asked, { signal, store }) => {
      client.abort()
      const stays = await store.collection(Note).count()
      resolve([asked.signal.aborted, signal.aborted, stays])
      return new Response()
    })
    app.mount('/notes', router)
    const { signal } = client
    await app.handle(new Request('http://localhost/notes/wait', { signal }))
    expect(await promise).toEqual([true, true, 0])
  })

  it('closes context.store, and leaves app.store open', async () => {
    const { app, send } = service({ requestTimeoutMs: 5000 })
    const { promise, resolve } = Promise.withResolvers<void>()
    const late = Promise.withResolvers<unknown[]>()
    const router = createRouter({ model: Note, middlewares: [], allowedFields: ['text'] })
    router.post('/slow', async (_, { store }) => {
      await promise
      const of = (from: typeof store) =>
        from
          .collection(Note)
          .insert({ text: 'late' })
          .then(
            () => 'written',
            ({ status }: { status: number }) => status,
          )
      late.resolve([await of(store), await of(app.store)])
      return new Response()
    })
    app.mount('/notes', router)
    await app.ready()
    await withTimers(async (move) => {
      const answer = send('POST', '/notes/slow')
      await move(5000)
      expect((await answer).status).toBe(503)
      resolve()
      expect(await late.promise).toEqual([503, 'written'])
    })
  })

  it('is none for work in context.waitUntil', async () => {
    const { app, send } = service({ requestTimeoutMs: 5000 })
    const { promise, resolve } = Promise.withResolvers<void>()
    const late = promise.then(() => app.store.collection(Note).insert({ text: 'late' }))
    const router = createRouter({ model: Note, middlewares: [], allowedFields: ['text'] })
    router.post('/work', (_, context) => {
      context.waitUntil(late)
      return Response.json({})
    })
    app.mount('/notes', router)
    await app.ready()
    await withTimers(async (move) => {
      expect((await send('POST', '/notes/work')).status).toBe(200)
      await move(60_000)
      resolve()
      await late
    })
    expect(await app.store.collection(Note).count()).toBe(1)
  })
})

describe('a probe', () => {
  const app = (options: Partial<AppOptions>) =>
    createApp({
      store: sqliteStore(),
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      ...options,
    })

  it('gives each check 800 ms by default', async () => {
    const cache = { get: () => new Promise<never>(() => {}), set: async () => {} }
    const probed = app({ cache }).mount('/', health())
    await probed.ready()
    await withTimers(async (move) => {
      let status: number | undefined
      const answer = probed.handle(new Request('http://localhost/readyz')).then((response) => {
        status = response.status
      })
      await move(790)
      expect(status).toBeUndefined()
      await move(20)
      await answer
      expect(status).toBe(503)
    })
    await probed.close()
  })

  it('makes one small read of the store, and writes nothing', async () => {
    const store = watched(sqliteStore())
    const { app: probed, send } = service({ store })
    const Note = defineModel('ProbedNote', { fields: { text: z.string() } })
    probed.mount('/notes', createRouter({ model: Note, middlewares: [], allowedFields: [] }))
    probed.mount('/', health())
    await probed.ready()
    store.taken()
    expect((await send('GET', '/readyz')).status).toBe(200)
    expect(store.taken()).toHaveLength(1)
    expect((await send('GET', '/healthz')).status).toBe(200)
    expect(store.taken()).toEqual([])
  })
})

describe('the log', () => {
  it('of requests has the probes too', async () => {
    const { app, ask, said } = observedApp({ accessLog: true })
    app.mount('/', health())
    await ask('/healthz')
    await ask('/readyz')
    expect(said('request').map(([level, , { path }]) => [level, path])).toEqual([
      ['info', '/healthz'],
      ['info', '/readyz'],
    ])
  })

  it('has a refusal that a guard throws, and none that it returns', async () => {
    const { app, ask, said } = observedApp()
    app.use(({ method }) => {
      if (method === 'DELETE') throw new HttpError(403, 'Not you.')
      return method === 'PATCH' ? new Response(null, { status: 403 }) : undefined
    })
    for (const method of ['PATCH', 'DELETE']) {
      expect((await ask('/notes/1', { method })).status).toBe(403)
    }
    expect(said('request refused').map(([, , { method }]) => method)).toEqual(['DELETE'])
  })
})
