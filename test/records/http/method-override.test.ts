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
