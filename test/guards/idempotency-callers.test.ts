import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { apiKey, idempotency } from '../../src/guards/index.ts'
import {
  type ApiRequest,
  createApp,
  createRouter,
  defineModel,
  type Guard,
  HttpError,
} from '../../src/index.ts'
import { apiKeys } from '../../src/methods/api-keys/index.ts'
import { service as accountService } from '../auth/service.ts'
import { answerOf, request } from '../records/service.ts'

const Secret = defineModel('IdempotentSecret', {
  fields: { text: z.string(), owner: z.string().optional(), salary: z.number().default(1) },
})
const USERS: Readonly<Record<string, string>> = { ka: 'ann', kb: 'bob' }

/** Refuses what it does not know, by any header. */
function own(header: string, sets: boolean): Guard {
  return (request) => {
    const userId = USERS[request.headers.get(header)?.replace(/^.*=/, '') ?? '']
    if (!userId) throw new HttpError(401, 'Who are you?')
    if (sets) request.auth = { userId, role: request.headers.get('x-role') ?? 'user' }
  }
}

/** Guards of all kinds, each with the header that it reads. */
const GUARDS: Readonly<Record<string, readonly [Guard, string]>> = {
  'apiKey with its own header': [
    apiKey({ header: 'X-Partner', keys: (key) => USERS[key] }),
    'X-Partner',
  ],
  'a guard that sets request.auth': [own('x-user', true), 'X-User'],
  'a guard that leaves nothing': [own('x-member', false), 'X-Member'],
  'a guard that reads a cookie': [own('cookie', false), 'Cookie'],
  'a guard that reads whom oauth2-proxy names': [
    own('x-forwarded-user', false),
    'X-Forwarded-User',
  ],
  'a guard that reads whom Cloudflare Access names': [
    own('cf-access-authenticated-user-email', false),
    'Cf-Access-Authenticated-User-Email',
  ],
}

/** Where the guards stand: idempotency first, in the app, the router or the access of a route. */
const PLACES: Readonly<Record<string, (guard: Guard) => { app: Guard[]; router: object }>> = {
  'in the router, behind the app': (guard) => ({
    app: [idempotency({ ttlSeconds: 60 })],
    router: { middlewares: [guard] },
  }),
  'in the access of the route': (guard) => ({
    app: [],
    router: { middlewares: [idempotency({ ttlSeconds: 60 })], access: { create: [guard] } },
  }),
  'in the app, after it': (guard) => ({
    app: [idempotency({ ttlSeconds: 60 }), guard],
    router: { middlewares: [] },
  }),
}

function secrets({ app: guards, router }: { app: Guard[]; router: object }) {
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const app = createApp({ store: sqliteStore(), logger })
  onTestFinished(() => app.close())
  for (const guard of guards) app.use(guard)
  app.mount('/m', createRouter({ model: Secret, allowedFields: ['text'], ...router } as never))
  app.mount('/batch', batch())
  const ask = async (path: string, body: object, headers: Record<string, string>) => {
    const json = { 'Content-Type': 'application/json', ...headers }
    const init = { method: 'POST', headers: json, body: JSON.stringify(body) }
    const response = await app.handle(new Request(`http://localhost${path}`, init))
    const replayed = response.headers.has('idempotency-replayed')
    return { status: response.status, replayed, text: await response.text() }
  }
  return { app, ask, count: () => app.store.collection(Secret).count() }
}

const BODIES = {
  'a create': ['/m', { text: 'secret' }],
  'a batch': ['/batch', { operations: [{ method: 'POST', path: '/m', body: { text: 'secret' } }] }],
} as const

const CASES = Object.keys(GUARDS).flatMap((guard) =>
  Object.keys(PLACES).flatMap((place) =>
    Object.keys(BODIES).map((body) => [guard, place, body as keyof typeof BODIES] as const),
  ),
)

describe('a kept response goes to the caller who got it first', () => {
  it.each(CASES)('%s, %s: %s', async (name, place, body) => {
    const [guard, header] = GUARDS[name] as readonly [Guard, string]
    const made = PLACES[place]?.(guard)
    if (!made) throw new Error(place)
    const { ask, count } = secrets(made)
    const [path, sent] = BODIES[body]
    const as = (value?: string) =>
      ask(path, sent, { 'Idempotency-Key': '1', ...(value && { [header]: value }) })
    const success = body === 'a batch' ? 200 : 201
    const first = await as('ka')
    expect([first.status, first.replayed]).toEqual([success, false])
    for (const stranger of [undefined, 'zz']) {
      expect(await as(stranger)).toMatchObject({ status: 401, replayed: false })
    }
    const other = await as('kb')
    expect([other.status, other.replayed, other.text === first.text]).toEqual([
      success,
      false,
      false,
    ])
    const again = await as('ka')
    expect([again.replayed, again.text]).toEqual([true, first.text])
    expect(await count()).toBe(2)
  })
})

it('an API key gets nothing that was kept for its owner, nor for another key', async () => {
  const { app, auth, register, post } = await accountService({ auth: { methods: [apiKeys()] } })
  app.mount(
    '/m',
    createRouter({
      ...{ model: Secret, allowedFields: ['text'] },
      middlewares: [auth.requireAuth, idempotency({ ttlSeconds: 60 })],
      fieldsFor: ({ auth: by }: ApiRequest) => (by?.claims?.key ? ['text'] : undefined),
    }),
  )
  const { token } = await register('ann@example.com')
  const keyOf = async () => {
    const allow = [{ mount: '/m', actions: ['create'] }]
    return (await post('/auth/keys', { name: 'k', allow }, token)).body.data.key as string
  }
  const [one, other] = [await keyOf(), await keyOf()]
  const made = async (bearer: string) => {
    const headers = { authorization: `Bearer ${bearer}`, 'idempotency-key': 'k' }
    const { record } = await answerOf(
      await app.handle(request('POST', '/m', { json: { text: 'a' }, headers })),
    )
    return [Object.keys(record), record._id] as const
  }
  const ids = new Set<unknown>()
  for (const bearer of [token, one, other]) {
    const [names, id] = await made(bearer)
    expect(names.includes('salary')).toBe(bearer === token)
    expect(await made(bearer)).toEqual([names, id])
    ids.add(id)
  }
  expect(ids.size).toBe(3)
})

it.each([
  ['Varnish', 'x-varnish'],
  ['nginx and Heroku', 'x-request-start'],
  ['CloudFront', 'x-amz-cf-id'],
  ['Azure', 'x-azure-ref'],
  ['Azure App Service', 'x-arr-log-id'],
  ['Vercel', 'x-vercel-id'],
  ['Kong', 'x-kong-request-id'],
  ['Traffic Server', 'client-ip'],
])('a repetition through %s, which numbers requests anew, is no other one', async (_, name) => {
  const { ask, count } = secrets({ app: [idempotency({ ttlSeconds: 60 })], router: {} })
  const through = async (value: string) =>
    (await ask('/m', { text: 'a' }, { 'Idempotency-Key': '1', [name]: value })).replayed
  expect([await through('1'), await through('2'), await count()]).toEqual([false, true, 1])
})

it('a user with another role gets neither the response of before nor a second record', async () => {
  const router = {
    middlewares: [own('x-user', true)],
    fieldsFor: (request: ApiRequest) => (request.auth?.role === 'boss' ? undefined : ['text']),
  }
  const { ask, count } = secrets({ app: [idempotency({ ttlSeconds: 60 })], router })
  const as = (role: string) =>
    ask('/m', { text: 'a' }, { 'Idempotency-Key': '1', 'X-User': 'ka', 'X-Role': role })
  expect((await as('boss')).text).toContain('salary')
  const { status, text } = await as('user')
  expect([status, text.includes('salary')]).toEqual([422, false])
  expect(await count()).toBe(1)
})

it('a user of two tenants gets nothing in one that was kept in the other, and the same with a newer token', async () => {
  const tenants: Guard = (request) => {
    const { headers } = request
    const claims = { tenant: headers.get('x-tenant'), jti: headers.get('x-jti') }
    request.auth = { userId: 'ann', claims }
  }
  const { ask, count } = secrets({
    app: [],
    router: { middlewares: [tenants, idempotency({ ttlSeconds: 60 })] },
  })
  const as = async (tenant: string, jti: string) => {
    const headers = { 'Idempotency-Key': '1', 'X-Tenant': tenant, 'X-Jti': jti }
    const { status, replayed } = await ask('/m', { text: 'a' }, headers)
    return [status, replayed]
  }
  expect(await as('one', '1')).toEqual([201, false])
  expect(await as('two', '1')).toEqual([422, false])
  expect(await as('one', '2')).toEqual([201, true])
  expect(await count()).toBe(1)
})

describe('a batch carries its key for all of its operations', () => {
  const required = {
    app: [],
    router: { middlewares: [idempotency({ ttlSeconds: 60, required: true })] },
  }
  const create = (text: string) => ({ method: 'POST', path: '/m', body: { text } })

  it('to routers that demand one, and is written once', async () => {
    const { ask, count } = secrets(required)
    const sent = { operations: [create('a'), create('b')] }
    const first = await ask('/batch', sent, { 'Idempotency-Key': 'k' })
    const again = await ask('/batch', sent, { 'Idempotency-Key': 'k' })
    expect([first.status, first.replayed]).toEqual([200, false])
    expect([again.status, again.replayed, again.text]).toEqual([200, true, first.text])
    expect(await count()).toBe(2)
    expect(
      (await ask('/batch', { operations: [create('c')] }, { 'Idempotency-Key': 'k' })).status,
    ).toBe(422)
  })

  it('and is refused without one', async () => {
    const { ask, count } = secrets(required)
    const { status, text } = await ask('/batch', { operations: [create('a')] }, {})
    expect([status, JSON.parse(text).error]).toEqual([400, 'An Idempotency-Key is required.'])
    expect(await count()).toBe(0)
  })

  it('which is free again if nothing was written', async () => {
    const { ask, count } = secrets(required)
    const wrong = { operations: [create('a'), { method: 'POST', path: '/m', body: { text: 1 } }] }
    expect((await ask('/batch', wrong, { 'Idempotency-Key': 'k' })).status).toBe(400)
    const right = await ask('/batch', { operations: [create('a')] }, { 'Idempotency-Key': 'k' })
    expect([right.status, right.replayed, await count()]).toEqual([200, false, 1])
  })
})
