/**
 * An app in Express beside middlewares and routes that are not its own: neither gets in the other's way.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, type RequestListener, request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import compression from 'compression'
import express5, { type RequestHandler } from 'express'
import express4 from 'express4'
import multer from 'multer'
import * as z from 'zod'
import { toExpress } from '../../adapters/runtimes/express.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type App, createApp, createRouter, defineModel } from '../../src/index.ts'
import { answer, ask, City, quiet, serving } from '../../test/express/served.ts'
import { Reading } from '../../test/records/live/stream.ts'

/** Sends a path as it is written, which `fetch` would change. */
async function raw(port: number, path: string, method = 'GET', body?: string) {
  const headers = { host: 'h', ...(body !== undefined && { 'content-type': 'application/json' }) }
  const sent = send({ port, path, method, headers }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, text: await text(response) }
}

/** Ways of writing `path` that a URL makes the same path of. */
const spellings = (path: string) => [
  `/.${path}`,
  `/x/..${path}`,
  `/%2e${path}`,
  `/x/%2E%2e${path}`,
  `/x/.%2e${path}`,
  `/x\\..${path.replaceAll('/', '\\')}`,
  `/./x/../.${path}`,
  `http://h/.${path}`,
]

const Note = defineModel('Note', { fields: { text: z.string() }, changes: true })

const forbid: RequestHandler = (_, response) => void response.status(403).send('forbidden')

for (const [name, express] of Object.entries({
  'Express 4': express4 as unknown as typeof express5,
  'Express 5': express5,
})) {
  const around =
    (make: (server: ReturnType<typeof express5>, app: App) => unknown) => (app: App) => {
      const server = express()
      make(server, app)
      return server as RequestListener
    }

  describe(`${name}, an app beside others`, () => {
    it('sends the events of a live list through a middleware that compresses', async (t) => {
      const { url } = await serving(
        t,
        around((server, app) => {
          app.mount('/notes', createRouter({ model: Note, middlewares: [], live: true }))
          server.use(compression(), toExpress(app))
        }),
      )
      const ending = new AbortController()
      const response = await fetch(`${url}/notes`, {
        headers: { Accept: 'text/event-stream' },
        signal: AbortSignal.any([ending.signal, AbortSignal.timeout(5000)]),
      })
      assert.equal(response.headers.get('content-encoding'), null)
      assert.equal((await new Reading(response).next())?.event, 'records')
      ending.abort()
    })

    it('serves an app whose own path is that of its mount, with all methods', async (t) => {
      const app = createApp({ store: sqliteStore(), basePath: '/api', logger: quiet })
      app.mount('/notes', createRouter({ model: Note, middlewares: [], allowedFields: ['text'] }))
      t.after(() => app.close())
      const { url } = await serving(
        t,
        around((server) => server.use('/api', toExpress(app))),
      )
      const made = await ask(`${url}/api/notes`, { json: { text: 'a' } })
      assert.deepEqual(
        [made.status, made.headers.get('location')],
        [201, `/api/notes/${made.body.data?._id}`],
      )
      const one = `${url}/api/notes/${made.body.data._id}`
      for (const [method, status] of [
        ['GET', 200],
        ['PUT', 405],
        ['DELETE', 200],
      ] as const) {
        assert.equal((await ask(one, { method })).status, status, method)
      }
      assert.match((await ask(`${url}/api/nowhere`)).text, /Cannot GET/)
    })

    it('serves no path that guards of Express have seen as another one', async (t) => {
      const root = await serving(
        t,
        around((server, app) => server.use('/cities', forbid).use(toExpress(app))),
      )
      const below = await serving(
        t,
        around((server, app) => server.use('/api/cities', forbid).use('/api', toExpress(app))),
      )
      assert.equal((await raw(root.port, '/cities')).status, 403)
      const asked = [
        ...spellings('/cities').map((path) => [root.port, path] as const),
        ...spellings('/cities').map((path) => [below.port, `/api${path}`] as const),
      ]
      const bodies: Readonly<Record<string, string>> = { POST: '{"name":"Bern"}', QUERY: '{}' }
      for (const [port, path] of asked.filter(([, path]) => !path.startsWith('/apihttp'))) {
        for (const method of ['GET', 'POST', 'QUERY']) {
          const { status } = await raw(port, path, method, bodies[method])
          assert.ok(status === 403 || status === 404, `${method} ${path}: ${status}`)
        }
      }
    })

    it('answers what JSON cannot say as without a parser in front', async (t) => {
      const [plain, strict, loose] = await Promise.all([
        serving(
          t,
          around((server, app) => server.use(toExpress(app))),
        ),
        serving(
          t,
          around((server, app) => server.use(express.json(), toExpress(app))),
        ),
        serving(
          t,
          around((server, app) => server.use(express.json({ strict: false }), toExpress(app))),
        ),
      ])
      const told = async (port: number, body: string) => {
        const { status, text: sent } = await raw(port, '/cities', 'POST', body)
        const { error, fields } = JSON.parse(sent)
        return [status, error, fields]
      }
      for (const number of ['1e400', '-1e400', '[1e999]']) {
        const body = `{"name":"Bern","population":${number}}`
        const [status, ...rest] = await told(plain.port, body)
        assert.equal(status, 400)
        for (const { port } of [strict, loose])
          assert.deepEqual(await told(port, body), [status, ...rest])
      }
      for (const body of ['"x"', '1e400', 'null']) {
        assert.deepEqual(await told(loose.port, body), await told(plain.port, body))
      }
      const deep = `{"name":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
      for (const { port } of [strict, loose])
        assert.deepEqual(await told(port, deep), await told(plain.port, deep))
    })

    it('refuses JSON that is sent as text, where a parser in front takes every type', async (t) => {
      const { port } = await serving(
        t,
        around((server, app) => server.use(express.json({ type: () => true }), toExpress(app))),
      )
      for (const headers of [{ 'content-type': 'text/plain;charset=UTF-8' }, {}]) {
        const sent = send({ port, path: '/cities', method: 'POST', headers }).end('{"name":"Bern"}')
        const [response] = (await once(sent, 'response')) as [IncomingMessage]
        const { error } = JSON.parse(await text(response))
        assert.deepEqual(
          [response.statusCode, error],
          [415, 'Request body must be sent as application/json or multipart/form-data.'],
        )
      }
    })

    it('serves no path with empty parts, which routes of Express do not match', async (t) => {
      const guarded = (mount: string) =>
        around((server, app) => {
          for (const path of [`${mount}/cities`, `${mount}/cities/:id`])
            for (const method of ['get', 'post', 'patch', 'delete'] as const)
              server[method](path, forbid)
          server.use(mount || '/', toExpress(app))
        })
      const id = '0'.repeat(24)
      for (const mount of ['', '/api']) {
        const { port } = await serving(t, guarded(mount))
        const paths = [
          ...[`${mount}/cities`, `${mount}/cities/`, `${mount}/cities//`, `${mount}/cities///`],
          ...[
            `${mount}//cities`,
            `/${mount}/cities`,
            `//${mount}//cities`,
            `http://h${mount}//cities`,
          ],
          ...[`${mount}/cities//${id}`, `${mount}/cities/${id}//`, `${mount}//cities/${id}`],
        ]
        const bodies: Readonly<Record<string, string>> = { POST: '{"name":"Bern"}', PATCH: '{}' }
        for (const path of paths) {
          for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']) {
            const { status } = await raw(port, path, method, bodies[method])
            assert.ok(status === 403 || status === 404, `${method} ${path}: ${status}`)
          }
        }
        // The parameters of a URL are no path.
        assert.equal((await raw(port, `${mount}/cities?name=//`, 'QUERY', '{}')).status, 200)
      }
    })

    it('responds to a form with parts within parts as to any other', async (t) => {
      const { url } = await serving(
        t,
        around((server, app) => server.use(express.urlencoded({ extended: true }), toExpress(app))),
      )
      const pairs = [
        ['a[b]', '1'],
        ['a[c][d]', '2'],
        ['e[0][f]', '3'],
        ['e[1][f]', '4'],
        ['g', '5'],
        ['g', '6'],
      ]
      const form = async (path: string, method = 'POST') => {
        const body = new URLSearchParams(pairs)
        return answer(await fetch(`${url}/cities${path}`, { method, body }))
      }
      assert.deepEqual((await form('/form')).body, pairs)
      for (const refused of [await form(''), await form(`/${'0'.repeat(24)}`, 'PATCH')]) {
        assert.equal(refused.status, 415)
        assert.match(refused.body.error, /^Request body must be sent as application\/json/)
      }
    })

    it('is in no path with dots of a mount that takes any', async (t) => {
      const { port } = await serving(
        t,
        around((server, app) => server.use('/:tenant', toExpress(app))),
      )
      assert.equal((await raw(port, '/acme/cities')).status, 200)
      for (const path of ['/../cities', '/./cities', '/%2e%2e/cities'])
        assert.equal((await raw(port, path)).status, 404, path)
    })

    it('leaves bodies of other routes alone, whoever has read them', async (t) => {
      const { url } = await serving(
        t,
        around((server, app) => {
          server.use(multer().any(), express.urlencoded({ extended: true }), toExpress(app))
          server.post('/own', (request, response) => void response.json(request.body))
        }),
      )
      const form = new FormData()
      form.set('a', '1')
      const upload = await answer(await fetch(`${url}/own`, { method: 'POST', body: form }))
      assert.deepEqual([upload.status, upload.body], [200, { a: '1' }])
      const body = new URLSearchParams('user[name]=ann')
      const nested = await answer(await fetch(`${url}/own`, { method: 'POST', body }))
      assert.deepEqual([nested.status, nested.body], [200, { user: { name: 'ann' } }])
    })

    it('takes a URL that a middleware has rewritten as it is then', async (t) => {
      const { url } = await serving(
        t,
        around((server, app) => {
          server.use((request, _, next) => {
            if (request.url === '/cities') request.url = '/maintenance'
            next()
          })
          server.use(toExpress(app))
          server.get('/maintenance', (_, response) => void response.status(503).send('later'))
        }),
      )
      assert.equal((await ask(`${url}/cities`)).status, 503)
    })

    it('is told of a body that was read as raw bytes, and takes no {} for it', async (t) => {
      const told: string[] = []
      const reader: RequestHandler = async (request, _, next) => {
        if (!request.readableDidRead) await text(request)
        next()
      }
      const { url } = await serving(
        t,
        around((server, app) => {
          server.use(express.json(), reader, toExpress(app))
          const failed: express5.ErrorRequestHandler = (error, _request, response, _next) => {
            told.push(String(error.message))
            response.status(500).end()
          }
          server.use(failed)
        }),
      )
      const post = (type: string, body: string) =>
        ask(`${url}/cities/echo`, { method: 'POST', headers: { 'content-type': type }, body })
      assert.equal((await post('application/vnd.api+json', '{"a":1}')).status, 500)
      assert.match(String(told[0]), /has read the body/)
      assert.equal((await post('application/json', '{}')).body.text, '{}')
    })

    it('takes forms whose type is in capitals', async (t) => {
      const { url } = await serving(
        t,
        around((server, app) =>
          server.use(express.urlencoded({ extended: false }), toExpress(app)),
        ),
      )
      const headers = { 'content-type': 'Application/X-WWW-Form-Urlencoded' }
      const sent = await fetch(`${url}/cities/form`, { method: 'POST', headers, body: 'a=1' })
      assert.deepEqual([sent.status, await sent.json()], [200, [['a', '1']]])
    })

    it('writes into no response that another middleware has begun, and cancels its own', async (t) => {
      const cancelled = Promise.withResolvers<void>()
      const { url } = await serving(
        t,
        around((server, app) => {
          const router = createRouter({ model: City, middlewares: [] })
          const body = () => new ReadableStream({ cancel: () => cancelled.resolve() })
          router.get('/late', () => new Response(body()))
          app.mount('/more', router)
          server.use((_request, response, next) => {
            response.write('mine, ')
            void cancelled.promise.then(() => response.end('and mine'))
            next()
          })
          server.use(toExpress(app))
        }),
      )
      assert.equal((await ask(`${url}/more/late`)).text, 'mine, and mine')
    })
  })
}

it('on node:http alone, a path with dots or empty parts is a 404', async (t) => {
  const { port } = await serving(t, (app) => toExpress(app))
  assert.equal((await raw(port, '/cities')).status, 200)
  for (const path of [...spellings('/cities'), '/cities//', '//cities']) {
    const refused = await raw(port, path)
    assert.deepEqual([path, refused.status], [path, 404])
    assert.equal(JSON.parse(refused.text).error, 'Not found.')
  }
})
