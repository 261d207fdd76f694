import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Guard, HttpError } from '../../../src/index.ts'
import { service } from '../service.ts'

const Thing = defineModel('NotAllowedThing', { fields: { name: z.string() } })
const ID = 'a'.repeat(24)
const options = { model: Thing, allowedFields: ['name'] as const, middlewares: [] }

/** Every method that a client may send. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'PROPFIND', 'FOO']

describe('next, 405: a method that is not there on a path that is', () => {
  test.each([
    ['/things', 'GET, HEAD, POST, QUERY'],
    ['/things/', 'GET, HEAD, POST, QUERY'],
    [`/things/${ID}`, 'DELETE, GET, HEAD, PATCH'],
    ['/things/top/list', 'GET, HEAD'],
    ['/things/run/now', 'PUT'],
    ['/things/featured', 'DELETE, GET, HEAD, PATCH'],
  ])('%s allows %s, and says so with 405 and OPTIONS', async (path, allow) => {
    const { app, send } = service()
    const router = createRouter(options)
    router.get('/top/list', () => new Response('top'))
    router.put('/run/now', () => new Response('ran'))
    router.get('/featured', () => new Response('featured'))
    app.mount('/things', router)
    const allowed = allow.split(', ')
    for (const method of METHODS) {
      const answer = await send(method, path)
      if (allowed.includes(method)) {
        expect(answer.status, method).not.toBe(405)
        expect(answer.body.error, method).not.toBe('Not found.')
        continue
      }
      // QUERY reads collections alone: to it a record's path does not exist.
      if (method === 'QUERY' && path === `/things/${ID}`) {
        expect(answer).toMatchObject({ status: 404, body: { error: 'Not found.' } })
        continue
      }
      expect(answer.status, method).toBe(405)
      expect(answer.headers.get('allow')).toBe(allow)
      if (method === 'HEAD') continue
      expect(answer.body).toMatchObject({ success: false, error: 'Method not allowed.' })
      expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'))
    }
    const told = await send('OPTIONS', path)
    expect(told.status).toBe(200)
    expect(told.headers.get('allow')).toBe(allow)
    expect(told.headers.get('content-type')).toMatch(/^text\/plain\b/)
    expect(told.text).toBe(allow)
  })

  test('a path that nobody serves is a 404 for every method, OPTIONS too', async () => {
    const { app, send } = service()
    app.mount('/things', createRouter(options))
    for (const method of [...METHODS, 'OPTIONS']) {
      for (const path of ['/nothing', '/', '/things/a/b', '/Things']) {
        expect((await send(method, path)).status, `${method} ${path}`).toBe(404)
      }
    }
  })

  test('several routers on one mount: Allow is what they serve together', async () => {
    const { app, send } = service()
    const first = createRouter({ ...options, enableQuery: false })
    first.get('/x/y', () => new Response('x'))
    const second = createRouter(options)
    second.delete('/x/y', () => new Response('gone'))
    app.mount('/things', first).mount('/things', second)
    expect((await send('PUT', '/things')).headers.get('allow')).toBe('GET, HEAD, POST, QUERY')
    expect((await send('OPTIONS', '/things')).text).toBe('GET, HEAD, POST, QUERY')
    expect((await send('POST', '/things/x/y')).headers.get('allow')).toBe('DELETE, GET, HEAD')
  })

  test('a handler for OPTIONS answers in place of the list, and its path has other methods or none', async () => {
    const { app, send } = service()
    const router = createRouter(options)
    router.options('/cors/only', () => new Response(null, { status: 204 }))
    app.mount('/things', router)
    expect((await send('OPTIONS', '/things/cors/only')).status).toBe(204)
    const answer = await send('GET', '/things/cors/only')
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'OPTIONS'])
  })
})

describe('next, 405: guards', () => {
  const refuse: Guard = () => {
    throw new HttpError(401, 'Authentication required.')
  }

  test('those of app.use and of the router come before the methods are told', async () => {
    for (const place of ['app', 'router'] as const) {
      const { app, send } = service()
      if (place === 'app') app.use(refuse)
      app.mount(
        '/things',
        createRouter({ ...options, middlewares: place === 'router' ? [refuse] : [] }),
      )
      for (const method of ['PUT', 'OPTIONS', 'FOO']) {
        const answer = await send(method, '/things')
        expect([answer.status, answer.headers.get('allow')], `${place} ${method}`).toEqual([
          401,
          null,
        ])
      }
    }
  })

  test('they see the parameters and the route', async () => {
    const seen: unknown[] = []
    const { app, send } = service()
    const look: Guard = ({ params, route }) => void seen.push(params, route)
    app.mount('/:shop/things', createRouter({ ...options, middlewares: [look] }))
    await send('PUT', '/a%20b/things')
    expect(seen).toEqual([{ shop: 'a b' }, '/:shop/things'])
  })

  test('a later router whose guards refuse adds nothing, and the first decides', async () => {
    const { app, send } = service()
    const open = createRouter({ ...options, enableQuery: false })
    const closed = createRouter({ ...options, middlewares: [refuse] })
    app.mount('/open', open).mount('/open', closed).mount('/shut', closed).mount('/shut', open)
    expect((await send('PUT', '/open')).headers.get('allow')).toBe('GET, HEAD, POST')
    expect((await send('PUT', '/shut')).status).toBe(401)
  })

  test('the guards of a single route do not run: it was not asked for', async () => {
    const { app, send } = service()
    const router = createRouter(options)
    router.get('/mine/all', refuse, () => new Response('mine'))
    app.mount('/things', router)
    expect((await send('GET', '/things/mine/all')).status).toBe(401)
    expect((await send('PUT', '/things/mine/all')).status).toBe(405)
  })
})

describe('a handler that returns nothing', () => {
  test('leaves the request to a route as narrow as its own, never to a wider one', async () => {
    const { app, send, log } = service()
    const router = createRouter(options)
    router.get('/featured', () => undefined)
    router.get('/:slug', () => undefined)
    app.mount('/things', router)
    const featured = await send('GET', '/things/featured')
    expect([featured.status, featured.body.error]).toEqual([404, 'Not found.'])
    await send('GET', '/things/featured')
    expect((await send('GET', `/things/${ID}`)).body.error).toBe('Entry not found.')
    const warnings = log.lines.filter(({ level }) => level === 'warn')
    expect(warnings.map(({ message }) => message)).toEqual([
      'GET /things/featured: the handler returned nothing, so the response is a 404. Return a value or a Response.',
    ])
  })

  test('a guard that returns something else than a Response is a 500, whose log line says what may be returned', async () => {
    const { app, send, log } = service()
    const router = createRouter(options)
    router.get('/odd', (() => ({ total: 3 })) as unknown as Guard, () => 'passed')
    app.mount('/things', router)
    expect((await send('GET', '/things/odd')).status).toBe(500)
    expect(log.text).toContain('GET /things/odd')
    expect(log.text).toMatch(/returned a value of type object.*Return a Response.*Response\.json/)
  })
})
