import { expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'

/** What Node has in private fields since 24: nothing but the request itself reaches them. */
class Private extends Request {
  readonly #isHere = true
  override get body() {
    return this.#isHere ? super.body : null
  }
  override get signal() {
    return this.#isHere ? super.signal : AbortSignal.abort()
  }
}

/** The request as routes of Next.js get it. */
function proxied(body: object, path = ''): Request {
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } }
  const request = new Private(`http://localhost/things${path}`, {
    ...{ ...init, body: JSON.stringify(body) },
  })
  return new Proxy(request, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

test('a request behind a proxy has its body and its signal, as in Next.js on Node 24', async () => {
  const Thing = defineModel('ProxiedThing', { fields: { name: z.string() } })
  const router = createRouter({ model: Thing, middlewares: [], allowedFields: ['name'] })
  router.post('/told', async (request) => {
    const { aborted } = request.signal
    return Response.json({ aborted, text: await new Response(request.body).text() })
  })
  router.post('/read', async (request) => Response.json(await request.json()))
  const { handle } = createApp({ store: sqliteStore() }).mount('/things', router)
  const created = await handle(proxied({ name: 'a' }))
  expect([created.status, await created.json()]).toMatchObject([201, { data: { name: 'a' } }])
  const told = await handle(proxied({ name: 'b' }, '/told'))
  expect(await told.json()).toEqual({ aborted: false, text: '{"name":"b"}' })
  expect(await (await handle(proxied({ name: 'c' }, '/read'))).json()).toEqual({ name: 'c' })
})

test('a request with methods that are read-only keeps the limits, as in Hono', async () => {
  class ReadOnly extends Request {}
  for (const name of ['json', 'text', 'clone', 'arrayBuffer'] as const) {
    Object.defineProperty(ReadOnly.prototype, name, { value: Request.prototype[name] })
  }
  const app = createApp({ store: sqliteStore(), maxBodySize: 20 })
  app.post('/read', async (request) => Response.json(await request.json()))
  const send = (body: object) =>
    app.handle(
      new ReadOnly('http://localhost/read', { method: 'POST', body: JSON.stringify(body) }),
    )
  expect(await (await send({ name: 'a' })).json()).toEqual({ name: 'a' })
  expect((await send({ name: 'a long name indeed' })).status).toBe(413)
})
