import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  createRouter,
  defineModel,
  type Guard,
  HttpError,
  type Router,
  type RouterOptions,
} from '../../../src/index.ts'
import { service } from '../service.ts'

const Thing = defineModel('RouterThing', {
  fields: { name: z.string(), kind: z.string().optional() },
})
type ThingOptions = Partial<RouterOptions<{ name: string; kind?: string | undefined }>>

/** A router whose guard notes its name. */
function noted(name: string, trace: string[], options: ThingOptions = {}): Router {
  return createRouter({
    model: Thing,
    allowedFields: ['name'],
    middlewares: [() => void trace.push(name)],
    ...options,
  })
}

describe('design, App: extra routes', () => {
  test('4.1 Resource routes: an extra route comes before /:id', async () => {
    const { app, send } = service()
    const router = createRouter({ model: Thing, allowedFields: ['name'] })
    router.get('/featured', () => Response.json({ featured: true }))
    app.mount('/things', router)
    expect((await send('GET', '/things/featured')).body).toEqual({ featured: true })
    expect((await send('GET', '/things/other')).body.error).toBe('Invalid ID format.')
  })

  test.each(['get', 'post', 'put', 'patch', 'delete', 'query', 'options'] as const)(
    'design, App: router.%s adds a route of that method',
    async (method) => {
      const { app, send } = service()
      const router = createRouter({ model: Thing, allowedFields: ['name'] })
      const add = router[method] as Router['get']
      const same = add('/extra/:name', ({ params }, context) => {
        context.headers.set('X-Name', params.name ?? '')
        return new Response('extra')
      })
      expect(same).toBe(router)
      app.mount('/things', router)
      const answer = await send(method.toUpperCase(), '/things/extra/a%20b')
      expect(answer.text).toBe('extra')
      expect(answer.headers.get('x-name')).toBe('a b')
    },
  )

  test("design, App: an extra route runs the router's guards, then its own, then the handler", async () => {
    const { app, send } = service()
    const trace: string[] = []
    const router = noted('router', trace)
    router.get(
      '/extra',
      () => void trace.push('own'),
      () => {
        trace.push('handler')
        return new Response('done')
      },
    )
    app.use(() => void trace.push('app'))
    app.mount('/things', router)
    expect((await send('GET', '/things/extra')).text).toBe('done')
    expect(trace).toEqual(['app', 'router', 'own', 'handler'])
  })

  test('design, App: an extra route may replace a built-in one, and leave a request to it', async () => {
    const { app, send } = service()
    const router = createRouter({ model: Thing, allowedFields: ['name'] })
    router.get('/:id', ({ params }) => (params.id === 'me' ? new Response('me') : undefined))
    router.get('/', ({ query }) => (query.mine === '1' ? new Response('mine') : undefined))
    app.mount('/things', router)
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    expect((await send('GET', '/things/me')).text).toBe('me')
    expect((await send('GET', '/things?mine=1')).text).toBe('mine')
    expect((await send('GET', `/things/${record._id}`)).record).toEqual(record)
    expect((await send('GET', '/things')).records).toEqual([record])
  })

  test("design, App: an extra route's handler reads and writes through context.store", async () => {
    const { app, send } = service()
    const router = createRouter({ model: Thing, allowedFields: ['name'] })
    router.post('/import', async (_, { store }) =>
      Response.json(await store.collection(Thing).insert({ name: 'imported' })),
    )
    app.mount('/things', router)
    expect((await send('POST', '/things/import')).body).toMatchObject({ name: 'imported' })
    expect((await send('GET', '/things')).records).toMatchObject([{ name: 'imported' }])
  })

  test('design, App: what a handler throws is answered like a guard’s', async () => {
    const { app, send } = service()
    const router = createRouter({ model: Thing, allowedFields: ['name'] })
    router.get('/teapot', () => {
      throw new HttpError(418, 'I am a teapot.')
    })
    router.post('/invalid', async (_, { store }) => {
      await store.collection(Thing).insert({ name: 5 } as never)
    })
    app.mount('/things', router)
    expect(await send('GET', '/things/teapot')).toMatchObject({
      status: 418,
      body: { error: 'I am a teapot.' },
    })
    const invalid = await send('POST', '/things/invalid')
    expect(invalid.status).toBe(400)
    expect(invalid.body).toMatchObject({
      error: 'Check the submitted values.',
      fields: { name: expect.any(String) },
    })
  })

  test('security, hooks that misbehave: a guard that answers with something else than a Response gives a plain 500', async () => {
    for (const odd of ['text', 5, true, { status: 200 }, []]) {
      const { app, send } = service()
      const router = createRouter({ model: Thing, allowedFields: ['name'] })
      router.get('/odd', (() => odd) as unknown as Guard, () => 'passed')
      app.mount('/things', router)
      expect((await send('GET', '/things/odd')).body).toMatchObject({
        success: false,
        error: 'Internal Server Error',
      })
    }
  })

  test('design, App: an extra route that comes after app.mount() is an error', () => {
    const router = createRouter({ model: Thing, allowedFields: [] })
    service().app.mount('/things', router)
    expect(() => router.get('/late', () => new Response())).toThrow('comes after app.mount()')
  })

  test('design, App: an extra route without a path or a handler is a start-up error', () => {
    const router = createRouter({ model: Thing })
    expect(() => router.get('featured', () => new Response())).toThrow(
      "an extra route's path starts with '/': 'featured'",
    )
    expect(() => (router.get as unknown as (path: string) => unknown)('/featured')).toThrow(
      "'/featured'",
    )
    expect(() => router.get('/featured', undefined as never)).toThrow("'/featured'")
  })
})

describe('answers, Scope and guards: several routers on one mount', () => {
  test('answers, Scope and guards: only the router that answers runs its guards', async () => {
    const { app, send } = service()
    const trace: string[] = []
    app.mount('/things', noted('first', trace, { enableQuery: false }))
    app.mount('/things', noted('second', trace))
    await send('GET', '/things')
    expect(trace).toEqual(['first'])
    trace.length = 0
    expect((await send('QUERY', '/things')).status).toBe(200)
    expect(trace).toEqual(['second'])
    trace.length = 0
    // Both answer together where neither has the method: `Allow` is what they serve.
    expect((await send('PUT', '/things')).status).toBe(405)
    expect(trace).toEqual(['first', 'second'])
  })

  test('design, App: the first router whose route matches answers', async () => {
    const { app, send } = service()
    const first = createRouter({ model: Thing, allowedFields: ['name'], maxLimit: 1 })
    first.get('/where', () => new Response('first'))
    const second = createRouter({ model: Thing, allowedFields: ['name'], maxLimit: 2 })
    second.get('/where', () => new Response('second'))
    second.get('/a/b', () => new Response('deeper'))
    app.mount('/things', first).mount('/things', second)
    for (const name of ['a', 'b', 'c']) await send('POST', '/things', { json: { name } })
    expect((await send('GET', '/things/where')).text).toBe('first')
    expect((await send('GET', '/things')).records).toHaveLength(1)
    expect((await send('GET', '/things/a/b')).text).toBe('deeper')
  })

  test('design, App: a router may be mounted under several paths, and in several apps', async () => {
    const router = createRouter({ model: Thing, allowedFields: ['name'] })
    const one = service()
    const two = service()
    one.app.mount('/a', router).mount('/b', router)
    two.app.mount('/a', router)
    await one.send('POST', '/a', { json: { name: 'x' } })
    expect((await one.send('GET', '/b')).records).toHaveLength(1)
    expect((await two.send('GET', '/a')).records).toEqual([])
  })

  test('answers, Scope and guards: app.use runs for every request, unmatched ones too', async () => {
    const { app, send } = service()
    const trace: string[] = []
    app.use(({ method, url }) => void trace.push(`${method} ${new URL(url).pathname}`))
    app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'] }))
    for (const [method, path] of [
      ['GET', '/things'],
      ['GET', '/nothing'],
      ['PUT', '/things'],
      ['OPTIONS', '/things'],
      ['HEAD', '/x'],
      ['GET', '/things/%zz'],
    ] as const) {
      await send(method, path)
    }
    expect(trace).toEqual([
      'GET /things',
      'GET /nothing',
      'PUT /things',
      'OPTIONS /things',
      'HEAD /x',
      'GET /things/%zz',
    ])
  })
})

describe('design, App: guards', () => {
  test('4.1 Write rules, order: guards run before anything is read or checked', async () => {
    const trace: string[] = []
    const guard: Guard = () => {
      trace.push('guard')
      return Response.json({ success: false, error: 'No.' }, { status: 403 })
    }
    const { app, send } = service()
    app.mount(
      '/things',
      createRouter({
        model: Thing,
        allowedFields: ['name'],
        middlewares: [guard],
        validate: () => void trace.push('validate'),
        onGet: () => void trace.push('onGet'),
        scope: () => void trace.push('scope'),
      }),
    )
    const text = { body: 'x', headers: { 'content-type': 'text/plain' } }
    for (const [method, path, message] of [
      ['GET', '/things?sort=secret', {}],
      ['QUERY', '/things', text],
      ['POST', '/things', text],
      ['GET', '/things/xyz', {}],
      ['PATCH', '/things/xyz', text],
      ['DELETE', '/things/xyz', {}],
    ] as const) {
      expect((await send(method, path, message)).status, `${method} ${path}`).toBe(403)
    }
    expect(trace).toEqual(Array(6).fill('guard'))
  })

  test('2.6 middlewares: they run in order, asynchronous ones awaited, until one answers', async () => {
    const { app, send } = service()
    const trace: string[] = []
    const slow: Guard = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      trace.push('slow')
    }
    const middlewares: Guard[] = [
      slow,
      () => void trace.push('quick'),
      async () => new Response('answered'),
      () => void trace.push('never'),
    ]
    app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'], middlewares }))
    expect((await send('GET', '/things')).text).toBe('answered')
    expect(trace).toEqual(['slow', 'quick'])
  })

  test('answers, Scope and guards: any guard may set request.auth, and what it sets arrives', async () => {
    const { app, send } = service()
    app.use((request) => {
      request.auth = { userId: 'u1', role: 'editor' }
    })
    const router = createRouter({
      model: Thing,
      allowedFields: ['name'],
      validate: (payload, { req }) => ({
        ...payload,
        kind: `${req.auth?.userId} ${req.auth?.role}`,
      }),
    })
    app.mount('/things', router)
    expect((await send('POST', '/things', { json: { name: 'a' } })).record.kind).toBe('u1 editor')
  })

  test.each(['text', 5, true, false, 0, '', {}, [], { status: 200, headers: {} }])(
    'security, hooks that misbehave: a guard that returns %o is a mistake, which opens nothing',
    async (odd) => {
      const trace: string[] = []
      const guard = (() => odd) as unknown as Guard
      const inApp = service()
      inApp.app.use(guard)
      inApp.app.mount('/things', noted('reached', trace))
      const inRouter = service()
      inRouter.app.mount(
        '/things',
        createRouter({
          model: Thing,
          allowedFields: ['name'],
          middlewares: [guard, () => void trace.push('reached')],
        }),
      )
      for (const { send, log } of [inApp, inRouter]) {
        const answer = await send('GET', '/things')
        expect(answer.status).toBe(500)
        expect(answer.body).toMatchObject({ success: false, error: 'Internal Server Error' })
        expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
      }
      expect(trace).toEqual([])
    },
  )

  test('design, App: a guard that returns undefined or null lets the request go on', async () => {
    const { app, send } = service()
    app.use(() => undefined).use((() => null) as unknown as Guard)
    app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'] }))
    expect((await send('GET', '/things')).status).toBe(200)
  })

  test('security, hooks that misbehave: responses that refuse changes of their headers are sent all the same', async () => {
    const { app, send } = service()
    app.use((request) =>
      request.url.endsWith('/away') ? Response.redirect('http://localhost/there', 302) : undefined,
    )
    app.use((request) =>
      request.url.endsWith('/empty') ? new Response(null, { status: 204 }) : undefined,
    )
    app.use((request) => (request.url.endsWith('/error') ? Response.error() : undefined))
    const away = await send('GET', '/away')
    expect(away.status).toBe(302)
    expect(away.headers.get('location')).toBe('http://localhost/there')
    expect(away.headers.get('x-request-id')).not.toBeNull()
    expect((await send('GET', '/empty')).status).toBe(204)
    expect((await send('GET', '/error')).status).toBe(500)
  })

  test('security, hooks that misbehave: a response that was read already is a plain 500', async () => {
    const { app, send } = service()
    const used = new Response('once')
    await used.text()
    app.use(() => used)
    expect((await send('HEAD', '/')).status).toBe(200)
    expect((await send('GET', '/')).body).toMatchObject({
      success: false,
      error: 'Internal Server Error',
    })
  })
})
