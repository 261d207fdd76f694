import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { batch } from '../../../src/batch/index.ts'
import {
  type ApiRequest,
  createAuthRouter,
  createRouter,
  defineModel,
  type Guard,
  HttpError,
  type RouterOptions,
  userFields,
} from '../../../src/index.ts'
import { ControllerSets } from '../../../src/legacy/index.ts'
import { type Answer, type Service, service } from '../service.ts'

/** What guards of JavaScript get: no type says that `body` is a stream. */
// biome-ignore lint/suspicious/noExplicitAny: the habits that these tests show do not compile otherwise.
type Loose = any

const Note = defineModel('Note', {
  fields: { text: z.string(), owner: z.string().optional() },
})

type Options = Partial<RouterOptions<{ text: string; owner?: string | undefined }>>

const HABITS: readonly (readonly [what: string, habit: (req: Loose) => void, told: string])[] = [
  [
    'body',
    (req) => {
      req.body = { text: 'x' }
    },
    'validate: (payload, { req })',
  ],
  [
    'body.owner',
    (req) => {
      req.body.owner = 'me'
    },
    'validate: (payload, { req })',
  ],
  [
    "body['a b']",
    (req) => {
      req.body['a b'] = 'me'
    },
    'validate: (payload, { req })',
  ],
  [
    'delete body.owner',
    (req) => {
      delete req.body.owner
    },
    'blockedFields',
  ],
  ['Object.assign(body)', (req) => Object.assign(req.body, { owner: 'me' }), 'validate:'],
  [
    'query',
    (req) => {
      req.query = { owner: 'me' }
    },
    'scope: ({ auth })',
  ],
  [
    'query.owner',
    (req) => {
      req.query.owner = 'me'
    },
    'scope: ({ auth })',
  ],
  [
    'query.text',
    (req) => {
      req.query.text = 'me'
    },
    'scope: ({ auth })',
  ],
  [
    'delete query.text',
    (req) => {
      delete req.query.text
    },
    'scope: ({ auth })',
  ],
  [
    'user',
    (req) => {
      req.user = { _id: '1' }
    },
    'request.auth = {',
  ],
]

/** The same in code without strict mode, such as CommonJS modules have: an ordinary failed assignment is silent there. */
const SLOPPY: readonly (readonly [what: string, habit: (req: Loose) => void])[] = [
  'req.body = {}',
  "req.body.owner = 'me'",
  'delete req.body.owner',
  'req.query = {}',
  "req.query.text = 'me'",
  'delete req.query.text',
  'req.user = {}',
].map((code) => [code, new Function('req', code) as (req: Loose) => void])

function notes(options: Options = {}): Service {
  const on = service()
  on.app.mount(
    '/notes',
    createRouter({ model: Note, query: ['text', 'owner'], middlewares: [], ...options } as Loose),
  )
  return on
}

const post = (on: Service): Promise<Answer> =>
  on.send('POST', '/notes?text=a', { json: { text: 'x', owner: 'you' } })

async function count(on: Service): Promise<number> {
  return on.app.store.collection(Note).count()
}

describe('writes to a request that nothing reads are refused', () => {
  test.each(HABITS)(
    'a guard that writes to %s is a 500 that says what to write',
    async (_, habit, told) => {
      const on = notes({ middlewares: [habit as Guard] })
      expect(await post(on)).toMatchObject({ status: 500, body: { success: false } })
      expect(await count(on)).toBe(0)
      expect(on.log.text).toContain('a guard or hook writes to request.')
      expect(on.log.text).toContain(told)
    },
  )

  test.each(SLOPPY)('without strict mode too: %s', async (_, habit) => {
    const on = notes({ middlewares: [habit as Guard] })
    expect((await post(on)).status).toBe(500)
    expect(await count(on)).toBe(0)
  })

  const bad: Guard = (request) => {
    Object.assign(request.body as object, { owner: 'me' })
  }
  const nothing = (request: ApiRequest) => void bad(request, undefined as never)

  test.each<readonly [where: string, make: () => Service]>([
    [
      'app.use',
      () => {
        const on = notes()
        on.app.use(bad)
        return on
      },
    ],
    [
      'an early guard',
      () => {
        const on = notes()
        on.app.use(Object.assign((...given: Parameters<Guard>) => bad(...given), { early: true }))
        return on
      },
    ],
    ['middlewares', () => notes({ middlewares: [() => undefined, bad] })],
    ['access', () => notes({ access: { create: bad } })],
    ['validate', () => notes({ validate: (_, { req }) => nothing(req) })],
    ['scope', () => notes({ scope: (request) => nothing(request) })],
    ['fieldsFor', () => notes({ fieldsFor: (request) => nothing(request) as undefined })],
  ])('in %s', async (_, make) => {
    const on = make()
    expect(await post(on)).toMatchObject({ status: 500 })
    expect(await count(on)).toBe(0)
    expect(on.log.text).toContain('request.body.owner')
  })

  test('in beforeUpdate and beforeRemove', async () => {
    const on = notes({
      beforeUpdate: ({ request }) => nothing(request),
      beforeRemove: ({ request }) => {
        request.query = {}
      },
    })
    const { _id } = await on.app.store.collection(Note).insert({ text: 'a' })
    expect((await on.send('PATCH', `/notes/${_id}`, { json: { text: 'b' } })).status).toBe(500)
    expect((await on.send('DELETE', `/notes/${_id}`)).status).toBe(500)
    expect(await on.app.store.collection(Note).findById(_id)).toMatchObject({ text: 'a' })
  })

  test('in the guards of an extra route, whose handler may write again', async () => {
    const on = service()
    const router = createRouter({ model: Note, middlewares: [] })
    router.post('/guarded', bad, () => Response.json({}))
    router.post(
      '/free',
      () => undefined,
      (request: Loose) => {
        request.query = { a: '1' }
        request.user = { _id: '2' }
        return Response.json([request.query, request.user])
      },
    )
    on.app.mount('/notes', router)
    expect((await on.send('POST', '/notes/guarded', { json: {} })).status).toBe(500)
    const free = await on.send('POST', '/notes/free', { json: {} })
    expect([free.status, free.text]).toEqual([200, '[{"a":"1"},{"_id":"2"}]'])
  })

  test('in the guards of an auth router', async () => {
    const User = defineModel('User', { fields: userFields(), unique: ['email'] })
    const on = service()
    const auth = createAuthRouter({
      model: User,
      token: { secret: 'a secret that is only good for tests 1' },
      middlewares: { register: [bad] },
    })
    on.app.mount('/auth', auth.router)
    const json = { email: 'ann@example.com', password: 'a long enough password' }
    expect((await on.send('POST', '/auth/register', { json })).status).toBe(500)
    expect(await on.app.store.collection(User).count()).toBe(0)
  })

  test('in a batch', async () => {
    const on = notes({ middlewares: [bad] })
    on.app.mount('/batch', batch())
    const operations = [{ method: 'POST', path: '/notes', body: { text: 'a' } }]
    const answer = await on.send('POST', '/batch', { json: { operations } })
    expect(answer).toMatchObject({ status: 500 })
    expect(await count(on)).toBe(0)
    expect(on.log.text).toContain('request.body.owner')
  })

  test('in the guards of ControllerSets', async () => {
    const on = service()
    const sets = new ControllerSets({ model: Note, middlewares: [bad] } as Loose)
    const router = createRouter({ model: Note, middlewares: [] })
    router.post('/set', sets.create)
    on.app.mount('/notes', router)
    expect((await on.send('POST', '/notes/set', { json: { text: 'a' } })).status).toBe(500)
    expect(await count(on)).toBe(0)
  })
})

describe('what guards may still do', () => {
  test('read the body in every way, and the route reads it again from a copy', async () => {
    const seen: unknown[] = []
    const on = notes({
      middlewares: [
        async (request) => {
          const copies = [1, 2, 3, 4].map(() => request.clone())
          const [json, text, passed, streamed] = copies as [Request, Request, Request, Request]
          seen.push(await json.json(), await text.text())
          seen.push(await new Response(passed.body).json())
          seen.push((await streamed.body?.getReader().read())?.value?.length)
        },
      ],
    })
    expect((await post(on)).status).toBe(201)
    const json = { text: 'x', owner: 'you' }
    expect(seen).toEqual([json, JSON.stringify(json), json, JSON.stringify(json).length])
  })

  test('take the body: its stream works as one', async () => {
    const seen: unknown[] = []
    const on = service()
    on.app.use(async ({ body }) => {
      const [one, two] = (body as ReadableStream<Uint8Array>).tee()
      seen.push(body === null, body instanceof ReadableStream, body?.locked)
      seen.push(await new Response(one).json())
      for await (const chunk of two) seen.push(chunk.length)
      return new Response('taken')
    })
    expect((await on.send('POST', '/', { json: { a: 1 } })).text).toBe('taken')
    expect(seen).toEqual([false, true, true, { a: 1 }, 7])
  })

  test('pass the request on to another app, whose guards are shielded too', async () => {
    const inner = notes({ middlewares: [() => undefined, (request: Loose) => request.query.text] })
    const outer = service()
    outer.app.use((request) => inner.app.handle(request))
    expect((await outer.send('POST', '/notes', { json: { text: 'x' } })).status).toBe(201)
    const wrong = notes({ middlewares: [HABITS[1]?.[1] as Guard] })
    const around = service()
    around.app.use((request) => wrong.app.handle(request))
    expect((await post(around)).status).toBe(500)
  })

  test('define request.query anew, as upstream told to', async () => {
    const on = notes({
      middlewares: [
        (request) => void Object.defineProperty(request, 'query', { value: { owner: 'me' } }),
        () => undefined,
      ],
    })
    const records = on.app.store.collection(Note)
    await records.insert({ text: 'a', owner: 'me' })
    await records.insert({ text: 'b', owner: 'you' })
    expect((await on.send('GET', '/notes?text=b')).records).toMatchObject([{ text: 'a' }])
  })

  test('read the query, set request.auth, and add members of their own', async () => {
    const seen: unknown[] = []
    const on = notes({
      middlewares: [
        (request: Loose) => {
          seen.push({ ...request.query }, Object.keys(request.query), JSON.stringify(request.query))
          request.auth = { userId: 'ann' }
          request.tenant = 'acme'
        },
        (request: Loose) => {
          seen.push(request.auth, request.tenant)
          if (!request.query.text) throw new HttpError(400, 'no text')
        },
      ],
    })
    expect((await on.send('GET', '/notes?text=b')).status).toBe(200)
    const query = { text: 'b' }
    expect(seen).toEqual([query, ['text'], JSON.stringify(query), { userId: 'ann' }, 'acme'])
  })
})

describe('request.user', () => {
  test('has id beside _id, once in JSON, and cannot be written by guards', async () => {
    const User = defineModel('User', {
      fields: { ...userFields(), name: z.string().optional() },
      unique: ['email'],
    })
    const auth = createAuthRouter({
      model: User,
      token: { secret: 'a secret that is only good for tests 1' },
    })
    const seen: Loose[] = []
    const promote = (req: Loose) => {
      req.user.role = 'admin'
    }
    const on = service()
    on.app.mount('/auth', auth.router)
    on.app.mount(
      '/mine',
      createRouter({
        model: Note,
        middlewares: [auth.requireAuth],
        validate: (payload, { req }) => {
          seen.push(req.user?.id, req.user?._id, JSON.stringify(req.user), { ...req.user })
          return { ...payload, owner: String(req.user?.id) }
        },
      }),
    )
    on.app.mount(
      '/wrong',
      createRouter({
        model: Note,
        middlewares: [auth.requireAuth, promote],
      }),
    )
    const json = { email: 'ann@example.com', password: 'a long enough password' }
    const { token } = (await on.send('POST', '/auth/register', { json })).record
    const headers = { authorization: `Bearer ${token}` }
    const note = await on.send('POST', '/mine', { json: { text: 'a' }, headers })
    const [id, _id, text, copy] = seen
    expect(id).toMatch(/^[0-9a-f]{24}$/)
    expect([_id, note.record.owner]).toEqual([id, id])
    expect(text).not.toContain('"id"')
    expect(copy).not.toHaveProperty('id')
    expect((await on.send('GET', '/wrong', { headers })).status).toBe(500)
    expect(on.log.text).toContain('request.user.role')
  })

  test("a field named 'id' stays what it is", async () => {
    const User = defineModel('User', {
      fields: { ...userFields(), id: z.string().optional() },
      unique: ['email'],
    })
    const auth = createAuthRouter({
      model: User,
      token: { secret: 'a secret that is only good for tests 1' },
      registerFields: ['id'],
    })
    const on = service()
    on.app.mount('/auth', auth.router)
    const router = createRouter({ model: Note, middlewares: [auth.requireAuth] })
    router.get('/who', (request) => Response.json({ id: request.user?.id }))
    on.app.mount('/notes', router)
    const json = { email: 'ann@example.com', password: 'a long enough password', id: 'A-1' }
    const { token } = (await on.send('POST', '/auth/register', { json })).record
    const headers = { authorization: `Bearer ${token}` }
    expect((await on.send('GET', '/notes/who', { headers })).body).toEqual({ id: 'A-1' })
  })
})

describe('a middleware of Express is a start-up error', () => {
  const middleware = (_req: unknown, _res: unknown, next: () => void) => next()
  const told = /the function 'middleware' with 3 parameters.*next\(\).*toExpress\(app\)/

  test.each<readonly [where: string, start: () => unknown]>([
    ['app.use', () => service().app.use(middleware as Loose)],
    ['middlewares', () => notes({ middlewares: [middleware as Loose] })],
    ['access', () => notes({ access: { update: middleware as Loose } })],
    [
      'a list of access',
      () => notes({ access: { update: [() => undefined, middleware as Loose] } }),
    ],
    [
      'an extra route',
      () => createRouter({ model: Note }).get('/a', middleware as Loose, () => new Response()),
    ],
    [
      'the handler of an extra route',
      () => createRouter({ model: Note }).get('/a', middleware as Loose),
    ],
    [
      'an auth router',
      () =>
        createAuthRouter({
          model: defineModel('User', { fields: userFields(), unique: ['email'] }),
          token: { secret: 'a secret that is only good for tests 1' },
          middlewares: { login: [middleware as Loose] },
        }),
    ],
  ])('in %s', (_, start) => {
    expect(start).toThrow(TypeError)
    expect(start).toThrow(told)
  })

  test('an error handler of Express too, and one without a name', () => {
    const unnamed = [(_error: unknown, _req: unknown, _res: unknown, _next: unknown) => undefined]
    expect(() => notes({ middlewares: unnamed as Loose })).toThrow(
      "the function '' with 4 parameters",
    )
  })
})
