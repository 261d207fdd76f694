import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel, type Guard, HttpError } from '../../../src/index.ts'

const Thing = defineModel('OverrideThing', {
  fields: { name: z.string(), filter: z.string().optional() },
})

function things(guard?: Guard, methodOverride = true) {
  const app = createApp({
    store: sqliteStore(),
    cache: memoryCache(),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  if (guard) app.use(guard)
  app.mount(
    '/things',
    createRouter({
      model: Thing,
      middlewares: [],
      query: ['name'],
      allowedFields: ['name', 'filter'],
      methodOverride,
      cache: true,
    }),
  )
  const send = (method: string, body: object, headers: Record<string, string> = {}) =>
    app.handle(
      new Request('http://localhost/things', {
        method,
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json', ...headers },
      }),
    )
  const post = (body: object, headers?: Record<string, string>) =>
    send('POST', body, { 'X-HTTP-Method-Override': 'QUERY', ...headers })
  return { app, send, post }
}

describe('next 5, methodOverride', () => {
  test('can be set for the whole app, and a router that says something else wins', async () => {
    const app = createApp({ store: sqliteStore(), methodOverride: true })
    const options = { model: Thing, middlewares: [], allowedFields: ['name'] as const }
    app.mount('/things', createRouter(options))
    app.mount('/direct', createRouter({ ...options, methodOverride: false }))
    const ask = async (path: string, override = 'QUERY') => {
      const headers = {
        'Content-Type': 'application/json',
        'X-HTTP-Method-Override': override,
      }
      const body = JSON.stringify({ name: 'a' })
      const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body })
      const { status } = await app.handle(request)
      return status
    }
    // As a QUERY, the body has an unknown key.
    expect([await ask('/things'), await ask('/direct'), await ask('/things', 'DELETE')]).toEqual([
      400, 405, 405,
    ])
    expect(await app.store.collection(Thing).count()).toBe(0)
    expect(() => createApp({ store: sqliteStore(), methodOverride: 1 as never })).toThrow(
      "createApp: 'methodOverride' must be true or false",
    )
  })

  test('a POST that says it is a QUERY shares the cache and the tags of QUERY', async () => {
    const { send, post } = things()
    const body = { filter: { name: 'a' } }
    const query = await send('QUERY', body)
    const posted = await post(body)
    expect([query.headers.get('x-cache'), posted.headers.get('x-cache')]).toEqual(['MISS', 'HIT'])
    expect(await posted.text()).toBe(await query.text())
    const etag = String(query.headers.get('etag'))
    expect((await post(body, { 'If-None-Match': etag })).status).toBe(304)
  })

  test('guards see a QUERY, so one that only lets reads pass lets it pass', async () => {
    const methods: string[] = []
    const { post, send } = things(({ method }) => {
      methods.push(method)
      if (!['GET', 'HEAD', 'OPTIONS', 'QUERY'].includes(method)) {
        throw new HttpError(405, 'Method not allowed.')
      }
    })
    expect((await post({})).status).toBe(200)
    expect((await send('POST', { name: 'a' })).status).toBe(405)
    expect(methods).toEqual(['QUERY', 'POST'])
  })

  test('without the option it is a 405 after the guards, and never a create', async () => {
    const { app, post } = things(undefined, false)
    const refused = await post({ name: 'a', filter: 'b' })
    expect(refused.status).toBe(405)
    expect(refused.headers.get('allow')).toBe('GET, HEAD, POST, QUERY')
    expect(await app.store.collection(Thing).count()).toBe(0)
  })
})
