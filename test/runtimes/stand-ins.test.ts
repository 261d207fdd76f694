/** What your code sees of a request on Node, and does with a response there, beside what it would with the standard's own. */

import { once } from 'node:events'
import { request as ask, createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type App, createApp, createRouter, defineModel, type Handler } from '../../src/index.ts'

const Thing = defineModel('StandInThing', { fields: { name: z.string() } })
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

const POST: Sent = {
  method: 'POST',
  headers: { 'Content-Type': 'text/plain', 'X-One': '1' },
  body: 'hello',
}

/** The status, body and headers of what `app` responds on Node. */
async function served(app: App, path: string, { method = 'GET', headers, body }: Sent) {
  const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
  onTestFinished(() => close())
  const all = { Host: 'a.example', ...headers }
  const asked = ask(url + path, { method, headers: all, agent: false })
  asked.end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return [answer.statusCode, await text(answer), answer.headers] as const
}

/** The status and body of what `app` responds to a standard request like that. */
async function standard(app: App, path: string, { method = 'GET', headers, body }: Sent) {
  const length = body === undefined ? {} : { 'Content-Length': String(body.length) }
  const all = { Host: 'a.example', ...headers, Connection: 'close', ...length }
  const sent = body === undefined ? {} : { body: Buffer.from(body) }
  const request = new Request(`http://a.example${path}`, { method, headers: all, ...sent })
  const made = await app.handle(request)
  return [made.status, await made.text()] as const
}

/** What `handler` finds, on Node and in a standard request. */
async function found(handler: (request: Request) => unknown, sent: Sent = POST) {
  const seen: unknown[] = []
  const own: Handler = async (request) => {
    seen.push(await handler(request))
    return Response.json(1)
  }
  const app = createApp({ store: sqliteStore(), logger: quiet })
  app.get('/made', own).post('/made', own).delete('/made', own)
  await served(app, '/made', sent)
  await standard(app, '/made', sent)
  return seen
}

it.each([
  ['a.example:', 'http://a.example/made'],
  ['a~b', 'http://a~b/made'],
])('the URL of a request has the Host %s', async (Host, url) => {
  const seen: string[] = []
  const app = createApp({ store: sqliteStore(), logger: quiet })
  app.get('/made', (request) => Response.json(seen.push(request.url)))
  await served(app, '/made', { headers: { Host } })
  expect(seen).toEqual([url])
})

const shown = ({ url, method, headers }: Request) => [url, method, headers.get('x-one')]

describe('your code sees the same in a request', () => {
  it.each<[what: string, handler: (request: Request) => unknown, sent?: Sent]>([
    ['whose cache it asks before the body', async (r) => [r.cache, await r.text(), r.bodyUsed]],
    ['that it prints before the body', async (r) => [inspect(r).length > 9, await r.text()]],
    [
      'that it makes another of',
      async (r) => {
        const made = new Request('http://b.example/c', r)
        return [shown(made), await made.text(), r.bodyUsed]
      },
    ],
    [
      'that it copies',
      async (r) => {
        const made = new Request(r)
        return [shown(made), r.bodyUsed, await made.text(), await r.text().catch(() => 'read')]
      },
    ],
    [
      'that it copies with headers of its own',
      async (r) => {
        const made = new Request(r, { headers: { 'X-One': '2' } })
        return [shown(made), await made.text()]
      },
    ],
    [
      'that it copies with a body of its own',
      async (r) => {
        const made = new Request(r, { method: 'PUT', body: 'other' })
        return [shown(made), await made.text(), await r.text()]
      },
    ],
    [
      'that it copies into a class of its own',
      async (r) => {
        class Own extends Request {
          readonly own = true
        }
        const made = new Own(r)
        return [made instanceof Own, made.own, shown(made), await made.text()]
      },
    ],
    [
      'whose clone it reads',
      async (r) => {
        const { headers } = r
        const copy = r.clone()
        headers.set('X-Late', '1')
        return [
          headers === r.headers,
          r.headers.get('x-late'),
          copy.headers.has('x-late'),
          await copy.text(),
          await r.text(),
        ]
      },
    ],
    [
      'whose headers it changes',
      (r) => {
        r.headers.set('X-One', '2')
        r.headers.delete('Host')
        return [[...r.headers], shown(r), shown(r.clone())]
      },
    ],
    [
      'whose body it has begun to read',
      async (r) => {
        await r.body?.getReader().read()
        return [r.mode, r.bodyUsed, inspect(r).length > 9, r.body?.locked]
      },
    ],
    [
      'that it has read',
      async (r) => [await r.text(), r.mode, [...r.headers], r.bodyUsed],
      { method: 'POST', body: 'untyped' },
    ],
    ['without a body', async (r) => [r.body, await r.text(), r.bodyUsed], { method: 'DELETE' }],
    ['whose bytes it reads', async (r) => [(await r.bytes()).constructor === Uint8Array]],
    [
      'whose headers it asks for none',
      (r) =>
        [null, undefined, 5].map((name) => [
          r.headers.get(name as never),
          r.headers.has(name as never),
        ]),
    ],
    [
      'whose class it asks for',
      (r) => [
        r.constructor === Request,
        r.headers.constructor === Headers,
        new Request('http://a').constructor === Request,
        'then' in r,
      ],
    ],
  ])('%s', async (_, handler, sent) => {
    const [onNode, inStandard] = await found(handler, sent)
    expect(inStandard).toBeDefined()
    expect(onNode).toEqual(inStandard)
  })
})

it('a request can be sent on as it is', async () => {
  const upstream = createServer(async (request, response) => {
    const { method, url, headers } = request
    response.end(JSON.stringify([method, url, headers['x-one'], await text(request)]))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void upstream.close())
  await once(upstream, 'listening')
  const { port } = upstream.address() as AddressInfo
  const app = createApp({ store: sqliteStore() }).post('/made', (request) => {
    request.headers.delete('Connection')
    return fetch(request)
  })
  const headers = { ...POST.headers, Host: `127.0.0.1:${port}` }
  const [status, body] = await served(app, '/made', { ...POST, headers })
  expect([status, body]).toEqual([200, '["POST","/made","1","hello"]'])
})

it('a request that is copied keeps its signal', async () => {
  const app = createApp({ store: sqliteStore(), requestTimeoutMs: 0 })
  app.get('/made', (request) => {
    const { signal } = request
    request.clone()
    return signal === request.signal
  })
  expect((await served(app, '/made', {}))[1]).toBe('{"success":true,"data":true}')
})

it('a request below a base path is copied with its whole URL', async () => {
  const app = createApp({ store: sqliteStore(), basePath: '/api' })
  app.get('/made', (request) => Response.json([request.url, request.clone().url]))
  const [, body] = await served(app, '/api/made', {})
  expect(body).toBe((await standard(app, '/api/made', {}))[1])
})

describe("your hook changes a response of fieldgate's", () => {
  it.each<[what: string, hook: (response: Response) => unknown, sent: object]>([
    [
      'whose headers it has got before a look at the body',
      ({ headers, body }) => headers.set('X-Late', String(body?.locked)),
      { 'x-late': 'false', 'content-type': 'application/json; charset=utf-8' },
    ],
    [
      'whose headers it has got before a copy',
      async (response) => {
        const { headers } = response
        headers.set('X-Length', String((await response.clone().text()).length))
        headers.append('Set-Cookie', 'a=1')
        headers.append('Set-Cookie', 'b=2')
      },
      { 'x-length': '26', 'set-cookie': ['a=1', 'b=2'] },
    ],
    [
      'that it copies after a change of its headers',
      (response) => {
        void response.body
        response.headers.set('X-Late', '1')
        return response.clone()
      },
      { 'x-late': '1' },
    ],
    [
      'whose type it changes after a look at the body',
      async (response) => {
        const { headers } = response
        void response.body
        headers.set('Content-Type', 'x/y')
        return new Response(await response.blob())
      },
      { 'content-type': 'x/y' },
    ],
  ])('%s', async (_, hook, sent) => {
    const app = createApp({ store: sqliteStore(), logger: quiet })
    app.use((_request, { onResponse }) =>
      onResponse(async (response) => {
        const made = await hook(response)
        return made instanceof Response ? made : undefined
      }),
    )
    app.mount('/things', createRouter({ model: Thing, middlewares: [], allowedFields: ['name'] }))
    const [, body, headers] = await served(app, '/things', {})
    expect(body).toBe('{"success":true,"data":[]}')
    expect(headers).toMatchObject(sent)
  })
})
