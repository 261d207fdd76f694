import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { makerOf } from '../../adapters/runtimes/makers.ts'
import { appObject, type ObjectState, worker } from '../../adapters/runtimes/workers.ts'
import { durableStore } from '../../adapters/stores/sqlite/calls/durable-sqlite.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type App, createApp } from '../../src/index.ts'
import { bundled } from '../http/workerd.ts'

const logged: string[] = []

const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    modules: true,
    script: await bundled(new URL('worker-fixture.ts', import.meta.url)),
    compatibilityDate: '2026-11-01',
    durableObjects: { API: 'Api' },
    handleStructuredLogs: ({ message }) => void logged.push(message),
  }),
)
afterAll(() => miniflare.dispose())

async function ask(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await miniflare.dispatchFetch(`http://localhost${path}`)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('worker', () => {
  it('answers with the envelope when the app cannot be made, and tries again', async () => {
    const failed = await miniflare.dispatchFetch('http://localhost/')
    const requestId = failed.headers.get('x-request-id')
    expect(requestId).toMatch(/^[\da-f-]{36}$/)
    expect(failed.status).toBe(500)
    expect(await failed.json()).toEqual({
      success: false,
      error: 'Internal Server Error',
      requestId,
    })
    expect((await ask('/')).status).toBe(200)
  })

  it('makes one app for all requests, and hands it the bindings and what keeps the isolate alive', async () => {
    const [first, second] = [await ask('/'), await ask('/')]
    expect(first.body.name).toBe(second.body.name)
    expect(first.body.bindings).toEqual(['API'])
  })
})

it.each([
  ['nothing', () => undefined],
  ['a promise', async () => createApp({ store: sqliteStore() })],
])(
  'a function that returns %s is told what it should return, and its clients get the envelope',
  async (_, make) => {
    const failed = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => failed.mockRestore())
    const context = { waitUntil() {} }
    const { fetch, scheduled } = worker(make as never)
    const response = await fetch(new Request('http://localhost/'), {}, context)
    expect([response.status, await response.json()]).toMatchObject([500, { success: false }])
    const why = /its function must return an app, and no promise/
    expect(String(failed.mock.calls[0]?.[1])).toMatch(why)
    expect(() => scheduled(undefined, {}, context)).toThrow(why)
  },
)

it('a request goes on when its client goes away', async () => {
  const app = { handle: async () => Response.json('done') } as unknown as App
  const going: Promise<unknown>[] = []
  const context = { waitUntil: (promise: Promise<unknown>) => void going.push(promise) }
  const request = new Request('http://localhost/')
  const response = await worker(() => app).fetch(request, {}, context)
  const object = new (appObject(() => app))({ ...context, storage: {} as never }, {})
  const second = await object.fetch(request)
  expect(await Promise.all(going)).toEqual([response, second])
})

describe('appObject', () => {
  it('spreads requests in turn over its objects, each with one app of its own', async () => {
    const names: unknown[] = []
    for (let turn = 0; turn < 9; turn += 1) names.push((await ask('/object')).body.name)
    expect(new Set(names).size).toBe(3)
    expect(names.slice(3)).toEqual(names.slice(0, 6))
  })

  it.each([
    ['an object that fails', '/broken', 503, 'Service Unavailable', 'not to be shown'],
    ['a store that needs files', '/sqlite', 500, 'Internal Server Error', 'take d1Store'],
    ['a disk for files', '/disk', 500, 'Internal Server Error', 'Take r2Files or s3Files'],
    ['a binding that is absent', '/unbound', 500, 'Internal Server Error', "bound as 'ABSENT'"],
  ])(
    'answers with the envelope in place of %s, and logs why',
    async (_, path, status, error, why) => {
      const failed = await miniflare.dispatchFetch(`http://localhost${path}`)
      const requestId = failed.headers.get('x-request-id') ?? ''
      expect(requestId).toMatch(/^[\da-f-]{36}$/)
      expect(failed.status).toBe(status)
      expect(await failed.json()).toEqual({ success: false, error, requestId })
      const lines = () => logged.filter((line) => line.includes(requestId))
      await expect.poll(lines).toEqual([expect.stringContaining(why)])
      expect((await ask('/object')).status).toBe(200)
    },
  )

  it('serves a Worker that chooses the object itself, whatever headers its clients send', async () => {
    const init = { headers: { 'fieldgate-due': '1', cf: '{"fieldgateDue":true}' } }
    const own = await miniflare.dispatchFetch('http://localhost/own', init)
    expect(await own.json()).toMatchObject({ bindings: ['API'] })
  })

  it('says at a scheduled, too, which binding is absent', async () => {
    const { scheduled } = appObject<{ API?: unknown }>(() => {
      throw new Error('not made')
    }).worker({ binding: 'API' })
    const context = { waitUntil() {} }
    await expect(scheduled(undefined, {}, context)).rejects.toThrow("are bound as 'API'")
  })

  it('refuses a number of objects that makes no sense', () => {
    const Api = appObject<{ API: unknown }>(() => {
      throw new Error('not made')
    })
    for (const instances of [0, -1, 1.5, Number.NaN]) {
      expect(() => Api.worker({ binding: 'API', instances })).toThrow(/'instances'/)
    }
  })

  it('spreads no app over its own storage, also where the state has a default', async () => {
    const failed = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => failed.mockRestore())
    const app = { handle: async () => new Response('made') } as unknown as App
    const Api = appObject((_, state = {} as ObjectState) => {
      durableStore(state.storage)
      return app
    })
    const storage = { sql: { exec() {} } }
    const waitUntil = vi.fn()
    const askedAt = async (name: string) => {
      const object = new Api({ id: { name }, waitUntil, storage: storage as never }, {})
      return (await object.fetch(new Request('http://localhost/'))).status
    }
    expect([await askedAt('app-0'), await askedAt('acme')]).toEqual([200, 200])
    expect([await askedAt('app-1'), await askedAt('app-12')]).toEqual([500, 500])
    expect(String(failed.mock.calls[0]?.[1])).toMatch(/has one instance\. Name the state/)
  })

  it('gives an app over its own storage one object, which commands cannot open', () => {
    const Api = appObject<{ API: unknown }>((_, { storage }) =>
      createApp({ store: durableStore(storage) }),
    )
    expect(() => Api.worker({ binding: 'API', instances: 2 })).toThrow(/has one instance/)
    const handler = Api.worker({ binding: 'API' })
    expect(() => makerOf(handler)?.({} as never)).toThrow(/in a Durable Object/)
  })
})

describe('start-up on a Worker', () => {
  const slow = async (LATE: number, LIMIT: number) => {
    const script = await bundled(new URL('slow-start-worker.ts', import.meta.url))
    const bound = { d1Databases: ['DB'], bindings: { LATE, LIMIT } }
    const options = { modules: true, script, compatibilityDate: '2026-11-01', ...bound }
    const own = new Miniflare(convertV4MiniflareOptions(options))
    onTestFinished(() => own.dispose())
    return async (path: string) => (await own.dispatchFetch(`http://localhost${path}`)).status
  }

  it.each(['/books', '/readyz'])(
    'goes on when the request to %s that began it is over',
    async (path) => {
      const ask = await slow(1200, 500)
      expect(await ask(path)).toBe(503)
      await expect.poll(() => ask(path)).toBe(200)
    },
  )

  it('begins anew if it has died with its request', async () => {
    // A start takes long on a busy machine.
    const ask = await slow(0, 4000)
    expect(await ask('/books')).toBe(503)
    const next = ['/books', '/readyz', '/books'].map((path) => ask(path))
    expect(await Promise.all(next)).toEqual([200, 200, 200])
  })
})
