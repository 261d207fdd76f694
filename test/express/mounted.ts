/**
 * An app inside the real Express 4 and 5, over HTTP. The test copies this program to where they are installed, and runs
 * it there.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import compression from 'compression'
import cors from 'cors'
import express5, { type Request } from 'express'
import express4 from 'express4'
import multer from 'multer'
import { toExpress } from '../../adapters/runtimes/express.ts'
import { type App, createRouter } from '../../src/index.ts'
import { answer, ask, City, cities, PNG, serving } from '../../test/express/served.ts'
import './beside.ts'
import './refusals.ts'
import './signed-in.ts'

/** What both versions have alike. */
interface Kit {
  readonly json: () => never
  readonly text: () => never
  readonly raw: (options: { type: string }) => never
  readonly urlencoded: (options: { extended: boolean }) => never
}

interface Used {
  // biome-ignore lint/suspicious/noExplicitAny: the two versions' types differ; `itself` below shows that each takes the listener.
  use(...given: any[]): Used
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  get(path: string, handler: (request: any, response: any) => void): Used
  set(name: string, value: unknown): Used
}

const versions: Readonly<Record<string, (() => Used & RequestListener) & Kit>> = {
  'Express 4': express4 as never,
  'Express 5': express5 as never,
}

it('takes apps alone, and options that it knows', async () => {
  const { app } = cities()
  const refused = (given: readonly unknown[], told: RegExp) =>
    assert.throws(() => Reflect.apply(toExpress, undefined, given), {
      name: 'TypeError',
      message: told,
    })
  refused(
    [],
    /takes an app that createApp\(\) returned, but got undefined\. Write toExpress\(app\)/,
  )
  refused([null], /but got null/)
  refused(['app'], /but got app/)
  refused([{ default: app }], /but got another object/)
  refused([app.handle], /but got a function\. Write toExpress\(app\), not toExpress\(app\.handle\)/)
  refused([createRouter({ model: City, middlewares: [] })], /A router is mounted in an app first/)
  refused(
    [app, { auht: () => undefined }],
    /toExpress: unknown option 'auht'\. Did you mean 'auth'\?/,
  )
  refused([app, { auth: { userId: '1' } }], /toExpress: 'auth' must be a function/)
  refused([app, null], /toExpress: the options must be an object/)
  refused([app, () => undefined], /toExpress: the options must be an object/)
  await app.close()
})

it('is a middleware by the types of both', () => {
  const { app } = cities()
  const listener = toExpress(app)
  express4().use('/api', listener)
  express5().use('/api', listener)
  express5.Router().use(listener)
  express5().use(toExpress(app, { auth: (request: Request) => ({ userId: request.hostname }) }))
  createServer(listener)
  assert.equal(listener.length, 3)
  return app.close()
})

for (const [name, express] of Object.entries(versions)) {
  const mounts: Readonly<Record<string, (app: App) => RequestListener>> = {
    'before express.json()': (app) =>
      express().use('/api', toExpress(app)).use(express.json()) as never,
    'after express.json()': (app) =>
      express().use(express.json()).use('/api', toExpress(app)) as never,
    'after all parsers': (app) =>
      express()
        .use(express.json())
        .use(express.urlencoded({ extended: true }))
        .use(express.text())
        .use(express.raw({ type: 'application/octet-stream' }))
        .use('/api', toExpress(app)) as never,
  }

  for (const [where, make] of Object.entries(mounts)) {
    describe(`${name}, ${where}`, () => {
      it('serves the six routes, and Location leads to the record', async (t) => {
        const { url } = await serving(t, make)
        const made = await ask(`${url}/api/cities`, { json: { name: 'Bern', population: 134_794 } })
        assert.equal(made.status, 201)
        const location = made.headers.get('location')
        assert.equal(location, `/api/cities/${made.body.data._id}`)
        assert.equal((await ask(`${url}${location}`)).body.data.name, 'Bern')
        const json = { population: 5 }
        const patched = await ask(`${url}${location}`, { method: 'PATCH', json })
        assert.equal(patched.body.data.population, 5)
        const asked = await ask(`${url}/api/cities`, {
          method: 'QUERY',
          json: { filter: { name: 'Bern' } },
        })
        assert.equal(asked.body.data.length, 1)
        assert.equal((await ask(`${url}/api/cities?name=Basel`)).body.data.length, 0)
        assert.equal((await ask(`${url}${location}`, { method: 'DELETE' })).status, 200)
        assert.equal((await ask(`${url}${location}`)).status, 404)
      })

      it('refuses as the app alone does', async (t) => {
        const { url } = await serving(t, make)
        const bodies: readonly RequestInit[] = [
          { body: '{"name":""}' },
          { body: '{"name":5}' },
          { body: '{"role":"admin"}' },
          { body: '[]' },
          { body: '{}' },
          { body: JSON.stringify({ name: 'ü€😀 "quoted" \\ \u2028' }) },
          { body: '{"__proto__":{"name":"x"}}' },
        ]
        const alone = cities().app
        t.after(() => alone.close())
        for (const init of bodies) {
          const full = { ...init, method: 'POST', headers: { 'Content-Type': 'application/json' } }
          const here = await answer(await fetch(`${url}/api/cities`, full))
          const there = await answer(await alone.handle(new Request('http://x/cities', full)))
          assert.equal(here.status, there.status, String(init.body))
          assert.deepEqual(here.body.error, there.body.error)
          assert.deepEqual(here.body.fields, there.body.fields)
          assert.equal(here.body.data?.name, there.body.data?.name)
        }
      })

      it('takes uploads, and shows the files', async (t) => {
        const { url } = await serving(t, make)
        const body = new FormData()
        body.set('name', 'Zug')
        body.set('photo', new Blob([PNG], { type: 'image/png' }), 'zug.png')
        const made = await answer(await fetch(`${url}/api/cities`, { method: 'POST', body }))
        assert.equal(made.status, 201, made.text)
        const { photo } = made.body.data
        assert.match(photo, /^\/api\/files\/.*\.png/)
        const file = await fetch(`${url}${photo}`)
        assert.deepEqual(Buffer.from(await file.arrayBuffer()), PNG)
      })

      it('leaves what the app does not serve to others', async (t) => {
        const { url } = await serving(
          t,
          (app) =>
            (express() as Used)
              .use(make(app))
              .get('/api/other', (_, response) => response.json({ from: 'Express' })) as never,
        )
        assert.deepEqual((await ask(`${url}/api/other`)).body, { from: 'Express' })
        const nowhere = await ask(`${url}/api/nowhere`)
        assert.match(nowhere.text, /Cannot GET \/api\/nowhere/)
        const wrong = await ask(`${url}/api/cities`, { method: 'PUT', json: {} })
        assert.deepEqual([wrong.status, wrong.body.error], [405, 'Method not allowed.'])
        assert.equal(wrong.headers.get('allow'), 'GET, HEAD, POST, QUERY')
        assert.equal(
          (await ask(`${url}/api/cities/${'0'.repeat(24)}`)).body.error,
          'Entry not found.',
        )
        assert.match((await ask(`${url}/api/files/none.png`)).text, /Cannot GET/)
      })

      it('shows the document and the page of the API under the same path', async (t) => {
        const { url } = await serving(t, make)
        const { body } = await ask(`${url}/api/docs/openapi.json`)
        assert.deepEqual(body.servers, [{ url: '/api' }])
        assert.match((await ask(`${url}/api/docs`)).text, /\/api\/docs\/openapi\.json/)
      })

      it('ends the signal of a request whose client goes away', { timeout: 20_000 }, async (t) => {
        const { url, seen } = await serving(t, make)
        const client = new AbortController()
        const init = { method: 'POST', json: { a: 1 }, signal: client.signal }
        const asked = assert.rejects(ask(`${url}/api/cities/waiting`, init))
        await seen.waiting
        client.abort()
        await asked
        await seen.aborted
      })
    })
  }

  describe(`${name}, after parsers`, () => {
    const parsed = (app: App) => mounts['after all parsers']?.(app) as RequestListener

    it('gives the app the body that was sent', async (t) => {
      const { url } = await serving(t, parsed)
      const post = (type: string, body: BodyInit, headers = {}) =>
        ask(`${url}/api/cities/echo`, {
          method: 'POST',
          body,
          headers: { 'Content-Type': type, ...headers },
        })
      const json = JSON.stringify({ a: [1, { b: null }], c: 'ü' })
      assert.equal((await post('application/json', json)).body.text, json)
      assert.equal(
        (await post('application/json', gzipSync(json), { 'Content-Encoding': 'gzip' })).body.text,
        json,
      )
      assert.equal((await post('text/plain', 'Grüße')).body.text, 'Grüße')
      assert.equal((await post('application/octet-stream', Buffer.from('abc'))).body.text, 'abc')
      assert.equal((await post('application/x-other', 'as it is')).body.text, 'as it is')
      const empty = await ask(`${url}/api/cities/echo`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
      })
      assert.equal(empty.body.text, '')
      const form = new URLSearchParams('a=1&b=2&b=3&c=%C3%BC+x')
      const sent = await fetch(`${url}/api/cities/form`, { method: 'POST', body: form })
      assert.deepEqual(await sent.json(), [...form])
    })

    it('gives it what a middleware in front has made of it', async (t) => {
      const { url } = await serving(
        t,
        (app) =>
          (express() as Used)
            .use(express.json())
            .use((request: { body: { population: number } }, _: unknown, next: () => void) => {
              request.body.population = 7
              next()
            })
            .use('/api', toExpress(app)) as never,
      )
      const made = await ask(`${url}/api/cities`, { json: { name: 'Chur' } })
      assert.equal(made.body.data.population, 7)
    })

    it('passes on an error where nothing is left of the body', async (t) => {
      const told: unknown[] = []
      const { url } = await serving(
        t,
        (app) =>
          (express() as Used)
            .use(multer().any())
            .use('/api', toExpress(app))
            // biome-ignore lint/suspicious/noExplicitAny: an error handler of Express.
            .use((error: Error, _request: unknown, response: any, _next: unknown) => {
              told.push(error.message)
              response.status(500).json({ error: 'told' })
            }) as never,
      )
      const body = new FormData()
      body.set('name', 'Zug')
      const refused = await answer(await fetch(`${url}/api/cities`, { method: 'POST', body }))
      assert.deepEqual([refused.status, refused.body.error], [500, 'told'])
      assert.match(
        String(told[0]),
        /^fieldgate\/express: a middleware in front of toExpress\(app\) has read the body/,
      )
      assert.equal((await ask(`${url}/api/cities`)).body.data.length, 0)
    })
  })

  describe(`${name}, beside routes of Express`, () => {
    /** A server with the app at its root, and Express's own routes in front of it or behind it. */
    const beside =
      (routes: (server: Used) => void, where: 'in front' | 'behind', isStrict = false) =>
      (app: App) => {
        const server = express() as Used
        server.set('case sensitive routing', isStrict)
        if (where === 'in front') routes(server)
        server.use(toExpress(app))
        if (where === 'behind') routes(server)
        return server as never
      }
    const old = (server: Used) =>
      void server.get('/cities', (_, response) => response.json({ from: 'the old router' }))

    it('another case reaches an old router behind it, unless Express tells cases apart', async (t) => {
      const loose = await serving(t, beside(old, 'behind'))
      assert.deepEqual((await ask(`${loose.url}/cities`)).body.data, [])
      assert.deepEqual((await ask(`${loose.url}/Cities`)).body, { from: 'the old router' })
      const strict = await serving(t, beside(old, 'behind', true))
      assert.deepEqual((await ask(`${strict.url}/cities`)).body.data, [])
      assert.equal((await ask(`${strict.url}/Cities`)).status, 404)
      const none = await serving(
        t,
        beside(() => {}, 'behind'),
      )
      assert.equal((await ask(`${none.url}/Cities`)).status, 404)
    })

    it('routes below a router go in front of the app', async (t) => {
      const top = (server: Used) =>
        void server.get('/cities/top', (_, response) => response.json({ from: 'Express' }))
      const behind = await serving(t, beside(top, 'behind'))
      const asked = await ask(`${behind.url}/cities/top`)
      assert.deepEqual([asked.status, asked.body.error], [400, 'Invalid ID format.'])
      const posted = await ask(`${behind.url}/cities/import`, { json: {} })
      assert.equal(posted.status, 405)
      const front = await serving(t, beside(top, 'in front'))
      assert.deepEqual((await ask(`${front.url}/cities/top`)).body, { from: 'Express' })
    })

    it('bodies that a parser in front refuses are errors of Express', async (t) => {
      const post = async (make: (app: App) => RequestListener, type: string, body: string) => {
        const { url } = await serving(t, make)
        const headers = { 'Content-Type': type }
        const sent = await ask(`${url}/api/cities`, { method: 'POST', headers, body })
        return [sent.status, sent.headers.get('content-type')?.split(';')[0]]
      }
      const [front, parsed] = [mounts['before express.json()'], mounts['after all parsers']]
      for (const [body, status] of [
        ['{', 400],
        [JSON.stringify({ name: 'x'.repeat(200_000) }), 413],
      ] as const) {
        assert.deepEqual(await post(parsed as never, 'application/json', body), [
          status,
          'text/html',
        ])
        assert.deepEqual(await post(front as never, 'application/json', body), [
          status,
          'application/json',
        ])
      }
      const form = 'application/x-www-form-urlencoded'
      for (const make of [front, parsed])
        assert.deepEqual(await post(make as never, form, 'name=Bern'), [415, 'application/json'])
    })
  })

  describe(`${name}, around the app`, () => {
    it("takes the client's address from Express, as its 'trust proxy' says", async (t) => {
      const who = async (trust: unknown) => {
        const { url } = await serving(
          t,
          (app) =>
            (express() as Used).set('trust proxy', trust).use('/api', toExpress(app)) as never,
        )
        const headers = { 'X-Forwarded-For': '203.0.113.9, 198.51.100.7' }
        return (await ask(`${url}/api/cities/who`, { headers })).body.clientAddress
      }
      assert.equal(await who(false), '127.0.0.1')
      assert.equal(await who(1), '198.51.100.7')
      assert.equal(await who(true), '203.0.113.9')
    })

    it('knows the path of routers within routers, and none that is another host', async (t) => {
      const { url, port } = await serving(
        t,
        (app) =>
          (express() as Used)
            .use('/a', (express() as Used).use('/b', toExpress(app)))
            .use('/:tenant', toExpress(app))
            .use(toExpress(app)) as never,
      )
      const nested = await ask(`${url}/a/b/cities/who`)
      assert.deepEqual(nested.body, {
        clientAddress: '127.0.0.1',
        basePath: '/a/b',
        url: `http://127.0.0.1:${port}/cities/who`,
      })
      assert.equal((await ask(`${url}/acme/cities/who`)).body.basePath, '/acme')
      assert.equal((await ask(`${url}/cities/who`)).body.basePath, '')
      const odd = await ask(`${url}/%2F%2Fevil.example/cities`, { json: { name: 'Olten' } })
      assert.match(odd.headers.get('location') ?? '', /^\/%2F%2Fevil\.example\/cities\/\w+$/)
    })

    it('keeps headers of middlewares in front, and can be compressed', async (t) => {
      const { url } = await serving(
        t,
        (app) =>
          (express() as Used)
            .use(compression())
            .use(cors({ origin: ['https://app.example'], exposedHeaders: 'Location' }))
            // biome-ignore lint/suspicious/noExplicitAny: a middleware of Express.
            .use((_: unknown, response: any, next: () => void) => {
              response.cookie('a', '1')
              response.cookie('b', '2')
              next()
            })
            .use('/api', toExpress(app)) as never,
      )
      const headers = { Origin: 'https://app.example' }
      const many = await ask(`${url}/api/cities/many`, { headers })
      assert.equal(many.body.length, 200_000)
      assert.equal(many.headers.get('content-encoding'), 'gzip')
      assert.match(many.headers.get('vary') ?? '', /Origin/)
      assert.match(many.headers.get('vary') ?? '', /Accept-Encoding/)
      assert.equal(many.headers.get('access-control-allow-origin'), 'https://app.example')
      assert.equal(many.headers.get('x-powered-by'), 'Express')
      assert.deepEqual(many.headers.getSetCookie(), ['a=1; Path=/', 'b=2; Path=/'])
    })

    it('answers HEAD and conditional requests', async (t) => {
      const { url } = await serving(t, mounts['before express.json()'] as never)
      const list = await ask(`${url}/api/cities`)
      const etag = list.headers.get('etag') ?? ''
      assert.notEqual(etag, '')
      const same = await ask(`${url}/api/cities`, { headers: { 'If-None-Match': etag } })
      assert.equal(same.status, 304)
      const head = await ask(`${url}/api/cities`, { method: 'HEAD' })
      assert.deepEqual([head.status, head.text], [200, ''])
    })

    it('reads no body that it refuses', { timeout: 20_000 }, async (t) => {
      const { port } = await serving(t, mounts['before express.json()'] as never)
      const socket = connect(port, '127.0.0.1')
      const head = `POST /api/cities HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n`
      socket.write(head)
      socket.on('error', () => {})
      let text = ''
      for await (const chunk of socket) text += chunk
      assert.match(text, /^HTTP\/1\.1 413 /)
      assert.match(text, /connection: close/i)
    })
  })
}

it('on node:http alone, the app responds to every path', async (t) => {
  const { url } = await serving(t, (app) => toExpress(app))
  assert.equal(
    (await ask(`${url}/cities`, { json: { name: 'Sion' } })).headers
      .get('location')
      ?.startsWith('/cities/'),
    true,
  )
  const missing = await ask(`${url}/nowhere`)
  assert.deepEqual([missing.status, missing.body.error], [404, 'Not found.'])
})
