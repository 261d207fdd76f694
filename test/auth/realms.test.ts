import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import {
  type App,
  type AuthOptions,
  type AuthRouter,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type Model,
  userFields,
} from '../../src/index.ts'
import { cheap, password, type Sent, secret } from './accounts.ts'

const refresh = { enabled: true } as const
const Note = defineModel('Note', { fields: { text: z.string() } })
const invalid = '401 Invalid or expired token.'

function people(name: string): Model<Fields> {
  const fields = userFields({ refresh }) as unknown as Record<string, z.ZodType>
  return defineModel(name, { fields, unique: ['email'] as never }) as unknown as Model<Fields>
}

/** An auth router with the secret that all of them share. */
function router(
  model: Model<Fields>,
  sent: Sent[] = [],
  token: Partial<AuthOptions<Fields>['token']> = {},
): AuthRouter {
  return createAuthRouter({
    model,
    refresh,
    // Nothing but the token itself is looked at.
    token: { secret, invalidateOnPasswordChange: false, ...token },
    password: cheap,
    mail: { sender: ({ to, code }) => void sent.push({ to, code, channel: 'email' }) },
  })
}

/** An app with these routers, each guarding a route of its own: `/auth` guards `/auth-notes`. */
function appWith(routers: Record<string, AuthRouter>) {
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const app: App = createApp({ store: sqliteStore(), logger, env: {} })
  for (const [mount, auth] of Object.entries(routers)) {
    const middlewares = [auth.requireAuth] as never[]
    app.mount(mount, auth.router)
    app.mount(`${mount}-notes`, createRouter({ model: Note, allowedFields: ['text'], middlewares }))
  }
  onTestFinished(() => app.close())
  const ask = async (method: string, path: string, body?: Fields, token?: string) => {
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (token !== undefined) headers.authorization = `Bearer ${token}`
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const later: Promise<unknown>[] = []
    const platform = { waitUntil: (work: Promise<unknown>) => later.push(work) }
    const request = new Request(`http://localhost${path}`, init)
    const answer = await app.handle(request, undefined, platform)
    await Promise.all(later)
    return { status: answer.status, body: JSON.parse(await answer.text()) }
  }
  return {
    ask,
    notes: async (mount: string, token: string) => {
      const { status, body } = await ask('GET', `${mount}-notes`, undefined, token)
      return status === 200 ? '200' : `${status} ${body.error}`
    },
    async register(mount: string, email = 'ann@example.com') {
      const answer = await ask('POST', `${mount}/register`, { email, password })
      expect(answer.status).toBe(201)
      return answer.body.data as { token: string; refreshToken: string }
    },
  }
}

/** Two routers that share as much as two may share. */
const pairs: Record<string, () => Record<string, AuthRouter>> = {
  'of two models': () => ({
    '/auth': router(people('Customer')),
    '/staff': router(people('Staff')),
  }),
  'of one model on two mounts': () => {
    const User = people('User')
    return { '/auth': router(User), '/staff': router(User) }
  },
  'with one issuer and one audience': () => {
    const token = { issuer: 'https://api.example', audience: 'web' }
    return {
      '/auth': router(people('Customer'), [], token),
      '/staff': router(people('Staff'), [], token),
    }
  },
}

describe('a token from one router never opens another', () => {
  it.each(Object.keys(pairs))('access tokens %s', async (pair) => {
    const { register, notes } = appWith(pairs[pair]?.() ?? {})
    const { token } = await register('/auth')
    expect([await notes('/auth', token), await notes('/staff', token)]).toEqual(['200', invalid])
  })

  it.each(Object.keys(pairs))('refresh tokens %s', async (pair) => {
    const { register, ask } = appWith(pairs[pair]?.() ?? {})
    const { refreshToken } = await register('/auth')
    const statuses: number[] = []
    for (const path of ['/staff/token/refresh', '/staff/logout', '/auth/token/refresh']) {
      statuses.push((await ask('POST', path, { refreshToken })).status)
    }
    expect(statuses).toEqual([401, 200, 200])
  })

  it('codes of one model on two mounts', async () => {
    const User = people('User')
    const sent: Sent[] = []
    const { register, ask } = appWith({ '/auth': router(User, sent), '/staff': router(User, sent) })
    await register('/auth')
    const identifier = 'ann@example.com'
    await ask('POST', '/auth/password/forgot', { identifier })
    const [{ code } = { code: '' }] = sent
    const reset = { identifier, code, newPassword: 'another password' }
    expect((await ask('POST', '/staff/password/reset', reset)).status).toBe(400)
    expect((await ask('POST', '/auth/password/reset', reset)).status).toBe(200)
  })

  it('names the mount and the model where the deployer names nobody', async () => {
    const customers = router(people('Customer'))
    const staff = router(people('Staff'), [], { issuer: 'https://api.example' })
    const { register } = appWith({ '/auth': customers, '/staff': staff })
    const [one, two] = [await register('/auth'), await register('/staff')]
    expect(decodeJwt(one.token)).toMatchObject({ iss: '/auth', aud: 'Customer' })
    expect(decodeJwt(two.token)).toMatchObject({ iss: 'https://api.example', aud: 'Staff' })
    // The names of keys do not tell that the two share a secret.
    const kids = [one, two].map(({ token }) => decodeProtectedHeader(token).kid)
    expect(new Set(kids).size).toBe(2)
  })

  it('goes on with other instances of the same app', async () => {
    const one = appWith({ '/auth': router(people('User')) })
    const two = appWith({ '/auth/': router(people('User')) })
    const { token } = await one.register('/auth')
    const headers = await two.ask('GET', '/auth/-notes', undefined, token)
    expect(headers.status).toBe(200)
  })

  it('of one router on two mounts opens both: it is one router', async () => {
    const auth = router(people('User'))
    const { register, ask, notes } = appWith({ '/auth': auth, '/v2/auth': auth })
    const first = await register('/auth')
    const second = await register('/v2/auth', 'bob@example.com')
    for (const { token, refreshToken } of [first, second]) {
      expect([await notes('/auth', token), await notes('/v2/auth', token)]).toEqual(['200', '200'])
      const other = await ask('POST', '/v2/auth/token/refresh', { refreshToken })
      const again = { refreshToken: other.body.data.refreshToken }
      expect((await ask('POST', '/auth/token/refresh', again)).status).toBe(200)
    }
  })
})
