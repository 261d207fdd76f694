import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createClient, type Result } from '../../../src/client/index.ts'
import {
  type ApiRequest,
  type App,
  createApp,
  createRouter,
  defineModel,
  HttpError,
} from '../../../src/index.ts'
import { document } from '../../../src/openapi/index.ts'
import { answerOf, type Message, recordedLog, request, service } from '../service.ts'

const Slot = defineModel('DescribedSlot', { fields: { tool: z.string(), day: z.date() } })

const booking = {
  params: z.object({ id: z.int() }),
  query: z.object({ dry: z.boolean().default(false), tag: z.array(z.string()).optional() }),
  body: z.object({ from: z.date(), days: z.int().min(1).default(1) }),
  response: z.object({ id: z.int(), from: z.date(), days: z.int(), dry: z.boolean() }),
}

/** An app with a route of each kind, and a client of it. */
function lending() {
  const log = recordedLog()
  const slots = createRouter({ model: Slot, middlewares: [] })
    .post(
      '/:id/book',
      async (request) => {
        const { from, days } = await request.json()
        expect(request.body).toEqual({ from, days })
        return { id: request.params.id, from, days, dry: request.query.dry, secret: 'x' }
      },
      booking,
    )
    .get('/count', async (_, { store }) => ({ count: await store.collection(Slot).count({}) }))
    .get('/whole', () => Response.json({ success: true, data: [1] }), {
      response: z.object({ success: z.literal(true), data: z.array(z.number()) }),
    })
    .get('/own', () => Response.json({ status: 'up' }))
    .get('/files/:path+', ({ params }) => params.path)
    .delete('/tags/:name?', ({ params }) => params)
  const app = createApp({ store: sqliteStore(), logger: log })
    .mount('/slots', slots)
    .mount(
      '/shops/:shop',
      createRouter({ model: Slot, middlewares: [] }).get('/now', ({ params }) => params),
    )
    .get('/hello', () => 'hello')
    .post('/sum', async (request) => (await request.json()).reduce((a, b) => a + b, 0), {
      body: z.array(z.number()),
      response: z.number(),
    })
  onTestFinished(() => app.close())
  const sent: Request[] = []
  const api = createClient<typeof app>('http://localhost', {
    fetch: (input, init) => {
      const one = new Request(input as string, init)
      sent.push(one.clone())
      return app.handle(one)
    },
  })
  const send = async (method: string, path: string, message: Message = {}) =>
    answerOf(await app.handle(request(method, path, message)))
  return { app, api, log, sent, send }
}

async function data<T, P>(call: Promise<Result<T, P>>): Promise<T> {
  const result = await call
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.data
}

describe('a described route', () => {
  const body = { from: '2026-11-26T00:00:00.000Z' }

  it('finds its parameters and its body parsed, and sends what its description says', async () => {
    const { send } = lending()
    const { status, body: got } = await send('POST', '/slots/7/book?dry=true', { json: body })
    expect([status, got]).toEqual([
      200,
      { success: true, data: { id: 7, from: body.from, days: 1, dry: true } },
    ])
  })

  it.each([
    ['params', '/slots/seven/book', body, ['id']],
    ['query', '/slots/7/book?dry=perhaps', body, ['dry']],
    ['body', '/slots/7/book', { from: 'tomorrow', days: 0 }, ['from', 'days']],
    ['body', '/slots/7/book', {}, ['from']],
    ['body', '/slots/7/book', [], ['body']],
  ])('refuses other %s with a 400 that names the fields: %s', async (_, path, json, fields) => {
    const { send } = lending()
    const { status, body: got } = await send('POST', path, { json })
    expect([status, got.error]).toEqual([400, 'Check the submitted values.'])
    expect(Object.keys(got.fields ?? {})).toEqual(fields)
  })

  it('refuses a body that is not JSON with a 415, broken JSON with a 400, and a body that is too large with a 413', async () => {
    const { send } = lending()
    const sent = (type: string, text: string) =>
      send('POST', '/slots/7/book', { body: text, headers: { 'content-type': type } })
    expect((await sent('text/plain', 'from')).status).toBe(415)
    expect((await sent('application/x-www-form-urlencoded', 'from=1')).status).toBe(415)
    expect((await sent('application/json', '{')).status).toBe(400)
    expect((await sent('application/json', `"${'x'.repeat(1 << 21)}"`)).status).toBe(413)
    expect((await send('POST', '/slots/7/book')).body.fields).toHaveProperty('from')
  })

  it('with an optional body goes on without one, and takes null only where its schema does', async () => {
    const { app, send } = service()
    const made = ({ body }: { readonly body: unknown }) => ({ body: body ?? String(body) })
    app
      .post('/maybe', made, { body: z.object({ n: z.number() }).optional() })
      .post('/standard', made, { body: z.object({ n: z.number() }).default({ n: 7 }) })
      .post('/null', made, { body: z.null() })
    expect((await send('POST', '/maybe')).body.data).toEqual({ body: 'undefined' })
    expect((await send('POST', '/maybe', { json: { n: 1 } })).body.data).toEqual({ body: { n: 1 } })
    expect((await send('POST', '/maybe', { json: {} })).status).toBe(400)
    expect((await send('POST', '/maybe', { json: null })).status).toBe(400)
    expect((await send('POST', '/standard')).body.data).toEqual({ body: { n: 7 } })
    expect((await send('POST', '/null', { json: null })).body.data).toEqual({ body: 'null' })
    const { paths } = document(app, { title: 'Bodies', version: '1' })
    const isRequired = (path: string) =>
      JSON.stringify(paths[path]?.post).includes('"required":true')
    expect(['/maybe', '/standard', '/null'].map(isRequired)).toEqual([false, false, true])
  })

  it('whose value does not fit is a 500, and the log says why', async () => {
    const { app, send, log } = service()
    app.get('/odd', () => ({ total: 'many' }) as never, {
      response: z.object({ total: z.number() }),
    })
    expect((await send('GET', '/odd')).status).toBe(500)
    expect(log.text).toContain('the response does not fit its description')
    expect(log.text).toContain('total')
  })

  it('runs its guards before anything of the request is checked', async () => {
    const { app, send } = service()
    const refuse = () => {
      throw new HttpError(401, 'Sign in.')
    }
    app.post('/closed', refuse, (request) => request.body.name, {
      body: z.object({ name: z.string() }),
    })
    expect((await send('POST', '/closed', { json: {} })).status).toBe(401)
  })
})

describe('a handler that returns a value', () => {
  it.each([[null], [0], [''], [false], [[]], [{ a: [1] }]])(
    'sends %j in the envelope',
    async (value) => {
      const { app, send } = service()
      app.get('/value', () => value)
      expect((await send('GET', '/value')).body).toEqual({ success: true, data: value })
    },
  )

  it('leaves functions, and what JSON cannot carry, a 500', async () => {
    const { app, send, log } = service()
    app.get('/function', () => () => 1)
    app.get('/bigint', () => 1n)
    expect((await send('GET', '/function')).status).toBe(500)
    expect((await send('GET', '/bigint')).status).toBe(500)
    expect(log.text).toContain('returned a value of type function')
  })
})

describe('routes of the app', () => {
  it('are there by every method, with HEAD, OPTIONS and 405', async () => {
    const { app, send } = service()
    for (const method of ['get', 'post', 'put', 'patch', 'delete', 'query'] as const) {
      const { [method]: add } = app as unknown as Readonly<Record<string, App['get']>>
      expect(add?.('/thing/:id', ({ params }) => params.id)).toBe(app)
    }
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']) {
      expect((await send(method, '/thing/a%20b')).body.data).toBe('a b')
    }
    expect((await send('HEAD', '/thing/a')).status).toBe(200)
    expect((await send('OPTIONS', '/thing/a')).headers.get('allow')).toContain('PATCH')
    app.get('/only', () => 1)
    expect((await send('POST', '/only')).status).toBe(405)
  })

  it('run after the guards of app.use, in the order in which they were added', async () => {
    const { app, send } = service()
    app.use((request) => {
      if (request.query.no) throw new HttpError(403, 'No.')
    })
    app.get('/a', () => undefined).get('/a', () => 'second')
    expect((await send('GET', '/a?no=1')).status).toBe(403)
    expect((await send('GET', '/a')).body.data).toBe('second')
  })
})

describe('a description that makes no sense is a start-up error', () => {
  const { app } = { app: createApp({ store: sqliteStore() }) }
  const add = app.post as unknown as (...given: unknown[]) => unknown
  const handler = () => 1
  it.each<[string, unknown, string]>([
    [
      '/x',
      { boddy: z.object({}) },
      `the extra route 'POST /x': unknown option 'boddy'. Did you mean 'body'?`,
    ],
    ['/x', { body: { name: 'string' } }, `the extra route 'POST /x': 'body' must be a zod schema`],
    ['/x', { query: z.string() }, `the extra route 'POST /x': 'query' must be a zod object`],
    [
      '/:id/x',
      { params: z.object({ idd: z.string() }) },
      `the extra route '/:id/x' has no parameter 'idd', which 'params' describes. Did you mean 'id'?`,
    ],
  ])('%s %o', (path, description, message) => {
    expect(() => add(path, handler, description)).toThrow(message)
  })

  it('a body of a GET', () => {
    expect(() => app.get('/x', handler, { body: z.object({}) })).toThrow(
      `the extra route 'GET /x': a GET request has no 'body'. Describe its 'query'`,
    )
  })
})

describe('the typed client', () => {
  it('calls a described route, and its data has the described type', async () => {
    const { api, sent } = lending()
    const from = new Date('2026-11-26')
    const booked = await api('/slots').call('POST /:id/book', {
      params: { id: 7 },
      query: { dry: true, tag: ['a', 'b'] },
      body: { from },
      idempotencyKey: 'k',
    })
    expect(booked).toMatchObject({ ok: true, data: { id: 7, from: from.toISOString(), dry: true } })
    expectTypeOf(booked).toEqualTypeOf<
      Result<{ id: number; from: string; days: number; dry: boolean }>
    >()
    expect(sent[0]?.url).toBe('http://localhost/slots/7/book?dry=true&tag=a&tag=b')
    expect(sent[0]?.headers.get('idempotency-key')).toBe('k')
  })

  it('gives what is not described as unknown, and other JSON as it is', async () => {
    const { api } = lending()
    const count = await data(api('/slots').call('GET /count'))
    expectTypeOf(count).toBeUnknown()
    expect(count).toEqual({ count: 0 })
    expect(await data(api('/slots').call('GET /own'))).toEqual({ status: 'up' })
    const whole = await data(api('/slots').call('GET /whole'))
    expectTypeOf(whole).toEqualTypeOf<number[]>()
    expect(whole).toEqual([1])
  })

  it('fills in parameters of the path and of the mount', async () => {
    const { api } = lending()
    expect(await data(api('/slots').call('GET /files/:path+', { params: { path: 'a b/c' } }))).toBe(
      'a b/c',
    )
    expect(await data(api('/slots').call('DELETE /tags/:name?'))).toEqual({ name: '' })
    expect(await data(api('/shops/:shop', { shop: 'x/y' }).call('GET /now'))).toEqual({
      shop: 'x/y',
    })
    const lost = await api('/slots').call('GET /files/:path+', { params: { path: '..' } })
    expect(lost).toMatchObject({ ok: false, error: { status: 0, message: "'..' can't be an id." } })
    const none = await api('/slots').call('GET /files/:path+', { params: {} as never })
    expect(none).toMatchObject({ ok: false, error: { status: 0, message: "'' can't be an id." } })
  })

  it('calls routes of the app at the mount /', async () => {
    const { api } = lending()
    expect(await data(api('/').call('GET /hello'))).toBe('hello')
    const sum = await data(api('/').call('POST /sum', { body: [1, 2] }))
    expectTypeOf(sum).toEqualTypeOf<number>()
    expect(sum).toBe(3)
  })

  it('gives a refusal with its fields', async () => {
    const { api } = lending()
    const call = api('/slots').call('POST /:id/book', { params: { id: 7 }, body: { from: 'x' } })
    expect(await call).toMatchObject({
      ok: false,
      error: { status: 400, fields: { from: expect.any(String) } },
    })
  })

  it('refuses other names and other values when it is compiled', () => {
    const { api } = lending()
    const never = () => {
      // @ts-expect-error no such route
      api('/slots').call('POST /:id/bok', { params: { id: 7 } })
      // @ts-expect-error the options are needed
      api('/slots').call('POST /:id/book')
      // @ts-expect-error the body is needed
      api('/slots').call('POST /:id/book', { params: { id: 7 } })
      // @ts-expect-error the parameter is a number
      api('/slots').call('POST /:id/book', { params: { id: 'x' }, body: { from: 'x' } })
      // @ts-expect-error the parameter is needed
      api('/slots').call('GET /files/:path+')
      const given = { params: { id: 7 }, body: { from: 'x' } }
      // @ts-expect-error no such parameter
      api('/slots').call('POST /:id/book', { ...given, query: { dri: true } })
    }
    expect(never).toBeTypeOf('function')
  })
})

it('a handler is compiled against its description', () => {
  const router = createRouter({ model: Slot })
  const params = z.object({ id: z.int() })
  const response = z.object({ name: z.string() })
  // @ts-expect-error the name is a string
  router.get('/:id', () => ({ name: 1 }), { response })
  // @ts-expect-error a description has no such member
  expect(() => router.get('/:id/a', () => 1, { parms: params, summary: 'x' })).toThrow()
  router.get('/:id/b', async ({ params: { id } }) => ({ name: id.toFixed() }), { params, response })
  router.get(
    '/:id/c',
    (request) => void expectTypeOf(request).toEqualTypeOf<ApiRequest>(),
    ({ params: { id } }) => Response.json({ name: id.toFixed() }),
    { params, response },
  )
  router.get('/:id/d', (request) => request.params.id)
})
