import { describe, expect, test } from 'vitest'
import { ControllerSets } from '../../../extras/legacy/index.ts'
import { batch } from '../../../src/batch/index.ts'
import {
  type ApiRequest,
  createAuthRouter,
  createRouter,
  defineModel,
  type Guard,
  userFields,
} from '../../../src/index.ts'
import { type Service, service } from '../service.ts'
import { type Loose, Note, notes, post } from './notes.ts'

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
  [
    'Object.defineProperty(body)',
    (req) => Object.defineProperty(req.body, 'owner', { value: 'me' }),
    'blockedFields',
  ],
  [
    'body, defined anew',
    (req) => Object.defineProperty(req, 'body', { value: { text: 'b' } }),
    'blockedFields',
  ],
  ['a list in query', (req) => req.query.text.push('me'), 'scope: ({ auth })'],
  [
    'query, in a try',
    (req) => {
      try {
        req.query = {}
      } catch {}
    },
    'scope: ({ auth })',
  ],
  [
    'headers',
    (req) => {
      req.headers.role = 'admin'
    },
    'request.tenant = …',
  ],
]

/** Of a stream, each of these would find nothing, and the guard would let everything pass. */
const READS: readonly (readonly [what: string, habit: (req: Loose) => unknown])[] = [
  ['body.owner', (req) => req.body.owner],
  ["'owner' in body", (req) => 'owner' in req.body],
  ['hasOwn(body)', (req) => Object.hasOwn(req.body, 'owner')],
  ['Object.keys(body)', (req) => Object.keys(req.body)],
  ['{ ...body }', (req) => ({ ...req.body })],
  ['JSON of body', (req) => JSON.stringify(req.body)],
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
  "req.headers.role = 'admin'",
].map((code) => [code, new Function('req', code) as (req: Loose) => void])

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

  test('without strict mode, where nothing was asked for', async () => {
    const on = notes({ middlewares: [new Function('req', "req.query.owner = 'me'") as Guard] })
    expect((await on.send('GET', '/notes')).status).toBe(500)
  })

  test.each(READS)('a guard that reads %s is a 500 that says what to read', async (_, habit) => {
    const on = notes({ middlewares: [(request) => void habit(request)] })
    expect(await post(on)).toMatchObject({ status: 500 })
    expect(await count(on)).toBe(0)
    expect(on.log.text).toContain('a guard or hook reads request.body')
    expect(on.log.text).toContain('(await request.clone().json())')
  })

  test.each<readonly [what: string, onGet: (req: Loose) => Loose]>([
    [
      'request.query =',
      (req) => {
        req.query = { ...req.query }
        return { select: ['text'] }
      },
    ],
    [
      'without strict mode',
      new Function('req', "req.query.a = ''; return { select: ['text'] }") as Loose,
    ],
    [
      'and another error after it',
      (req) => {
        req.query.a = ''
        throw new Error('x')
      },
    ],
  ])('in onGet, which would else show what select leaves out: %s', async (_, onGet) => {
    const on = notes({ onGet })
    const { _id } = await on.app.store.collection(Note).insert({ text: 'a', owner: 'secret' })
    for (const path of ['/notes', '/notes?text=a', `/notes/${_id}`]) {
      const answer = await on.send('GET', path)
      expect(answer.status).toBe(500)
      expect(answer.text).not.toContain('secret')
    }
    const changed = await on.send('PATCH', `/notes/${_id}`, { json: { text: 'b' } })
    expect(changed.status).toBe(500)
    expect(changed.text).not.toContain('secret')
  })

  test('an onGet that fails in any other way is one that reads without it', async () => {
    const on = notes({
      onGet: () => {
        throw new Error('x')
      },
    })
    expect((await on.send('GET', '/notes')).status).toBe(200)
  })

  test('in hooks after a write it is in the log, and the record stays', async () => {
    const on = notes({ runAfterCreate: (_, request) => nothing(request) })
    expect((await post(on)).status).toBe(201)
    expect(on.log.text).toContain('request.body.owner')
    const strict = notes({ runAfterCreate: (_, req) => nothing(req), strictAfterCreate: true })
    expect((await post(strict)).status).toBe(500)
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

  test('in password.check', async () => {
    const User = defineModel('User', { fields: userFields(), unique: ['email'] })
    const on = service()
    const auth = createAuthRouter({
      model: User,
      token: { secret: 'a secret that is only good for tests 1' },
      password: { check: (_, { request }) => nothing(request) as undefined },
    })
    on.app.mount('/auth', auth.router)
    const json = { email: 'ann@example.com', password: 'a long enough password' }
    expect((await on.send('POST', '/auth/register', { json })).status).toBe(500)
    expect(await on.app.store.collection(User).count()).toBe(0)
  })

  test('after the guard has passed its request on to another app', async () => {
    const inner = notes()
    for (const habit of [HABITS[1]?.[1], HABITS[5]?.[1], HABITS[6]?.[1]]) {
      const on = notes({
        middlewares: [
          async (request) => {
            expect((await inner.app.handle(request)).status).toBe(404)
            habit?.(request)
          },
        ],
      })
      const json = { text: 'x' }
      expect((await on.send('POST', '/notes/?text=a', { json })).status).toBe(500)
      expect(await count(on)).toBe(0)
    }
  })

  test('before the guard passes its request on to another app', async () => {
    const inner = notes()
    const on = service()
    on.app.use((request: Loose) => {
      request.query.text = 'mine'
      return inner.app.handle(request)
    })
    expect((await on.send('GET', '/notes?text=a')).status).toBe(500)
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
