import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createAuthRouter, createRouter, defineModel, type Fields } from '../../src/index.ts'
import { authOptions, password, secret, userModel } from './accounts.ts'
import { type OldSession, oldSession, oldToken, refreshedThere } from './old-service.ts'
import { type Service, service } from './service.ts'

const OLD = 'the secret of the old service, from its environment'

const legacyTokens = { secret: OLD }

const claimsOf = (app: Service, sub: string, more: Fields = {}) => {
  const iat = Math.floor(app.now() / 1000)
  return { sub, role: 'user', iat, exp: iat + 900, ...more }
}

const me = async (app: Service, token: string) => {
  const { status, body } = await app.call('GET', '/auth/me', undefined, token)
  return [status, body.error]
}

const INVALID = [401, 'Invalid or expired token.']

describe('access tokens of express-controller-sets', () => {
  it('are accepted with legacyTokens alone', async () => {
    const [app, closed] = [await service({ auth: { legacyTokens } }), await service()]
    for (const [each, expected] of [
      [app, [200, undefined]],
      [closed, INVALID],
    ] as const) {
      const { user } = await each.register('ann@example.com')
      expect(await me(each, oldToken(OLD, claimsOf(each, user._id)))).toEqual(expected)
    }
  })

  it('are refused with another header, claim, secret or time', async () => {
    const app = await service({ auth: { legacyTokens } })
    const { user } = await app.register('ann@example.com')
    const claims = claimsOf(app, user._id)
    const seconds = Math.floor(app.now() / 1000)
    const wrong = [
      oldToken('another secret of at least 32 characters', claims),
      oldToken(secret, claims),
      oldToken(OLD, claims, { alg: 'none', typ: 'JWT' }),
      oldToken(OLD, claims, { alg: 'HS256', typ: 'at+jwt' }),
      oldToken(OLD, claims, { typ: 'JWT', alg: 'HS256' }),
      oldToken(OLD, claims, { alg: 'HS256', typ: 'JWT', crit: ['x'] }),
      oldToken(OLD, { ...claims, exp: seconds - 5 }),
      oldToken(OLD, { ...claims, exp: String(claims.exp) }),
      oldToken(OLD, { ...claims, iat: seconds + 6 }),
      oldToken(OLD, { ...claims, iat: undefined }),
      oldToken(OLD, { ...claims, exp: undefined }),
      oldToken(OLD, { ...claims, nbf: seconds }),
      oldToken(OLD, { ...claims, role: 5 }),
      oldToken(OLD, { ...claims, sub: 5 }),
      oldToken(OLD, { ...claims, sub: { $ne: null } }),
      oldToken(OLD, { ...claims, sub: '0'.repeat(24) }),
      oldToken(OLD, { ...claims, sub: 'x' }),
      oldToken(OLD, [claims]),
      `${oldToken(OLD, claims)}.`,
      oldToken(OLD, claims).replace(/[^.]*$/, ''),
    ]
    for (const token of wrong) expect(await me(app, token), token).toEqual(INVALID)
    expect(await me(app, oldToken(OLD, { ...claims, exp: seconds - 4 }))).toEqual([200, undefined])
    expect(await me(app, oldToken(OLD, { ...claims, role: undefined }))).toEqual([200, undefined])
  })

  it('are refused with a claim that the old service does not write, or parties that the options do not name', async () => {
    const app = await service({ auth: { legacyTokens } })
    const { user } = await app.register('ann@example.com')
    const more: Fields[] = [
      { purpose: 'password-reset' },
      { realm: 'staff' },
      { type: 'refresh' },
      { scope: 'verify' },
      { jti: 'x', sid: 'y', pca: 0 },
      { aud: 'other' },
      { iss: 'other' },
    ]
    for (const each of more) {
      const token = oldToken(OLD, claimsOf(app, user._id, each))
      expect(await me(app, token), JSON.stringify(each)).toEqual(INVALID)
    }
  })

  it('are refused with any character changed', async () => {
    const app = await service({ auth: { legacyTokens } })
    const { user } = await app.register('ann@example.com')
    const token = oldToken(OLD, claimsOf(app, user._id))
    const places = fc.tuple(fc.nat(token.length - 1), fc.constantFrom(...'Az09-_.=~ '))
    await fc.assert(
      fc.asyncProperty(places, async ([at, character]) => {
        const changed = token.slice(0, at) + character + token.slice(at + 1)
        fc.pre(changed !== token)
        expect(await me(app, changed)).toEqual(INVALID)
      }),
      { numRuns: 300 },
    )
  })

  it('must have the issuer and the audience that the options name', async () => {
    const parties = { issuer: 'https://old.example', audience: 'shop' }
    const app = await service({ auth: { legacyTokens: { ...legacyTokens, ...parties } } })
    const { user } = await app.register('ann@example.com')
    const sent = (more: Fields) => me(app, oldToken(OLD, claimsOf(app, user._id, more)))
    const right = { iss: parties.issuer, aud: parties.audience }
    expect(await sent(right)).toEqual([200, undefined])
    for (const more of [
      {},
      { iss: parties.issuer },
      { ...right, iss: 'x' },
      { ...right, aud: 'x' },
      { ...right, aud: ['shop'] },
    ]) {
      expect(await sent(more)).toEqual(INVALID)
    }
  })

  it('are verified by each of several secrets', async () => {
    const older = 'an older secret of the old service, long enough'
    const app = await service({ auth: { legacyTokens: { secret: [OLD, older] } } })
    const { user } = await app.register('ann@example.com')
    for (const one of [OLD, older]) {
      expect(await me(app, oldToken(one, claimsOf(app, user._id)))).toEqual([200, undefined])
    }
  })

  it('end with the password, those of the same second too', async () => {
    const app = await service({ auth: { legacyTokens } })
    const { user, token } = await app.register('ann@example.com')
    app.later(0.5)
    const old = oldToken(OLD, claimsOf(app, user._id))
    app.later(0.2)
    const change = { currentPassword: password, newPassword: 'quite another battery' }
    expect((await app.post('/auth/password/change', change, token)).status).toBe(200)
    expect((await me(app, old))[0]).toBe(401)
    app.later(1)
    expect(await me(app, oldToken(OLD, claimsOf(app, user._id)))).toEqual([200, undefined])
  })

  it('name the user, whose role is the stored one, and stop with a disabled account', async () => {
    const Note = defineModel('LegacyNote', { fields: {} })
    const fields = { disabled: 'isDisabled' }
    const auth = { legacyTokens, fields, refresh: { enabled: false } }
    const app = await service({ auth, ...withDisabled() })
    const { requireAuth, requireRole } = app.auth
    const router = createRouter({ model: Note, middlewares: [requireAuth, requireRole('admin')] })
    app.app.mount('/notes', router)
    const { user } = await app.register('ann@example.com')
    const old = oldToken(OLD, claimsOf(app, user._id, { role: 'admin' }))
    expect((await app.call('GET', '/notes', undefined, old)).status).toBe(403)
    await app.users.update(user._id, { role: 'admin' })
    expect((await app.call('GET', '/notes', undefined, old)).status).toBe(200)
    await app.users.update(user._id, { isDisabled: true })
    expect((await me(app, old))[0]).toBe(403)
    await app.users.update(user._id, { isDisabled: false })
    expect((await me(app, old))[0]).toBe(401)
  })

  it('without a read of the user, their role is that of the token', async () => {
    const token = { secret, invalidateOnPasswordChange: false }
    const app = await service({ auth: { legacyTokens, token } })
    const seen: unknown[] = []
    const router = createRouter({
      model: defineModel('LegacySeen', { fields: {} }),
      middlewares: [app.auth.requireAuth, ({ auth }) => void seen.push(auth?.userId, auth?.role)],
    })
    app.app.mount('/seen', router)
    const { user } = await app.register('ann@example.com')
    for (const role of ['editor', undefined]) {
      const old = oldToken(OLD, claimsOf(app, user._id, { role }))
      expect((await app.call('GET', '/seen', undefined, old)).status).toBe(200)
    }
    expect(seen).toEqual([user._id, 'editor', user._id, 'user'])
  })

  it('are no sign-in of the last minutes, because a refresh makes them too', async () => {
    const social = { own: { verify: () => ({ id: '1' }) } }
    const routes = { deleteUser: true }
    const app = await service({ auth: { legacyTokens, social, routes }, unique: ['ownId'] })
    const { user } = (await app.post('/auth/social/own')).body.data
    app.later(601)
    const old = oldToken(OLD, claimsOf(app, user._id))
    const answer = await app.call('DELETE', `/auth/users/${user._id}`, {}, old)
    expect([answer.status, answer.body.error]).toEqual([403, 'Sign in again to do this.'])
  })
})

describe('refresh tokens of express-controller-sets', () => {
  /** An app, a user, and a session of the old service that is stored with it. */
  async function withSession(refresh: Fields = {}, secrets: string | string[] = OLD) {
    const auth = { legacyTokens: { secret: secrets }, refresh: { enabled: true, ...refresh } }
    const app = await service({ auth })
    const { user } = await app.register('ann@example.com')
    const { refreshToken, session } = oldSession(OLD, user._id, app.now())
    const { _id, ...stored } = session
    await app.users.update(user._id, { refreshTokens: [stored] } as never)
    const swap = (token: string) => app.post('/auth/token/refresh', { refreshToken: token })
    return { app, user, refreshToken, stored, swap }
  }

  it('are swapped, and the session keeps its id and its age', async () => {
    const { app, user, refreshToken, stored, swap } = await withSession()
    app.later(5)
    expect((await swap(refreshToken)).status).toBe(200)
    const [after] = (await app.stored(user._id)).refreshTokens as Fields[]
    const { id, createdAt, userAgent } = stored
    expect(after).toMatchObject({ id, createdAt, userAgent, previousHash: stored.hash })
    expect(after?.hash).not.toBe(stored.hash)
    expect(after?.lastUsedAt).toEqual(new Date(app.now()))
  })

  it('get the same token again within the grace, even with another order of secrets', async () => {
    const older = 'an older secret of the old service, long enough'
    const { app, refreshToken, swap } = await withSession({}, [older, OLD])
    const first = await swap(refreshToken)
    app.later(9)
    const second = await swap(refreshToken)
    expect(second.body.data.refreshToken).toBe(first.body.data.refreshToken)
  })

  it('are refused when the session has expired', async () => {
    const { app, refreshToken, swap } = await withSession()
    app.later(30 * 86_400)
    expect((await swap(refreshToken)).status).toBe(401)
  })

  it('are limited by maxLifetime from the sign-in there', async () => {
    const { app, refreshToken, swap } = await withSession({ maxLifetime: '1h' })
    app.later(3500)
    const { body } = await swap(refreshToken)
    expect(body.data.refreshExpiresIn).toBe(100)
    app.later(100)
    expect((await swap(body.data.refreshToken)).status).toBe(401)
  })

  it('that the old service replaced long ago end the sessions', async () => {
    const { app, user, refreshToken, stored, swap } = await withSession()
    const newer = oldSession(OLD, user._id, app.now())
    const replaced = {
      ...stored,
      hash: newer.session.hash,
      previousHash: stored.hash,
      rotatedAt: new Date(app.now()),
    }
    await app.users.update(user._id, { refreshTokens: [replaced] } as never)
    app.later(11)
    expect((await swap(refreshToken)).status).toBe(401)
    expect((await app.stored(user._id)).refreshTokens).toEqual([])
  })

  /** The session after the old service has replaced its token; also the next token of there. */
  async function replacedThere({
    app,
    user,
    refreshToken,
  }: Awaited<ReturnType<typeof withSession>>) {
    const [session] = (await app.stored(user._id)).refreshTokens as OldSession[]
    const [who, id, random = ''] = refreshToken.split('.')
    const next = session && refreshedThere(OLD, session, random, app.now())
    if (!next) throw new Error('the old service refuses the token')
    await app.users.update(user._id, { refreshTokens: [{ ...session, ...next.changes }] } as never)
    return `${who}.${id}.${next.random}`
  }

  it.each([true, false])(
    'that the old service replaced long ago are refused: rotate %s',
    async (rotate) => {
      const it = await withSession({ rotate })
      await replacedThere(it)
      it.app.later(5 * 86_400)
      expect((await it.swap(it.refreshToken)).status).toBe(401)
      expect((await it.app.stored(it.user._id)).refreshTokens).toEqual([])
      expect(it.app.log.join()).toContain('token-reused')
    },
  )

  it('without rotation, the holder of the token that the old service gave goes on', async () => {
    const it = await withSession({ rotate: false })
    const newer = await replacedThere(it)
    it.app.later(5 * 86_400)
    const { body } = await it.swap(newer)
    for (const token of [newer, body.data.refreshToken]) {
      it.app.later(86_400)
      expect((await it.swap(token)).body.data?.refreshToken).toBe(body.data.refreshToken)
    }
  })

  it.each([true, false])(
    'of either side lead to one token within the grace: rotate %s',
    async (rotate) => {
      for (const order of ['here first', 'there first']) {
        const it = await withSession({ rotate })
        const tokens = [it.refreshToken]
        if (order === 'here first') {
          tokens[0] = (await it.swap(it.refreshToken)).body.data.refreshToken
        }
        tokens.push(await replacedThere(it))
        const given: string[] = []
        for (const token of [...tokens, tokens[1] ?? '']) {
          it.app.later(2)
          const { status, body } = await it.swap(token)
          expect(status, order).toBe(200)
          given.push(body.data.refreshToken)
        }
        expect(new Set(given).size).toBe(1)
        it.app.later(900)
        expect((await it.swap(given[0] ?? '')).status).toBe(200)
        expect(it.app.log.join()).not.toContain('token-reused')
      }
    },
  )

  it('that are two steps behind on a way over both services are refused, and end nothing within the grace', async () => {
    const it = await withSession()
    const own = (await it.swap(it.refreshToken)).body.data.refreshToken
    const newer = await replacedThere(it)
    const next = (await it.swap(newer)).body.data.refreshToken
    for (const token of [own, it.refreshToken]) expect((await it.swap(token)).status).toBe(401)
    expect((await it.swap(next)).status).toBe(200)
    expect(it.app.log.join()).not.toContain('token-reused')
  })

  it('that were swapped are reused even after more refreshes', async () => {
    const { app, user, refreshToken, swap } = await withSession()
    const first = (await swap(refreshToken)).body.data.refreshToken
    const second = (await swap(first)).body.data.refreshToken
    const third = (await swap(second)).body.data.refreshToken
    app.later(3600)
    expect((await swap(refreshToken)).status).toBe(401)
    expect(app.log.join()).toContain('token-reused')
    expect((await swap(third)).status).toBe(401)
    expect((await app.stored(user._id)).refreshTokens).toEqual([])
  })

  it('of ours that the old service has replaced are reused after the grace', async () => {
    const it = await withSession()
    const own = (await it.swap(it.refreshToken)).body.data.refreshToken
    const newer = await replacedThere(it)
    it.app.later(11)
    expect((await it.swap(own)).status).toBe(401)
    expect(it.app.log.join()).toContain('token-reused')
    expect((await it.swap(newer)).status).toBe(401)
  })

  it('that nobody has got change nothing, not even the account of a disabled user', async () => {
    const it = await disabledSession()
    const before = await it.app.stored(it.user._id)
    const forged = `${it.refreshToken.split('.')[0]}.${'x'.repeat(16)}.${'y'.repeat(43)}`
    const other = `${it.refreshToken.slice(0, -43)}${'y'.repeat(43)}`
    for (const token of [forged, other]) {
      expect((await it.swap(token)).status).toBe(401)
      await it.app.post('/auth/logout', { refreshToken: token })
      expect(await it.app.stored(it.user._id)).toEqual(before)
    }
    expect((await it.swap(it.refreshToken)).status).toBe(401)
    expect((await it.app.stored(it.user._id)).refreshTokens).toEqual([])
  })

  /** A session of a user whom another program has disabled: sessions end only with what this app writes. */
  async function disabledSession() {
    const store = sqliteStore()
    const auth = { legacyTokens, fields: { disabled: 'isDisabled' } }
    const app = await service({ store, auth, ...withDisabled() })
    const { user } = await app.register('ann@example.com')
    const { refreshToken, session } = oldSession(OLD, user._id, app.now())
    const { _id, ...stored } = session
    const other = await service({ store, ...withDisabled() })
    const changes = { isDisabled: true, refreshTokens: [stored] }
    await other.users.update(user._id, changes as never)
    const swap = (token: string) => app.post('/auth/token/refresh', { refreshToken: token })
    return { app, user, refreshToken, swap }
  }

  it('do not reveal the token that follows', async () => {
    const { refreshToken, swap } = await withSession()
    const { refreshToken: own } = (await swap(refreshToken)).body.data
    const payload = Buffer.from(own.split('~')[0], 'base64url').toString()
    // The payload names the user, the session and a number; what makes it valid is the seal.
    expect(payload).toMatch(/^\w+\.[\w-]{16}\.\d+$/)
    const sealed = createHmac('sha256', OLD).update(own.split('~')[0]).digest('base64url')
    expect((await swap(`${own.split('~')[0]}~x.${sealed}`)).status).toBe(401)
  })
})

describe('the option legacyTokens', () => {
  const start = (option: unknown) => () =>
    createAuthRouter({ ...authOptions(userModel({}), [], {}), legacyTokens: option } as never)

  it.each<[option: unknown, told: string]>([
    [{ secret: 'short' }, "'legacyTokens.secret' must have at least 32 characters"],
    [
      {},
      "'legacyTokens.secret' must have at least 32 characters. It is undefined: is its environment variable set?",
    ],
    [{ secret: [] }, "'legacyTokens.secret' must name at least one secret"],
    [{ secret: [OLD, OLD] }, "'legacyTokens.secret' names one secret twice"],
    [{ secret: [OLD, 'x'] }, "'legacyTokens.secret[1]' must have at least 32 characters"],
    [
      { secret: OLD, expiresIn: '1d' },
      "'legacyTokens' has the unknown key 'expiresIn'. There are: secret, issuer, audience.",
    ],
    [{ secret: OLD, issuer: 5 }, "'legacyTokens.issuer' must be a string"],
    [{ secret: OLD, audience: [] }, "'legacyTokens.audience' must be a string"],
    ['x', "'legacyTokens' must be an object"],
  ])('is checked: %j', (option, told) => {
    expect(start(option)).toThrow(new TypeError(`Auth: ${told}`))
    expect(start({ secret: OLD })).not.toThrow()
  })

  it('warns if the secret alone decides who is an admin', async () => {
    const warned = async (more: Fields, invalidateOnPasswordChange = false) => {
      const token = { secret, invalidateOnPasswordChange }
      const app = await service({ auth: { token, legacyTokens: { ...legacyTokens, ...more } } })
      return app.log.join('\n').includes('takes the role from any JWT that the old secret signed')
    }
    expect(await warned({})).toBe(true)
    expect(await warned({}, true)).toBe(false)
    expect(await warned({ issuer: 'https://old.example' })).toBe(false)
    expect(await warned({ audience: 'shop' })).toBe(false)
  })

  it('warns of a secret that is easy to guess', async () => {
    const app = await service({ auth: { legacyTokens: { secret: 'abc'.repeat(20) } } })
    expect(app.log.join('\n')).toContain("'legacyTokens.secret' is easy to guess")
  })
})

function withDisabled() {
  return { fields: { isDisabled: z.boolean().default(false) } }
}
