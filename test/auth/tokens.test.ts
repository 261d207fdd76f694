import { hkdfSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { base64url, CompactSign, decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Fields } from '../../src/index.ts'
import { password, secret } from './accounts.ts'
import { type Service, service } from './service.ts'

/** The key that access tokens are signed with, as the documentation of keys says. */
const derived = (use: string, bytes: number) =>
  new Uint8Array(hkdfSync('sha256', secret, '', `fieldgate ${use} ["User","/auth"]`, bytes))
const key = derived('access token', 32)
const text = new TextEncoder()

const me = async ({ call }: Service, token: string): Promise<string> => {
  const { status, body } = await call('GET', '/auth/me', undefined, token)
  return status === 200 ? '200' : `${status} ${body.error}`
}
const invalid = '401 Invalid or expired token.'

const kid = base64url.encode(derived('key id', 8))

/** Signs any payload with the right key. */
const signed = (payload: unknown, header: object = {}) =>
  new CompactSign(text.encode(JSON.stringify(payload) ?? ''))
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid, ...header })
    .sign(key)

describe('5.2 access tokens', () => {
  it('are HS256, typed at+jwt, and carry the claims of the contract', async () => {
    const app = await service({
      auth: { token: { secret, issuer: 'https://api', audience: 'web' } },
    })
    const { token, user } = await app.register('ann@example.com')
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'at+jwt', kid })
    expect(decodeJwt(token)).toMatchObject({
      sub: user._id,
      role: 'user',
      iss: 'https://api',
      aud: 'web',
    })
    const { iat, exp, jti } = decodeJwt(token)
    expect([(exp ?? 0) - (iat ?? 0), typeof jti]).toEqual([900, 'string'])
    expect(await me(app, token)).toBe('200')
  })

  it('live as long as expiresIn says', async () => {
    for (const [expiresIn, seconds] of [
      ['2h', 7200],
      [90, 90],
      ['7d', 604_800],
      ['45s', 45],
    ] as const) {
      const app = await service({ auth: { token: { secret, expiresIn } } })
      const { token, expiresIn: told } = await app.register('ann@example.com')
      expect(told).toBe(seconds)
      app.later(seconds + 4)
      expect(await me(app, token)).toBe('200')
      app.later(2)
      expect(await me(app, token)).toBe(invalid)
    }
  })

  it('the header chooses no algorithm', async () => {
    const app = await service()
    const claims = decodeJwt((await app.register('ann@example.com')).token)
    const good = await signed(claims)
    expect(await me(app, good)).toBe('200')
    const [, body, signature] = good.split('.')
    for (const alg of ['none', 'None', 'nOnE', '', 'HS384', 'HS512', 'RS256', 'ES256']) {
      const header = base64url.encode(JSON.stringify({ alg, typ: 'at+jwt', kid }))
      expect(await me(app, `${header}.${body}.${signature}`)).toBe(invalid)
      expect(await me(app, `${header}.${body}.`)).toBe(invalid)
      // Even where the MAC fits.
      const own = await new CompactSign(text.encode(JSON.stringify(claims)))
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid })
        .sign(key)
      expect(await me(app, own)).toBe(invalid)
    }
  })

  it('no empty and no other key opens', async () => {
    const app = await service()
    const claims = decodeJwt((await app.register('ann@example.com')).token)
    for (const wrong of [secret, 'x'.repeat(32)]) {
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid })
        .sign(text.encode(wrong))
      expect(await me(app, token)).toBe(invalid)
    }
  })

  it('claims are typed, whoever signed them', async () => {
    const app = await service()
    const claims = decodeJwt((await app.register('ann@example.com')).token)
    const now = Math.floor(app.now() / 1000)
    const bad: unknown[] = [
      [],
      null,
      'x',
      1,
      {},
      ...[undefined, String(claims.exp), 1e300, -1, 1.5, null].map((exp) => ({ ...claims, exp })),
      ...[undefined, '1', now + 3600].map((iat) => ({ ...claims, iat })),
      { ...claims, nbf: now + 60 },
      ...[{ $ne: null }, 5, undefined, 'nobody', '000000000000000000000000'].map((sub) => ({
        ...claims,
        sub,
      })),
      { ...claims, role: { $ne: null } },
      { ...claims, jti: 5 },
      { ...claims, pca: '0' },
    ]
    for (const payload of bad)
      expect([payload, await me(app, await signed(payload))]).toEqual([payload, invalid])
  })

  it('an unknown crit is refused', async () => {
    const app = await service()
    const [, body] = (await app.register('ann@example.com')).token.split('.')
    for (const extra of [{ crit: ['x'], x: 1 }, { b64: false }, { crit: [] }]) {
      const header = base64url.encode(
        JSON.stringify({ alg: 'HS256', typ: 'at+jwt', kid, ...extra }),
      )
      const mac = await crypto.subtle.importKey(
        'raw',
        key,
        { name: 'HMAC', hash: 'SHA-256' },
        false,
        ['sign'],
      )
      const tag = await crypto.subtle.sign('HMAC', mac, text.encode(`${header}.${body}`))
      expect(await me(app, `${header}.${body}.${base64url.encode(new Uint8Array(tag))}`)).toBe(
        invalid,
      )
    }
  })

  it('issuer and audience are demanded where they are set', async () => {
    const app = await service({ auth: { token: { secret, issuer: 'api', audience: 'api' } } })
    const claims = decodeJwt((await app.register('ann@example.com')).token)
    expect(await me(app, await signed({ ...claims, aud: ['other', 'api'] }))).toBe('200')
    for (const aud of [undefined, 'api2', 'ap', ['other'], [], { api: 1 }]) {
      expect(await me(app, await signed({ ...claims, aud }))).toBe(invalid)
    }
    for (const iss of [undefined, 'api2', ['api'], '']) {
      expect(await me(app, await signed({ ...claims, iss }))).toBe(invalid)
    }
    // A19: the mount and the model are demanded where nothing else is set.
    const open = await service()
    const other = decodeJwt((await open.register('ann@example.com')).token)
    expect(await me(open, await signed({ ...other, aud: ['any', 'User'] }))).toBe('200')
    for (const change of [{ aud: 'any' }, { iss: 'any' }, { aud: undefined }, { iss: undefined }]) {
      expect(await me(open, await signed({ ...other, ...change }))).toBe(invalid)
    }
  })

  it('nothing that was made for another purpose opens', async () => {
    const app = await service()
    const { token, refreshToken } = await app.register('ann@example.com')
    const claims = decodeJwt(token)
    for (const typ of [undefined, 'JWT', 'rt+jwt']) {
      expect(await me(app, await signed(claims, { typ }))).toBe(invalid)
    }
    expect(await me(app, refreshToken)).toBe(invalid)
    expect((await app.post('/auth/token/refresh', { refreshToken: token })).status).toBe(401)
  })

  it('nothing in a token makes the server ask or read anything', async () => {
    let asked = 0
    const listener = createServer((_, response) => {
      asked += 1
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/jwks`
    const app = await service()
    const { token } = await app.register('ann@example.com')
    const claims = decodeJwt(token)
    for (const header of [{ jku: url }, { x5u: url }]) await me(app, await signed(claims, header))
    for (const other of ['../../dev/null', '__proto__', '', url, secret, undefined, 5, [kid]]) {
      expect(await me(app, await signed(claims, { kid: other }))).toBe(invalid)
    }
    expect(await me(app, await signed(claims, { kid: 'x'.repeat(1_000_000) }))).toBe(invalid)
    expect(await me(app, 'a.b.c.d.e')).toBe(invalid)
    expect(await me(app, 'x'.repeat(64_000))).toBe(invalid)
    const twice = new Headers([
      ['authorization', `Bearer ${token}`],
      ['authorization', `Bearer ${token}`],
    ])
    expect(
      (await app.app.handle(new Request('http://localhost/auth/me', { headers: twice }))).status,
    ).toBe(401)
    expect((await app.call('GET', `/auth/me?access_token=${token}&token=${token}`)).status).toBe(
      401,
    )
    expect(asked).toBe(0)
    listener.close()
  })

  it('five seconds of tolerance, and a token from the future is refused', async () => {
    const app = await service()
    const claims = decodeJwt((await app.register('ann@example.com')).token)
    const now = Math.floor(app.now() / 1000)
    const at = async (change: object) => me(app, await signed({ ...claims, ...change }))
    expect(await at({ iat: now - 60, exp: now - 4 })).toBe('200')
    expect(await at({ iat: now - 60, exp: now - 6 })).toBe(invalid)
    expect(await at({ iat: now + 4 })).toBe('200')
    expect(await at({ iat: now + 3600, exp: now + 7200 })).toBe(invalid)
  })

  it('a password change ends every older token, even of the same millisecond', async () => {
    const app = await service()
    let old = (await app.register('ann@example.com')).token
    let current = password
    for (let round = 0; round < 30; round += 1) {
      const next = `${password} ${round}`
      const changed = await app.post(
        '/auth/password/change',
        { currentPassword: current, newPassword: next },
        old,
      )
      expect(changed.status).toBe(200)
      expect(await me(app, old)).toBe('401 Session ended. Sign in again.')
      const signedIn = await app.post('/auth/login', { email: 'ann@example.com', password: next })
      old = signedIn.body.data.token
      expect(await me(app, old)).toBe('200')
      current = next
    }
  })

  it('a deleted or disabled user is refused at once', async () => {
    const app = await service({
      auth: { fields: { disabled: 'banned' } },
      fields: { banned: z.boolean().optional() },
    })
    const { token, user } = await app.register('ann@example.com')
    await app.users.update(user._id, { banned: true })
    expect(await me(app, token)).toBe('403 This account is not active.')
    await app.users.delete(user._id)
    expect(await me(app, token)).toBe(invalid)
  })

  it('reads nothing again with invalidateOnPasswordChange: false', async () => {
    const app = await service({ auth: { token: { secret, invalidateOnPasswordChange: false } } })
    const { token } = await app.register('ann@example.com')
    await app.post(
      '/auth/password/change',
      { currentPassword: password, newPassword: 'another password' },
      token,
    )
    expect(await me(app, token)).toBe('200')
  })

  it.each([true, false])(
    'shows the record, whatever a middleware calls the user (invalidateOnPasswordChange: %s)',
    async (invalidateOnPasswordChange) => {
      const middleware = (request: { user?: unknown }) => {
        Object.defineProperty(request, 'user', { value: { _id: 'x', name: 'somebody else' } })
      }
      const app = await service({
        auth: {
          token: { secret, invalidateOnPasswordChange },
          middlewares: { me: [middleware] } as never,
        },
      })
      const { token, user } = await app.register('ann@example.com')
      const answer = await app.call('GET', '/auth/me', undefined, token)
      expect(answer.body.data).toMatchObject({ _id: user._id, email: 'ann@example.com' })
    },
  )
})

describe('5.1 guards', () => {
  const Note = defineModel('Note', { fields: { text: z.string(), owner: z.string().optional() } })

  async function guarded(): Promise<Service & { seen: unknown[] }> {
    const app = await service()
    const seen: unknown[] = []
    const look = (request: { auth?: unknown; user?: unknown }) =>
      void seen.push({ auth: request.auth, user: request.user })
    const { requireAuth, requireRole, optionalAuth } = app.auth
    const routes = (middlewares: never[]) =>
      createRouter({ model: Note, allowedFields: ['text'], middlewares })
    app.app.mount('/notes', routes([requireAuth, look] as never[]))
    app.app.mount('/admin', routes([requireAuth, requireRole('admin', 'editor')] as never[]))
    app.app.mount('/open', routes([optionalAuth, look] as never[]))
    app.app.mount('/misplaced', routes([requireRole('admin')] as never[]))
    return { ...app, seen }
  }

  it('stand on any router of the app', async () => {
    const { call, register, seen, users } = await guarded()
    const none = await call('GET', '/notes')
    expect([none.status, none.body.error, none.headers.get('www-authenticate')]).toEqual([
      401,
      'Authentication required.',
      'Bearer',
    ])
    const { token, user } = await register('ann@example.com')
    expect((await call('GET', '/notes', undefined, token)).status).toBe(200)
    expect(seen[0]).toMatchObject({
      auth: { userId: user._id, role: 'user' },
      user: { email: 'ann@example.com' },
    })
    expect((seen[0] as { user: Fields }).user).not.toHaveProperty('password')
    const refused = await call('GET', '/admin', undefined, token)
    expect([refused.status, refused.body.error]).toEqual([
      403,
      'You do not have access to this resource.',
    ])
    await users.update(user._id, { role: 'editor' })
    expect((await call('GET', '/admin', undefined, token)).status).toBe(200)
    expect((await call('GET', '/misplaced', undefined, token)).status).toBe(401)
  })

  it('optionalAuth lets a missing token pass, not a bad one', async () => {
    const { call, register, seen } = await guarded()
    expect((await call('GET', '/open')).status).toBe(200)
    expect(seen[0]).toEqual({ auth: undefined, user: undefined })
    expect((await call('GET', '/open', undefined, 'bad')).status).toBe(401)
    expect(
      (await call('GET', '/open', undefined, (await register('a@b.example')).token)).status,
    ).toBe(200)
    expect(seen[1]).toMatchObject({ user: { email: 'a@b.example' } })
  })

  it('take the scheme in any case, and no other scheme', async () => {
    const { app, register } = await guarded()
    const { token } = await register('ann@example.com')
    const status = async (authorization: string) => {
      const response = await app.handle(
        new Request('http://localhost/notes', { headers: { authorization } }),
      )
      return `${response.status} ${((await response.json()) as { error?: string }).error ?? ''}`.trim()
    }
    expect(await status(`bearer ${token}`)).toBe('200')
    expect(await status(`BEARER  ${token}`)).toBe('200')
    expect(await status(`Basic ${token}`)).toBe('401 Authentication required.')
    expect(await status('Bearer')).toBe(invalid)
    expect(await status(token)).toBe('401 Authentication required.')
  })

  it('say clearly when the app does not mount the auth router', async () => {
    const one = await service()
    const other = await service()
    other.app.mount(
      '/notes',
      createRouter({ model: Note, allowedFields: [], middlewares: [one.auth.requireAuth] }),
    )
    const said =
      "Auth: the app does not mount the auth router whose guard 'requireAuth' is in GET /notes. Write app.mount('/auth', auth.router), or take the guard from the one on '/auth'"
    await expect(other.app.ready()).rejects.toThrow(said)
    expect((await other.call('GET', '/notes')).status).toBe(500)
    expect(other.log.join()).toContain(said)
  })

  it('say so when they are first asked, if a guard of your own asks them', async () => {
    const [one, other] = [await service(), await service()]
    const { requireAuth } = one.auth
    other.app.use((request, context) => requireAuth(request, context))
    await other.app.ready()
    expect((await other.call('GET', '/notes')).status).toBe(500)
    expect(other.log.join()).toContain('a guard runs in an app that does not mount the auth router')
  })
})
