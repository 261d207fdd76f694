import { afterAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type LambdaEvent, type LambdaHandler, lambda } from '../../adapters/runtimes/lambda.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import { awslambda, gateway, waiting } from './lambda-gateway.ts'

const Note = defineModel('LambdaNote', { fields: { title: z.string() } })
const Live = defineModel('LambdaLive', { fields: {}, changes: true })
const stops: (() => Promise<void>)[] = []
afterAll(() => Promise.all(stops.map((stop) => stop())))

async function served(make: typeof lambda, stage?: string) {
  const later: string[] = []
  const app = createApp({ store: sqliteStore() })
  app.mount('/notes', createRouter({ model: Note, middlewares: [], allowedFields: ['title'] }))
  app.mount('/live', createRouter({ model: Live, middlewares: [], live: true }))
  app.mount(
    '/own',
    createRouter({ model: Note, middlewares: [], allowedFields: ['title'] })
      .get('/where', (request, context) =>
        Response.json({ url: request.url, client: context.clientAddress }),
      )
      .get('/bytes', () => new Response(new Uint8Array([0, 255, 254, 13, 10])))
      .get('/cookies', (request) => {
        const headers = new Headers()
        headers.append('Set-Cookie', 'a=1; HttpOnly')
        headers.append('Set-Cookie', 'b=2')
        return new Response(request.headers.get('cookie'), { headers })
      })
      .get('/none', () => new Response(null, { status: 204, headers: { 'X-Own': 'a' } }))
      .get('/ticks', () => new Response(ticks(later)))
      .get('/later', (_, context) => {
        context.waitUntil(
          new Promise<void>((resolve) =>
            setTimeout(() => {
              later.push('done')
              resolve()
            }, 20),
          ),
        )
        return new Response('now')
      }),
  )
  const { url, stop } = await gateway(make(app), stage)
  stops.push(stop)
  return { url, later }
}

/** A stream that never ends; it says when it is not wanted any more. */
function ticks(later: string[]): ReadableStream {
  const tick = new TextEncoder().encode('tick')
  return new ReadableStream({
    start: (controller) => controller.enqueue(tick),
    cancel: () => void later.push('cancelled'),
  })
}

const streamed: typeof lambda = (app) => {
  Object.assign(globalThis, { awslambda })
  return lambda(app, { streaming: true })
}

describe.each([
  ['whole', lambda],
  ['streamed', streamed],
])('a Lambda function with %s responses', (_, make) => {
  it('carries texts, bytes and cookies both ways', async () => {
    const { url } = await served(make)
    const made = await fetch(`${url}/notes`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ title: 'Grüße ☕' }),
    })
    expect([made.status, await made.json()]).toMatchObject([201, { data: { title: 'Grüße ☕' } }])
    expect(made.headers.get('location')).toMatch(/^\/notes\//)
    const bytes = await fetch(`${url}/own/bytes`)
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 255, 254, 13, 10])
    const cookies = await fetch(`${url}/own/cookies`, { headers: { Cookie: 'x=1; y=2' } })
    expect(cookies.headers.getSetCookie()).toEqual(['a=1; HttpOnly', 'b=2'])
    expect(await cookies.text()).toBe('x=1; y=2')
  })

  it('sends the status and the headers of responses without a body', async () => {
    const { url } = await served(make)
    const none = await fetch(`${url}/own/none`)
    expect([none.status, none.headers.get('x-own')]).toEqual([204, 'a'])
    const head = await fetch(`${url}/notes`, { method: 'HEAD' })
    expect(head.headers.get('etag')).toMatch(/^"/)
    const headers = { 'If-None-Match': head.headers.get('etag') ?? '' }
    expect((await fetch(`${url}/notes`, { headers })).status).toBe(304)
  })

  it('takes every header that AWS passes on', async () => {
    const app = createApp({ store: sqliteStore() })
    app.get('/bytes', ({ headers }) => ({
      x: headers.get('x-name'),
      cookie: headers.get('cookie'),
    }))
    const { body } = await lambda(app)({
      ...event('/bytes'),
      headers: { 'x-name': 'Zoë ☕' },
      cookies: ['a=☕'],
    })
    // As on Node: a character for each byte.
    const bytes = (text: string) => Buffer.from(text).toString('latin1')
    expect(JSON.parse(body).data).toEqual({ x: bytes('Zoë ☕'), cookie: bytes('a=☕') })
  })

  it('knows the client, and leaves the stage out of paths', async () => {
    const { url } = await served(make, 'prod')
    const where = await (await fetch(`${url}/own/where?a=1`)).json()
    expect(where).toMatchObject({
      client: '127.0.0.1',
      url: expect.stringMatching(/\/own\/where\?a=1$/),
    })
    expect((await fetch(`${url}/prod/own/where`)).status).toBe(404)
  })

  it('ends after what waitUntil was given', async () => {
    const { url, later } = await served(make)
    const response = await fetch(`${url}/own/later`)
    expect(await response.text()).toBe('now')
    await expect.poll(() => later).toEqual(['done'])
    expect(waiting).toEqual([])
  })
})

it('refuses to stream where the platform cannot', () => {
  Reflect.deleteProperty(globalThis, 'awslambda')
  const app = createApp({ store: sqliteStore() })
  expect((): LambdaHandler => lambda(app, { streaming: true })).toThrow(/'streaming' needs/)
})

/** A GET of a path, as an HTTP API passes it on: decoded. */
const event = (rawPath: string): LambdaEvent => ({
  version: '2.0',
  rawPath,
  rawQueryString: 'b=2',
  headers: {},
  requestContext: { http: { method: 'GET' } },
  isBase64Encoded: false,
})

it.each(['/notes?a=1', '/notes#a', '/notes/100%', '/no\tt', '/a\\b', '/notes '])(
  'takes no part of the decoded path %j for something else',
  async (path) => {
    const app = createApp({ store: sqliteStore() })
    app.use(({ url }) => Response.json(url))
    const url = new URL(JSON.parse((await lambda(app)(event(path))).body))
    expect([decodeURIComponent(url.pathname), url.search, url.hash]).toEqual([path, '?b=2', ''])
  },
)

/** A result by the types of AWS (`@types/aws-lambda`). */
interface AwsResult {
  statusCode?: number | undefined
  headers?: { [header: string]: boolean | number | string } | undefined
  cookies?: string[] | undefined
}

it('has the types of AWS', async () => {
  const handler: (event: LambdaEvent, context: object) => Promise<AwsResult> | undefined = lambda(
    createApp({ store: sqliteStore() }),
  )
  expect(await handler(event('/'), {})).toMatchObject({ statusCode: 404, cookies: [] })
})

it('keeps what is encoded in a path', async () => {
  const app = createApp({ store: sqliteStore() })
  app.use(({ url }) => Response.json(url))
  const { body } = await lambda(app)(event('/a%2Fb%3F%25'))
  expect(new URL(JSON.parse(body)).pathname).toBe('/a%2Fb%3F%25')
})

it('takes an event of a test that has only what the request needs', async () => {
  const app = createApp({ store: sqliteStore() })
  app.use(({ url }) => Response.json(url))
  const { rawPath, requestContext } = event('/notes')
  const { body } = await lambda(app)({ rawPath, requestContext } as LambdaEvent)
  expect(new URL(JSON.parse(body)).pathname).toBe('/notes')
})

it('says what is wrong with an event of another kind', async () => {
  const handler = lambda(createApp({ store: sqliteStore() }))
  const old = { version: '1.0', path: '/', httpMethod: 'GET', requestContext: { stage: 'prod' } }
  await expect(handler(old as never)).rejects.toThrow(/payload format 2\.0/)
})

it('refuses a live list unless it streams', async () => {
  const init = { headers: { Accept: 'text/event-stream' } }
  const [whole, pieces] = [await served(lambda), await served(streamed)]
  expect((await fetch(`${whole.url}/live`, init)).status).toBe(406)
  const response = await fetch(`${pieces.url}/live`, init)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  await response.body?.cancel()
})

it('ends a stream when its client has gone, even if nothing more is sent', async () => {
  const { url, later } = await served(streamed)
  const { body } = await fetch(`${url}/own/ticks`)
  const reader = body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await expect.poll(() => later).toEqual(['cancelled'])
})
