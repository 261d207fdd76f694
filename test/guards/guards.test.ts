/** `cors`, `secureHeaders`, `readOnly` and `apiKey`, in process. */

import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  apiKey,
  type CorsOptions,
  cors,
  idempotency,
  rateLimit,
  readOnly,
  secureHeaders,
} from '../../src/guards/index.ts'
import { createRouter } from '../../src/index.ts'
import { errorOf, Note, notes } from './notes.ts'

const HERE = 'https://app.example.com'
const THERE = 'https://evil.example'
const from = (origin: string, headers = {}) => ({ headers: { Origin: origin, ...headers } })
const preflight = (origin: string, method = 'QUERY') =>
  from(origin, {
    'Access-Control-Request-Method': method,
    'Access-Control-Request-Headers': 'authorization,content-type',
  })
const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => /^access-control|^vary$/.test(name)))

/** The headers of requests that the sources read. */
function headersRead(): string[] {
  const sources = globSync(['src/**/*.ts', 'adapters/files/*.ts'])
  const found = sources.flatMap((file) => [
    ...readFileSync(file, 'utf8').matchAll(/headers\.(?:get|has)\(\s*'([\w-]+)'/g),
  ])
  return [...new Set(found.map(([, name = '']) => name.toLowerCase()))]
}

/** Browsers send these by themselves or let pages send them, or they are read of responses. */
const OTHERS =
  /^(?:accept|accept-encoding|access-control-.*|allow|cache-control|cf-.*|change-id|content-(?:encoding|length)|cookie|date|etag|host|last-modified|origin|range|retry-after|user-agent|x-forwarded-.*|x-ratelimit-remaining)$/

describe('cors', () => {
  it('lets pages send every header that the sources read', async () => {
    const { ask } = notes([cors({ origins: [HERE] })])
    const { headers } = await ask('OPTIONS', '/notes', preflight(HERE))
    const allowed = (headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ')
    const read = headersRead().filter((name) => !OTHERS.test(name))
    expect(read.length).toBeGreaterThan(8)
    expect(read.filter((name) => !allowed.includes(name))).toEqual([])
  })

  it('marks every response, failures included, and lets pages read the headers', async () => {
    const { ask } = notes([cors({ origins: [HERE] })])
    const asked: [string, string, number][] = [
      ['GET', '/notes', 200],
      ['GET', '/notes/1', 400],
      ['GET', '/none', 404],
      ['PUT', '/notes', 405],
      ['OPTIONS', '/notes', 200],
      ['GET', '/own/broken', 500],
    ]
    for (const [method, path, status] of asked) {
      const response = await ask(method, path, from(HERE))
      expect(response.status).toBe(status)
      expect(corsOf(response)).toMatchObject({
        'access-control-allow-origin': HERE,
        vary: status < 400 ? 'Origin' : 'Accept, Origin',
      })
      const exposed = response.headers.get('access-control-expose-headers')?.split(', ')
      expect(exposed).toEqual(
        expect.arrayContaining(['ETag', 'Location', 'RateLimit', 'Retry-After', 'X-Request-Id']),
      )
    }
    const busy = await ask('GET', '/notes', { ...from(HERE), platform: { isRefused: true } })
    expect([busy.status, corsOf(busy)['access-control-allow-origin']]).toEqual([503, HERE])
  })

  it.each(['GET', 'QUERY', 'PATCH', 'DELETE'])(
    'responds to the preflight of a %s',
    async (method) => {
      const { ask } = notes([cors({ origins: [HERE], maxAge: 60, allowedHeaders: ['X-Own'] })])
      const response = await ask('OPTIONS', '/notes', preflight(HERE, method))
      expect([response.status, await response.text()]).toEqual([204, ''])
      expect((await ask('GET', '/notes', preflight(HERE, method))).status).toBe(200)
      const { headers } = response
      expect(headers.get('access-control-allow-methods')?.split(', ')).toContain(method)
      expect(headers.get('access-control-allow-headers')?.split(', ')).toEqual(
        expect.arrayContaining([
          'Authorization',
          'Content-Type',
          'If-Match',
          'Idempotency-Key',
          'X-API-Key',
          'X-Own',
        ]),
      )
      expect(headers.get('access-control-max-age')).toBe('60')
      expect(headers.get('access-control-allow-private-network')).toBeNull()
    },
  )

  it('says nothing to other origins, but tells caches that the response differs', async () => {
    const { ask } = notes([cors({ origins: [HERE], credentials: true })])
    for (const origin of [THERE, 'null', `${HERE}.evil.example`, HERE.toUpperCase()]) {
      expect(corsOf(await ask('GET', '/notes', from(origin)))).toEqual({ vary: 'Origin' })
      const options = await ask('OPTIONS', '/notes', preflight(origin))
      expect([options.status, corsOf(options)]).toEqual([200, { vary: 'Origin' }])
    }
    expect(corsOf(await ask('GET', '/notes'))).toEqual({ vary: 'Origin' })
  })

  it('allows all origins alike with *, without credentials', async () => {
    const { ask } = notes([cors({ origins: '*' })])
    const response = await ask('GET', '/notes', from(THERE))
    expect(corsOf(response)).toMatchObject({ 'access-control-allow-origin': '*' })
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    expect(response.headers.get('vary')).toBeNull()
  })

  it('asks a function, which may be asynchronous and must return true', async () => {
    const origins = async (origin: string) => origin.endsWith('.example.com')
    const { ask } = notes([cors({ origins, credentials: true })])
    const response = await ask('GET', '/notes', from(HERE))
    expect(corsOf(response)).toMatchObject({
      'access-control-allow-origin': HERE,
      'access-control-allow-credentials': 'true',
    })
    expect(corsOf(await ask('GET', '/notes', from(THERE)))).toEqual({ vary: 'Origin' })
  })

  it('does not wait for a function that hangs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { ask } = notes([cors({ origins: () => new Promise(() => {}) })])
    const asked = ask('GET', '/notes', from(HERE))
    await vi.advanceTimersByTimeAsync(5000)
    expect((await asked).status).toBe(503)
  })

  it('keeps the Vary of a response, and works for one router too', async () => {
    const { ask } = notes([], {}, [cors({ origins: ['null'] })])
    const headers = { Authorization: 'Bearer x', Origin: 'null' }
    const response = await ask('GET', '/own', { headers })
    expect(response.headers.get('vary')).toBe('Origin, Authorization')
    expect(response.headers.get('access-control-allow-origin')).toBe('null')
    expect((await ask('OPTIONS', '/own', preflight('null'))).status).toBe(204)
    expect(corsOf(await ask('GET', '/notes', from('null')))).toEqual({})
  })

  it.each([
    [
      { origins: '*', credentials: true },
      `cors: 'credentials' can't be combined with origins: '*'`,
    ],
    [{ origins: ['*'] }, `cors: 'origins' lists '*'. Write origins: '*'`],
    [
      { origins: [`${HERE}/`] },
      `cors: 'origins' lists '${HERE}/', which isn't an origin. Write '${HERE}'.`,
    ],
    [
      { origins: ['app.example.com'] },
      `which isn't an origin. Write e.g. 'https://app.example.com'.`,
    ],
    [{}, `cors: 'origins' is required`],
    [{ origins: HERE }, `cors: 'origins' must be a list of origins`],
    [{ origins: '*', maxAge: -1 }, `cors: 'maxAge' must be a whole number of seconds`],
    [
      { origins: '*', allowedHeaders: ['a b'] },
      `cors: 'allowedHeaders' must be a list of header names`,
    ],
    [{ origins: '*', methods: [] }, `cors: unknown option 'methods'`],
  ])('refuses %o at start-up', (options, message) => {
    expect(() => cors(options as CorsOptions)).toThrow(message)
  })

  it('takes the origins of apps with schemes of their own', () => {
    expect(() =>
      cors({ origins: ['capacitor://localhost', 'http://localhost:5173'] }),
    ).not.toThrow()
  })
})

describe('secureHeaders', () => {
  it('sets the headers on every response, failures and refusals included', async () => {
    const { ask } = notes([secureHeaders()])
    const asked = [
      ask('GET', '/notes'),
      ask('GET', '/none'),
      ask('GET', '/own/broken'),
      ask('GET', '/notes', { platform: { isRefused: true } }),
    ]
    for (const { headers } of await Promise.all(asked)) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'cross-origin-resource-policy': 'same-site',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      expect(headers.has('strict-transport-security')).toBe(false)
    }
  })

  it('sends Strict-Transport-Security over HTTPS, also behind a proxy that ends TLS', async () => {
    const { app, ask } = notes([secureHeaders()])
    const direct = await app.handle(new Request('https://localhost/notes'))
    const proxied = await ask('GET', '/notes', { headers: { 'X-Forwarded-Proto': 'https' } })
    for (const { headers } of [direct, proxied]) {
      expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
    }
  })

  it('leaves a page its scripts, and a response the headers that it has', async () => {
    const { app, ask } = notes([secureHeaders()])
    const pages = createRouter({ model: Note, middlewares: [] })
    const type = { 'Content-Type': 'text/html; charset=utf-8' }
    pages.get('/page', () => new Response('<p>', { headers: type }))
    const policy = { 'Content-Security-Policy': "script-src 'self'", 'Referrer-Policy': 'origin' }
    pages.get('/kept', () => new Response(null, { status: 304 }))
    pages.get('/own-policy', () => new Response('<p>', { headers: { ...type, ...policy } }))
    app.mount('/docs', pages)
    const page = await ask('GET', '/docs/page')
    expect(page.headers.get('content-security-policy')).toBe("frame-ancestors 'none'")
    const kept = await ask('GET', '/docs/kept')
    expect(kept.headers.has('content-security-policy')).toBe(false)
    const own = await ask('GET', '/docs/own-policy')
    expect(own.headers.get('content-security-policy')).toBe("script-src 'self'")
    expect(own.headers.get('referrer-policy')).toBe('origin')
  })

  it('sets them on a response whose headers cannot be changed, too', async () => {
    const { app, ask } = notes([secureHeaders()])
    const router = createRouter({ model: Note, middlewares: [] })
    router.get('/away', () => Response.redirect('https://example.com/'))
    app.mount('/docs', router)
    const { status, headers } = await ask('GET', '/docs/away')
    expect([status, headers.get('location')]).toEqual([302, 'https://example.com/'])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('changes or leaves out what its options say', async () => {
    const { ask } = notes([
      secureHeaders({ contentSecurityPolicy: false, crossOriginResourcePolicy: 'cross-origin' }),
    ])
    const { headers } = await ask('GET', '/notes')
    expect(headers.has('content-security-policy')).toBe(false)
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(() => secureHeaders({ referrerPolicy: 'a\nb' })).toThrow(
      `secureHeaders: 'referrerPolicy' must be a header value or false`,
    )
  })
})

describe('readOnly', () => {
  it('lets reads pass and refuses everything else, also where no route is', async () => {
    const { ask, count } = notes([readOnly()])
    for (const method of ['GET', 'HEAD', 'QUERY', 'OPTIONS']) {
      expect((await ask(method, '/notes')).status).toBe(200)
    }
    for (const [method, path] of [
      ['POST', '/notes'],
      ['PATCH', '/notes/1'],
      ['DELETE', '/notes/1'],
      ['PUT', '/notes'],
      ['POST', '/none'],
    ] as const) {
      const response = await ask(method, path, { json: { text: 'a' } })
      expect([response.status, await errorOf(response)]).toEqual([405, 'Method not allowed.'])
      expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS, QUERY')
    }
    expect(await count()).toBe(0)
  })

  it('takes the writes out of Allow, of its router alone', async () => {
    const { ask } = notes([], {}, [readOnly()])
    const own = await ask('OPTIONS', '/own')
    expect([own.headers.get('allow'), await own.text()]).toEqual([
      'GET, HEAD, QUERY',
      'GET, HEAD, QUERY',
    ])
    expect(own.headers.get('accept-query')).toBe('application/json')
    expect((await ask('OPTIONS', '/notes')).headers.get('allow')).toContain('POST')
    expect((await ask('POST', '/notes', { json: { text: 'a' } })).status).toBe(201)
  })

  it('is not led astray by a header that names another method', async () => {
    const { ask, count } = notes([readOnly()])
    const headers = { 'X-HTTP-Method-Override': 'QUERY' }
    expect((await ask('POST', '/notes', { headers, json: { text: 'a' } })).status).toBe(405)
    expect(await count()).toBe(0)
  })
})

describe('apiKey', () => {
  const KEYS = ['first-key-0123456789', 'second-key-0123456789']

  it('refuses a request without a valid key', async () => {
    const { ask } = notes([apiKey({ keys: KEYS })])
    const without = await ask('GET', '/notes')
    expect([without.status, await errorOf(without)]).toEqual([401, 'API key required.'])
    expect(without.headers.get('www-authenticate')).toBe('ApiKey header="X-API-Key"')
    for (const key of ['first', `${KEYS[0]}x`, KEYS.join(', '), 'é']) {
      const response = await ask('GET', '/notes', { headers: { 'X-API-Key': key } })
      expect([response.status, await errorOf(response)]).toEqual([401, 'Invalid API key.'])
    }
    for (const key of KEYS) {
      const response = await ask('GET', '/notes', { headers: { 'X-API-Key': key } })
      expect(response.status).toBe(200)
      expect(response.headers.get('cache-control')).toBe('private, no-store')
    }
  })

  it('tells hooks and scopes whose key it is, without the key', async () => {
    const seen: unknown[] = []
    const { ask } = notes([
      apiKey({ keys: KEYS }),
      (request) => void seen.push(request.auth?.userId),
    ])
    for (const key of [...KEYS, ...KEYS])
      await ask('GET', '/notes', { headers: { 'X-API-Key': key } })
    expect(seen[0]).toMatch(/^key-[0-9a-f]{16}$/)
    expect(seen[1]).not.toBe(seen[0])
    expect(seen.slice(2)).toEqual(seen.slice(0, 2))
  })

  it('takes a function that knows whose key it is, and another header', async () => {
    const seen: unknown[] = []
    const keys = async (key: string) => {
      if (key === 'ann') return 'user-ann'
      return key === 'bob' ? { userId: 'user-bob', role: 'admin' } : undefined
    }
    const { ask } = notes([
      apiKey({ keys, header: 'X-Key' }),
      (request) => void seen.push(request.auth),
    ])
    const statuses = []
    for (const key of ['ann', 'bob', 'eve']) {
      statuses.push((await ask('GET', '/notes', { headers: { 'X-Key': key } })).status)
    }
    expect(statuses).toEqual([200, 200, 401])
    expect(seen).toEqual([{ userId: 'user-ann' }, { userId: 'user-bob', role: 'admin' }])
  })

  it('logs once what a principal lacks, whom it refuses', async () => {
    const keys = () => ({ _id: 'user-ann' }) as never
    const { ask, messages } = notes([apiKey({ keys })])
    for (const key of ['ann', 'bob']) {
      expect((await ask('GET', '/notes', { headers: { 'X-API-Key': key } })).status).toBe(401)
    }
    expect(messages.filter((message) => message.startsWith('apiKey'))).toEqual([
      "apiKey: 'keys' has returned a principal without 'userId', which is refused",
    ])
  })

  it.each([
    [{}, `apiKey: 'keys' is required`],
    [{ keys: [] }, `apiKey: 'keys' must be a list of keys or a function`],
    [{ keys: [''] }, `apiKey: 'keys' has a key that is empty`],
    [{ keys: [' secret '] }, `apiKey: 'keys' has a key that is empty, or has spaces`],
    [{ keys: ['a'], header: 'a b' }, `apiKey: 'header' must be the name of a header`],
  ])('refuses %o at start-up', (options, message) => {
    expect(() => apiKey(options as { keys: string[] })).toThrow(message)
  })
})

it.each([
  [() => rateLimit({ limit: 0, windowSeconds: 1 }), `rateLimit: 'limit' must be a whole number`],
  [() => rateLimit({ limit: 1 } as never), `rateLimit: 'limit' and 'windowSeconds' are required`],
  [
    () => rateLimit({ limit: 1, windowSeconds: 1, cache: { get: null, set: null } as never }),
    `rateLimit: 'cache' must have the function increment`,
  ],
  [() => rateLimit({ limit: 1, windowSeconds: 1, name: '"' }), `rateLimit: 'name' must have only`],
  [() => idempotency({} as never), `idempotency: 'ttlSeconds' is required`],
  [() => idempotency({ ttlSeconds: 0.5 }), `idempotency: 'ttlSeconds' must be a whole number`],
])('options that make no sense are start-up errors: %s', (make, message) => {
  expect(make).toThrow(message)
})
