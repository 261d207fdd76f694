/** A file of a list is sent while it is read, which takes as long as its reader likes: it goes on only while they may see it. */

import { afterEach, expect, it, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { serve } from '../../../adapters/runtimes/node.ts'
import { compress } from '../../../src/guards/index.ts'
import {
  type AuthContext,
  type AuthOptions,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type RouterOptions,
  ref,
  userFields,
} from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { cheap, password, secret } from '../../auth/accounts.ts'
import { oldToken } from '../../auth/old-service.ts'
import { type Message, request, service } from '../service.ts'

const refresh = { enabled: true } as const
const User = defineModel('EndedUser', {
  fields: {
    ...userFields({ refresh }),
    ...{ team: z.string().default('a'), isWhole: z.boolean().default(true) },
    isOut: z.boolean().default(false),
  },
  unique: ['email'],
})
const Kind = defineModel('EndedKind', { fields: { title: z.string(), team: z.string() } })
const Row = defineModel('EndedRow', {
  fields: { name: z.string(), team: z.string(), kind: ref('EndedKind').optional() },
})
type Values = { name: string; team: string; kind?: string }
type Options = Partial<RouterOptions<Values>>

/** As many as three parts have. */
const ROWS = 1200

let passed = 0
const now = performance.now.bind(performance)
afterEach(() => void vi.restoreAllMocks())

/** From now on, time passes as the test says, too. */
function slowly(): void {
  passed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passed)
}

async function world(options: Options = {}, settings: Partial<AuthOptions<Fields>> = {}) {
  slowly()
  const made = service({ secret, methodOverride: true })
  const { app } = made
  const auth = createAuthRouter({
    ...{ model: User, token: { secret }, password: cheap, methods: [apiKeys()], refresh },
    ...{ registerFields: [], fields: { disabled: 'isOut' }, roles: { list: ['user', 'clerk'] } },
    ...(settings as object),
  })
  const rules: Options = {
    middlewares: [auth.requireAuth],
    scope: ({ user }) => ({ team: String(user?.team) }),
    fieldsFor: ({ user }) => (user?.isWhole ? undefined : ['name', 'kind']),
  }
  const common = {
    exportLimit: 10_000,
    expandable: ['kind'],
    search: ['name'],
    sortableFields: ['name'],
    ...rules,
  } as const
  app.mount('/auth', auth.router)
  app.mount('/kinds', createRouter({ model: Kind, ...(rules as object) }))
  app.mount('/rows', createRouter({ model: Row, ...common, ...options } as never))
  const guard = auth.requireRole('clerk')
  const clerks = { ...common, middlewares: [auth.requireAuth, guard], ...options }
  app.mount('/clerks', createRouter({ model: Row, ...clerks } as never))
  const { _id: kind } = await app.store.collection(Kind).insert({ title: 'k', team: 'a' })
  for (let at = 0; at < ROWS; at += 400) {
    await app.store.atomic(async (tx) => {
      for (let one = at; one < at + 400; one += 1)
        await tx.collection(Row).insert({ name: `n${one}`, team: 'a', kind })
    })
  }
  const users = app.store.collection(User)
  let count = 0
  const post = async (path: string, json: Fields, token = '') => {
    const { status, record } = await made.send('POST', path, { json, headers: bearer(token) })
    expect(status).toBeLessThan(300)
    return record
  }
  /** A new account, signed in. */
  const signedIn = async () => {
    count += 1
    const given = { email: `user${count}@example.com`, password }
    const { token, refreshToken, user } = await post('/auth/register', given)
    const id = String((user as Fields)._id)
    await users.update(id, { role: 'clerk' })
    return { id, token: String(token), refreshToken: String(refreshToken) }
  }
  const keyOf = (token: string, more: Fields = {}) =>
    post('/auth/keys', { name: 'k', allow: [{ mount: '*', actions: ['list'] }], ...more }, token)
  return { ...made, users, post, signedIn, keyOf }
}

type World = Awaited<ReturnType<typeof world>>
type Account = Awaited<ReturnType<World['signedIn']>>

const bearer = (token: string): Record<string, string> =>
  token ? { authorization: `Bearer ${token}` } : {}

const override = { 'x-http-method-override': 'QUERY' }
const NDJSON = { accept: 'application/x-ndjson' }

/** The doors through which a whole list is sent. */
const DOORS: Readonly<Record<string, readonly [string, string, Message]>> = {
  ndjson: ['GET', '/rows', { headers: NDJSON }],
  csv: ['GET', '/rows', { headers: { accept: 'text/csv' } }],
  query: ['QUERY', '/rows', { json: { sort: '-name' }, headers: NDJSON }],
  'query as a post': ['POST', '/rows', { json: {}, headers: { ...NDJSON, ...override } }],
  searched: ['GET', '/rows?s=n&sort=name', { headers: NDJSON }],
  chosen: ['GET', '/rows?select=name,kind.title&expand=kind', { headers: { accept: 'text/csv' } }],
  'of a role': ['GET', '/clerks', { headers: NDJSON }],
}

/** The lines that come, or what breaks off after some; `then` is awaited after the first part, and a second is over. */
async function linesOf(
  { app }: World,
  [method, path, { headers, ...rest }]: readonly [string, string, Message],
  token: string,
  then: () => unknown = () => {},
): Promise<unknown> {
  const asked = request(method, path, { ...rest, headers: { ...headers, ...bearer(token) } })
  const { status, body } = await app.handle(asked)
  expect([path, status, status > 200 && (await new Response(body).text())]).toEqual([
    path,
    200,
    false,
  ])
  let text = ''
  try {
    for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
      if (text === '') {
        await then()
        passed += 1000
      }
      text += new TextDecoder().decode(part)
    }
  } catch {
    expect(text.length).toBeGreaterThan(0)
    return 'broken off'
  }
  return text.trim().split('\n').length - (text.startsWith('_id,') ? 1 : 0)
}

/** It may still see what it has chosen. */
const LESS = 'it may see less of the records'

/** What ends the rights of an account, or of a key of it. */
const ENDS: Readonly<Record<string, (world: World, account: Account, key?: Fields) => unknown>> = {
  'the account is disabled': ({ users }, { id }) => users.update(id, { isOut: true }),
  'the account is deleted': ({ users }, { id }) => users.delete(id),
  'the session is ended': ({ post }, { refreshToken }) => post('/auth/logout', { refreshToken }),
  'all sessions are ended': ({ post }, { token }) => post('/auth/logout/all', {}, token),
  'the password is another': ({ post }, { token }) =>
    post(
      '/auth/password/change',
      { currentPassword: password, newPassword: `${password}!` },
      token,
    ),
  'its scope is another': ({ users }, { id }) => users.update(id, { team: 'b' }),
  [LESS]: ({ users }, { id }) => users.update(id, { isWhole: false }),
}

test.each(Object.entries(ENDS))('a file breaks off when %s', async (why, end) => {
  const made = await world()
  const doors = Object.entries(DOORS).filter(([name]) => name !== 'chosen' || why !== LESS)
  for (const [name, door] of doors) {
    const account = await made.signedIn()
    const came = await linesOf(made, door, account.token, () => end(made, account))
    expect([name, came]).toEqual([name, 'broken off'])
  }
})

const OF_KEYS: typeof ENDS = {
  'the key is deleted': async ({ send }, { token }, key) =>
    expect((await send('DELETE', `/auth/keys/${key?.id}`, { headers: bearer(token) })).status).toBe(
      200,
    ),
  'the key has expired': ({ clock }) => {
    clock.at += 61_000
  },
  'the owner is disabled': ({ users }, { id }) => users.update(id, { isOut: true }),
  'the owner is deleted': ({ users }, { id }) => users.delete(id),
}

test.each(Object.entries(OF_KEYS))('a file for an API key breaks off when %s', async (_, end) => {
  const made = await world()
  for (const [name, door] of Object.entries(DOORS)) {
    const account = await made.signedIn()
    const expiresAt = new Date(made.clock.at + 60_000).toISOString()
    const key = await made.keyOf(account.token, { expiresAt })
    const came = await linesOf(made, door, String(key.key), () => end(made, account, key))
    expect([name, came]).toEqual([name, 'broken off'])
  }
})

it('breaks off when its reader loses the role', async () => {
  const made = await world()
  const { id, token } = await made.signedIn()
  const lose = () => made.users.update(id, { role: 'user' })
  expect(await linesOf(made, ['GET', '/clerks', { headers: NDJSON }], token, lose)).toBe(
    'broken off',
  )
})

it('is whole while its reader may see it, also when the access token has expired meanwhile', async () => {
  const made = await world()
  for (const [name, door] of Object.entries(DOORS)) {
    const { token } = await made.signedIn()
    const later = () => {
      made.clock.at += 3_600_000
    }
    expect([name, await linesOf(made, door, token, later)]).toEqual([name, ROWS])
  }
})

it('is whole for a token of another service, too', async () => {
  const old = 'the secret of the old service, from its environment'
  const made = await world({}, { legacyTokens: { secret: old } })
  const { id } = await made.signedIn()
  const iat = Math.floor(made.clock.at / 1000) + 1
  const token = oldToken(old, { sub: id, role: 'user', iat, exp: iat + 60 })
  const later = () => {
    made.clock.at += 120_000
  }
  const door = DOORS.ndjson as readonly [string, string, Message]
  expect(await linesOf(made, door, token, later)).toBe(ROWS)
  expect((await made.send('GET', '/rows', { headers: bearer(token) })).status).toBe(401)
})

it('breaks off when the access token has expired, where that alone decides', async () => {
  const token = { secret, invalidateOnPasswordChange: false }
  const made = await world({ scope: undefined, fieldsFor: undefined } as never, { token })
  const account = await made.signedIn()
  const later = () => {
    made.clock.at += 3_600_000
  }
  for (const door of [DOORS.ndjson, DOORS.query] as const) {
    const came = await linesOf(made, door as never, account.token, later)
    made.clock.at -= 3_600_000
    expect(came).toBe('broken off')
  }
})

it('shows nothing of references that its reader may not see any more', async () => {
  const made = await world({ scope: undefined, fieldsFor: undefined } as never)
  const { id, token } = await made.signedIn()
  const headers = { ...NDJSON, ...bearer(token) }
  const { body } = await made.app.handle(request('GET', '/rows?expand=kind', { headers }))
  const parts: string[] = []
  for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
    if (parts.length === 0) await made.users.update(id, { team: 'b' })
    passed += 1000
    parts.push(new TextDecoder().decode(part))
  }
  expect(parts.map((text) => text.includes('"title"'))).toEqual([true, false, false])
})

it('asks at most once a second, before a part is read, and never for the first', async () => {
  let asked = 0
  const guard = () => {
    asked += 1
  }
  const made = await world({
    middlewares: [guard],
    scope: undefined,
    fieldsFor: undefined,
  } as never)
  const parts = async (ms: number) => {
    asked = 0
    const { body } = await made.app.handle(request('GET', '/rows', { headers: NDJSON }))
    let count = 0
    for await (const _ of body as unknown as AsyncIterable<Uint8Array>) {
      count += 1
      passed += ms
    }
    expect(count).toBe(3)
    return asked
  }
  expect(await parts(0)).toBe(1)
  expect(await parts(600)).toBe(2)
  expect(await parts(1000)).toBe(3)
})

/** A server that mounts the app says who asks, for a router without guards. */
const withoutGuards = async (scope: unknown, auth: () => AuthContext) => {
  const made = await world({ middlewares: [], scope, fieldsFor: undefined } as never)
  const asked = request('GET', '/rows', { headers: NDJSON })
  const { body } = await made.app.handle(asked, undefined, { auth })
  const parts: unknown[] = []
  for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
    passed += 1000
    parts.push(part)
  }
  return parts.length
}

it('breaks off for whom another server says that they are somebody else now', async () => {
  let asked = 0
  const auth = () => {
    asked += 1
    return { userId: asked > 1 ? 'b' : 'a' }
  }
  const scope = (by: { auth?: AuthContext }) => ({ team: String(by.auth?.userId) })
  await expect(withoutGuards(scope, auth)).rejects.toThrow('something else')
  expect(asked).toBe(2)
})

it('asks nobody where nobody is asked who they are', async () => {
  let asked = 0
  const auth = () => {
    asked += 1
    return { userId: 'a' }
  }
  expect(await withoutGuards(undefined, auth)).toBe(3)
  expect(asked).toBe(1)
})

test.each(['identity', 'gzip'])('over HTTP the connection breaks, as %s', async (coding) => {
  let asked = 0
  const made = await world({
    middlewares: [
      () => {
        asked += 1
        return asked === 3 ? new Response('No.', { status: 403 }) : undefined
      },
    ],
    scope: () => {
      passed += 1000
    },
    fieldsFor: undefined,
  } as never)
  made.app.use(compress())
  const server = await serve(made.app, { port: 0, hostname: '127.0.0.1' })
  onTestFinished(() => server.close())
  const headers = { ...NDJSON, 'accept-encoding': coding }
  const response = await fetch(`${server.url}/rows`, { headers })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-encoding') ?? 'identity').toBe(coding)
  await expect(response.text()).rejects.toThrow(TypeError)
  expect(asked).toBe(3)
})
