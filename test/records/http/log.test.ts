import { describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import {
  type AppOptions,
  createRouter,
  defineModel,
  type ErrorHandler,
  errorHandler,
  HttpError,
  type Logger,
} from '../../../src/index.ts'
import { RefusedWrite } from '../../../src/ports/store/store-errors.ts'
import { answerOf, request, service } from '../service.ts'

const Thing = defineModel('LogThing', {
  fields: { name: z.string(), code: z.string().optional() },
  unique: ['code'],
  indexes: ['name'],
})

function things(options: Partial<AppOptions> = {}) {
  const served = service(options)
  served.app.mount(
    '/things',
    createRouter({
      model: Thing,
      query: ['name'],
      filterableFields: ['name'],
      search: ['name'],
      allowedFields: ['name', 'code'],
    }),
  )
  served.app.use(({ url }) => {
    if (new URL(url).pathname === '/broken') throw new Error('broken')
  })
  return served
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('answers, Envelope and errors: the request id', () => {
  test.each(['a', 'A-z_0.9', 'x'.repeat(128), '3f2504e0-4f89-41d3-9a0c-0305e82c3301'])(
    'answers, Envelope and errors: the X-Request-Id %s is taken over',
    async (id) => {
      const { send, log } = things()
      const answer = await send('GET', '/nothing', { headers: { 'X-Request-Id': id } })
      expect(answer.headers.get('x-request-id')).toBe(id)
      expect(answer.body.requestId).toBe(id)
      expect(log.lines[0]?.details.requestId).toBe(id)
    },
  )

  test.each([
    '',
    'x'.repeat(129),
    'a b',
    'a/b',
    'a,b',
    '<script>',
    'é',
    "a'b",
    'a\u007f',
    '{"a":1}',
  ])('security, forged log lines: the X-Request-Id %o is replaced by a UUID', async (id) => {
    const { send, log } = things()
    const answer = await send('GET', '/nothing', { headers: { 'X-Request-Id': id } })
    expect(answer.headers.get('x-request-id')).toMatch(UUID)
    expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'))
    if (id !== '') expect(log.text).not.toContain(JSON.stringify(id))
  })

  test('answers, Envelope and errors: every answer has the header, successes and guards’ answers too', async () => {
    const { app, send } = things()
    app.use(({ url }) => (url.endsWith('/guarded') ? new Response('no') : undefined))
    const ids = new Set<string | null>()
    for (const path of ['/things', '/things?page=1', '/guarded', '/nothing', '/broken']) {
      const id = (await send('GET', path)).headers.get('x-request-id')
      expect(id).toMatch(UUID)
      ids.add(id)
    }
    expect(ids.size).toBe(5)
  })

  test('design, App: guards and hooks see the id as request.requestId', async () => {
    const { app, send } = things()
    let seen = ''
    app.use(({ requestId }) => {
      seen = requestId
    })
    expect((await send('GET', '/things')).headers.get('x-request-id')).toBe(seen)
  })
})

describe('answers, Envelope and errors: the log', () => {
  test('answers, Envelope and errors: one structured line per failed request, none per success', async () => {
    const { send, log } = things()
    const { record } = await send('POST', '/things', { json: { name: 'a', code: 'X' } })
    await send('GET', '/things')
    await send('GET', `/things/${record._id}`)
    expect(log.lines).toEqual([])
    const failures = [
      await send('GET', '/nothing'),
      await send('GET', '/things/xyz'),
      await send('GET', `/things/${'f'.repeat(24)}`),
      await send('POST', '/things', { json: {} }),
      await send('POST', '/things', { json: { name: 5 } }),
      await send('POST', '/things', { json: { name: 'b', code: 'X' } }),
      await send('GET', '/things?sort=code'),
      await send('GET', '/broken'),
    ]
    expect(log.lines.map(({ details }) => [details.requestId, details.status])).toEqual(
      failures.map(({ body, status }) => [body.requestId, status]),
    )
    expect(log.lines[1]).toMatchObject({
      level: 'info',
      details: { method: 'GET', path: '/things/xyz', code: 'invalid-id' },
    })
  })

  test('security, secrets in logs: a 5xx line carries the stack, a 4xx line none', async () => {
    const { send, log } = things()
    await send('GET', '/broken')
    await send('GET', '/things/xyz')
    expect(log.lines[0]).toMatchObject({ level: 'error' })
    expect(String(log.lines[0]?.details.error)).toMatch(/^Error: broken\n\s+at /)
    expect(log.lines[1]).toMatchObject({ level: 'info' })
    expect(JSON.stringify(log.lines[1])).not.toMatch(/\bat .*:\d+:\d+/)
  })

  test('security, secrets in logs: of a refusal by the database, the rule is told and no value', async () => {
    const { app, send, log } = things()
    const cause = new Error('for type inet: "secret"')
    app.post('/refused', () => {
      throw new RefusedWrite('value', [], { cause, by: '22P02 network_in' })
    })
    expect(await send('POST', '/refused')).toMatchObject({ status: 400, body: { fields: {} } })
    expect(log.lines[0]?.details.database).toBe('22P02 network_in')
    expect(JSON.stringify(log.lines)).not.toContain('secret')
  })

  test('security, secrets in logs: the cause of a 5xx is logged with it', async () => {
    const { app, send, log } = things()
    app.use(() => {
      throw new Error('outer', { cause: new Error('inner') })
    })
    await send('GET', '/things')
    expect(String(log.lines[0]?.details.error)).toMatch(/outer[\s\S]*caused by: Error: inner/)
  })

  test('security, secrets in logs: no line holds a query string, a body or a token', async () => {
    const { send, log } = things()
    const mark = 'hunter2'
    const headers = { authorization: `Bearer ${mark}`, cookie: `session=${mark}` }
    const { record } = await send('POST', '/things', { json: { name: 'a', code: mark } })
    const path = `/things/${record._id}`
    await send('GET', `/nothing?token=${mark}`, { headers })
    await send('GET', `/broken?token=${mark}`, { headers })
    for (const parameter of [
      'sort',
      'rangeField',
      'compareField',
      'cursor',
      's[]',
      'name[$ne]',
      `${mark}[a]`,
      'compareOperator',
    ]) {
      await send('GET', `/things?range=1-2&compareField=name&compareValue=1&${parameter}=${mark}`, {
        headers,
      })
    }
    await send('GET', `/things/${'f'.repeat(24)}?token=${mark}`, { headers })
    await send('POST', '/things', { json: { name: 5, [mark]: mark, code: mark }, headers })
    await send('POST', '/things', { json: { name: 'b', code: mark }, headers })
    await send('POST', '/things', { json: { [mark]: mark }, headers })
    await send('POST', '/things', {
      body: `{"name":"${mark}`,
      headers: { ...headers, 'content-type': 'application/json' },
    })
    await send('PATCH', path, { json: { name: [mark] }, headers })
    for (const json of [
      { [mark]: 1 },
      { filter: { [mark]: 1 } },
      { filter: { name: { [mark]: 1 } } },
      { sort: mark },
      { sort: `a' ${mark} 'b` },
      { cursor: mark },
    ]) {
      await send('QUERY', '/things', { json, headers })
    }
    expect(log.lines.length).toBeGreaterThan(15)
    expect(log.text).not.toContain(mark)
  })

  test('security, secrets in logs: a refusal keeps our own words and names of fields, and no other words of a client', async () => {
    const { app, send, log } = things()
    const own = (path: string, message: string) =>
      app.use(({ url }) => {
        if (url.endsWith(path)) throw new HttpError(409, message)
      })
    own('/one', "Send 'name' first.")
    own('/two', "Key 'hunter2' is taken.")
    own('/three', "Not 'hunter2' 'name'.")
    const query = (json: unknown) => send('QUERY', '/things', { json })
    await query({ filter: [] })
    await query({ limit: 1, page: 1 })
    await query({ sort: 'code' })
    await query({ sort: 'hunter2' })
    await query({ filter: { "name' is it": 1 } })
    await query({ hunter2: 1 })
    for (const path of ['/one', '/two', '/three']) await send('GET', path)
    expect(log.lines.map(({ details }) => details.error)).toEqual([
      "'filter' must be a JSON object.",
      "Use either 'limit' or 'page'/'pageSize', not both.",
      "Field 'code' is not sortable.",
      "Field '…' is not sortable.",
      "Field '…' is not filterable.",
      expect.stringMatching(/^Unknown key '…' in QUERY body\. Allowed: filter, /),
      "Send 'name' first.",
      "Key '…' is taken.",
      "Not '…'.",
    ])
  })

  test('security, forged log lines: line breaks and escapes of a client stay inside of one line', async () => {
    const { send } = service({ logger: undefined as never })
    const written: string[] = []
    const spy = vi
      .spyOn(console, 'info')
      .mockImplementation((line: string) => void written.push(line))
    try {
      const odd = '%0d%0aFAKE%1b[31m'
      await send('GET', `/${odd}?${odd}`, { headers: { 'x-request-id': 'a\u007f' } })
      await send('GET', `/nothing/${odd}`)
    } finally {
      spy.mockRestore()
    }
    expect(written).toHaveLength(2)
    for (const line of written) {
      expect(line).not.toMatch(/[\u0000-\u001f\u007f]/)
      expect(JSON.parse(line)).toMatchObject({
        level: 'info',
        message: 'request refused',
        status: 404,
      })
    }
  })

  test('security, hooks that misbehave: a logger that throws changes no answer', async () => {
    const throwing = () => {
      throw new Error('the disk is full')
    }
    const logger: Logger = { debug: throwing, info: throwing, warn() {}, error: throwing }
    const { send } = things({ logger })
    expect((await send('GET', '/nothing')).body).toMatchObject({
      success: false,
      error: 'Not found.',
    })
    expect((await send('GET', '/broken')).body).toMatchObject({
      success: false,
      error: 'Internal Server Error',
    })
  })
})

describe('2.2 stack and answers, Envelope and errors: development', () => {
  test('2.2 stack · security, internals: only with development true', async () => {
    const quiet = await things().send('GET', '/broken')
    expect(quiet.body).not.toHaveProperty('stack')
    const { send } = things({ development: true })
    const answer = await send('GET', '/broken')
    expect(answer.body.error).toBe('Internal Server Error')
    expect(answer.body.stack).toMatch(/^Error: broken\n\s+at /)
  })

  test.each([{}, { NODE_ENV: 'development' }, { NODE_ENV: 'staging' }, { NODE_ENV: '' }])(
    'security, internals: the environment %o is production',
    async (env) => {
      const { send } = things({ env })
      const answer = await send('GET', '/broken')
      expect(answer.body).toEqual({
        success: false,
        error: 'Internal Server Error',
        requestId: expect.any(String),
      })
    },
  )
})

describe('answers, Envelope and errors: onError', () => {
  test('answers, Envelope and errors: it gets the error, the request and the context, and answers', async () => {
    const onError: ErrorHandler = (error, { requestId }, { headers }) => {
      headers.set('X-Seen', 'yes')
      return Response.json({ oops: String(error), requestId }, { status: 418 })
    }
    const { send } = things({ onError })
    const answer = await send('GET', '/broken')
    expect(answer.status).toBe(418)
    expect(answer.body).toEqual({
      oops: 'Error: broken',
      requestId: answer.headers.get('x-request-id'),
    })
    expect(answer.headers.get('x-seen')).toBe('yes')
    expect((await send('GET', '/nothing')).body).toMatchObject({ oops: 'HttpError: Not found.' })
  })

  test('answers, Envelope and errors: errorHandler({ development }) is such a function', async () => {
    const { send } = things({ onError: errorHandler({ development: true }) })
    expect((await send('GET', '/broken')).body.stack).toContain('Error: broken')
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('onError is broken')
      },
    ],
    [
      'rejects',
      async () => {
        throw new HttpError(400, 'a detail')
      },
    ],
    ['returns nothing', () => undefined],
    ['returns no Response', () => ({ status: 200 })],
  ])(
    'security, hooks that misbehave: an onError that %s gives the plain envelope',
    async (_, onError) => {
      const { send, log } = things({ onError: onError as unknown as ErrorHandler })
      const answer = await send('GET', '/nothing')
      expect(answer.status).toBe(500)
      expect(answer.body).toEqual({
        success: false,
        error: 'Internal Server Error',
        requestId: answer.headers.get('x-request-id'),
      })
      expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
    },
  )

  test('security, hooks that misbehave: an HttpError with impossible headers gives the plain envelope', async () => {
    const { app, send } = things()
    app.use(() => {
      throw new HttpError(400, 'a detail', { headers: { 'bad name': 'x' } })
    })
    expect((await send('GET', '/things')).body).toMatchObject({
      success: false,
      error: 'Internal Server Error',
    })
  })
})

describe('security, internals: what a client sees of a failure', () => {
  test('security, internals: no answer tells of stacks, stores or paths', async () => {
    const { app } = things()
    const odd = [
      '\u0000',
      '\ud800',
      "'",
      '"',
      '`',
      '$where',
      '../../etc/passwd',
      '%00',
      'a'.repeat(5000),
      '1e309',
      '-',
      '__proto__',
    ]
    const internals =
      /\bat .*:\d+:\d+|mongo|sqlite|E11000|node_modules|\/src\/|\.ts\b|TypeError|ZodError/i
    for (const text of odd) {
      const value = encodeURIComponent(text.toWellFormed())
      for (const [method, path, json] of [
        [
          'GET',
          `/things?name=${value}&s=${value}&sort=${value}&rangeField=${value}&range=${value}`,
          undefined,
        ],
        ['GET', `/things?${value}=${value}&cursor=${value}&page=${value}`, undefined],
        ['GET', `/things/${value}`, undefined],
        ['POST', '/things', { name: text, code: text, [text]: text }],
        ['POST', '/things', { name: { [text]: text } }],
        ['QUERY', '/things', { filter: { [text]: text }, sort: text }],
        ['QUERY', '/things', { filter: { name: text }, search: text }],
      ] as const) {
        const answer = await answerOf(await app.handle(request(method, path, { json })))
        expect(answer.status, `${method} ${path}`).toBeLessThan(500)
        expect(answer.text.replaceAll(JSON.stringify(text).slice(1, -1), '')).not.toMatch(internals)
      }
    }
  })
})
