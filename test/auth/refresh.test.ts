import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { password, userModel } from './accounts.ts'
import { parallel, type Service, service, statuses } from './service.ts'

const refresh = ({ post }: Service, refreshToken: unknown) =>
  post('/auth/token/refresh', { refreshToken })
const signIn = async ({ post }: Service, email = 'ann@example.com'): Promise<string> =>
  (await post('/auth/login', { email, password })).body.data.refreshToken
const dead = 'Invalid or expired refresh token.'

describe('4.5 POST /token/refresh', () => {
  it('2.5 sign-in data: rotation gives a new access token, a new refresh token, the user', async () => {
    const app = await service()
    const first = await app.register('ann@example.com')
    const answer = await refresh(app, first.refreshToken)
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body.data).sort()).toEqual([
      'expiresIn',
      'refreshExpiresIn',
      'refreshToken',
      'token',
      'user',
    ])
    expect(answer.body.data.refreshToken).not.toBe(first.refreshToken)
    expect((await app.call('GET', '/auth/me', undefined, answer.body.data.token)).status).toBe(200)
  })

  it('5.4 refresh options: keeps the token, and its expiry, without rotation', async () => {
    const app = await service({
      auth: { refresh: { enabled: true, rotate: false, expiresIn: 100 } },
    })
    const { refreshToken } = await app.register('ann@example.com')
    app.later(60)
    const answer = await refresh(app, refreshToken)
    expect(answer.body.data).toMatchObject({ refreshToken, refreshExpiresIn: 40 })
    app.later(40)
    expect((await refresh(app, refreshToken)).status).toBe(401)
  })

  it('5.4 refresh options: slides with rotation, up to maxLifetime', async () => {
    const app = await service({
      auth: { refresh: { enabled: true, expiresIn: 100, maxLifetime: 250 } },
    })
    let { refreshToken } = await app.register('ann@example.com')
    for (const left of [100, 100, 70]) {
      app.later(60)
      const answer = await refresh(app, refreshToken)
      expect(answer.body.data.refreshExpiresIn).toBe(left)
      refreshToken = answer.body.data.refreshToken
    }
    app.later(70)
    expect((await refresh(app, refreshToken)).status).toBe(401)
  })

  it('re-reads the user: his role, and whether he is disabled', async () => {
    const app = await service({
      auth: { fields: { disabled: 'banned' } },
      fields: { banned: z.boolean().optional() },
    })
    const { user, refreshToken } = await app.register('ann@example.com')
    await app.users.update(user._id, { role: 'admin' })
    const answer = await refresh(app, refreshToken)
    expect(answer.body.data.user.role).toBe('admin')
    await app.users.update(user._id, { banned: true })
    const refused = await refresh(app, answer.body.data.refreshToken)
    expect([refused.status, refused.body.error]).toEqual([401, dead])
  })

  it('inside the grace every presentation gets the one successor', async () => {
    const app = await service()
    const { refreshToken } = await app.register('ann@example.com')
    const answers = await parallel(50, () => refresh(app, refreshToken))
    expect(statuses(answers)).toEqual({ 200: 50 })
    expect(new Set(answers.map(({ body }) => body.data.refreshToken)).size).toBe(1)
    app.later(9)
    expect((await refresh(app, refreshToken)).body.data.refreshToken).toBe(
      answers[0]?.body.data.refreshToken,
    )
  })

  it('an old token after the grace ends the session, and its heirs', async () => {
    const app = await service()
    const first = (await app.register('ann@example.com')).refreshToken
    const second = (await refresh(app, first)).body.data.refreshToken
    const third = (await refresh(app, second)).body.data.refreshToken
    app.later(11)
    expect(statuses(await Promise.all([refresh(app, first), refresh(app, first)]))).toEqual({
      401: 2,
    })
    for (const token of [third, second, first, third])
      expect((await refresh(app, token)).status).toBe(401)
  })

  it('every older token of a long chain is known for reuse', async () => {
    const app = await service()
    await app.register('ann@example.com')
    for (const old of [0, 1, 17, 63, 126]) {
      const chain = [await signIn(app)]
      for (let turn = 0; turn < 128; turn += 1) {
        chain.push((await refresh(app, chain.at(-1))).body.data.refreshToken)
      }
      expect((await refresh(app, chain[old])).status).toBe(401)
      expect((await refresh(app, chain.at(-1))).status).toBe(401)
    }
  })

  it('reuse ends every session of that user, and of nobody else', async () => {
    const app = await service()
    const first = (await app.register('ann@example.com')).refreshToken
    const other = await signIn(app)
    const bob = (await app.register('bob@example.com')).refreshToken
    await refresh(app, first)
    app.later(11)
    await refresh(app, first)
    expect((await refresh(app, other)).status).toBe(401)
    expect((await refresh(app, bob)).status).toBe(200)
  })

  it('with revokeAllOnReuse: false it ends only that session', async () => {
    const app = await service({ auth: { refresh: { enabled: true, revokeAllOnReuse: false } } })
    const first = (await app.register('ann@example.com')).refreshToken
    const other = await signIn(app)
    const next = (await refresh(app, first)).body.data.refreshToken
    app.later(11)
    await refresh(app, first)
    expect((await refresh(app, next)).status).toBe(401)
    expect((await refresh(app, other)).status).toBe(200)
  })

  it('every refusal is the same', async () => {
    const app = await service()
    const { refreshToken } = await app.register('ann@example.com')
    const loggedOut = await signIn(app)
    await app.post('/auth/logout', { refreshToken: loggedOut })
    const seen = new Set<string>()
    for (const token of [
      undefined,
      null,
      5,
      true,
      '',
      'x',
      loggedOut,
      `${refreshToken}x`,
      'x'.repeat(100_000),
    ]) {
      const { status, body, headers } = await refresh(app, token)
      seen.add(
        JSON.stringify([
          status,
          body.error,
          headers.get('www-authenticate'),
          headers.get('cache-control'),
        ]),
      )
    }
    expect([...seen]).toEqual([JSON.stringify([401, dead, 'Bearer', 'no-store'])])
  })

  it('no session outlives a password that a version without sessions has changed', async () => {
    const store = sqliteStore()
    const app = await service({ store })
    const { refreshToken, user } = await app.register('ann@example.com')
    const model = userModel({ auth: { refresh: false as never } })
    const before = await service({ store, model, auth: { refresh: { enabled: false } } })
    before.later(60)
    const { token } = (await before.post('/auth/login', { email: 'ann@example.com', password }))
      .body.data
    const change = { currentPassword: password, newPassword: 'another good one 7' }
    expect((await before.post('/auth/password/change', change, token)).status).toBe(200)
    expect(await app.stored(user._id)).toMatchObject({
      refreshTokens: [{ id: expect.any(String) }],
    })
    expect(await refresh(app, refreshToken)).toMatchObject({ status: 401, body: { error: dead } })
    // This one's clock is behind.
    const again = { email: 'ann@example.com', password: change.newPassword }
    const next = (await app.post('/auth/login', again)).body.data.refreshToken
    expect((await refresh(app, next)).status).toBe(200)
  })

  it('a token changed in any place is no token, and no reuse', async () => {
    const app = await service()
    const { refreshToken } = await app.register('ann@example.com')
    for (let at = 0; at < refreshToken.length; at += 1) {
      const swapped = refreshToken[at] === 'A' ? 'B' : 'A'
      const forged = `${refreshToken.slice(0, at)}${swapped}${refreshToken.slice(at + 1)}`
      expect((await refresh(app, forged)).status).toBe(401)
    }
    expect((await refresh(app, refreshToken)).status).toBe(200)
  })

  it('what is stored opens nothing', async () => {
    const app = await service()
    const { refreshToken, user } = await app.register('ann@example.com')
    const next = (await refresh(app, refreshToken)).body.data.refreshToken
    const record = JSON.stringify(await app.stored(user._id))
    expect(record).not.toContain(refreshToken)
    expect(record).not.toContain(next)
    const [session] = (await app.stored(user._id)).refreshTokens as Record<string, string>[]
    for (const value of [session?.hash, session?.previousHash, session?.id]) {
      expect((await refresh(app, value)).status).toBe(401)
    }
  })

  it('the oldest sign-in makes room', async () => {
    const app = await service({ auth: { refresh: { enabled: true, maxSessions: 3 } } })
    const { user, refreshToken } = await app.register('ann@example.com')
    const tokens = [refreshToken, await signIn(app), await signIn(app)]
    tokens[0] = (await refresh(app, tokens[0])).body.data.refreshToken
    const fourth = await signIn(app)
    expect((await refresh(app, tokens[0])).status).toBe(401)
    for (const token of [tokens[1], tokens[2], fourth])
      expect((await refresh(app, token)).status).toBe(200)
    expect((await app.stored(user._id)).refreshTokens).toHaveLength(3)
  })

  it('sessions whose time is over make room before any that is alive', async () => {
    const app = await service({
      auth: { refresh: { enabled: true, expiresIn: '1d', maxSessions: 2 } },
    })
    const { user, refreshToken } = await app.register('ann@example.com')
    await signIn(app)
    app.later(20 * 3600)
    const first = (await refresh(app, refreshToken)).body.data.refreshToken
    app.later(5 * 3600)
    const third = await signIn(app)
    expect((await app.stored(user._id)).refreshTokens).toHaveLength(2)
    for (const token of [first, third]) expect((await refresh(app, token)).status).toBe(200)
  })

  it('so they do when another device refreshes during the sign-in', async () => {
    let during = async () => {}
    const app = await service({
      auth: {
        refresh: { enabled: true, expiresIn: '1d', maxSessions: 2 },
        onLogin: () => during(),
      },
    })
    let { refreshToken: first } = await app.register('ann@example.com')
    const refreshFirst = async () => {
      first = (await refresh(app, first)).body.data.refreshToken
    }
    await signIn(app)
    app.later(20 * 3600)
    await refreshFirst()
    app.later(5 * 3600)
    during = refreshFirst
    await signIn(app)
    expect((await refresh(app, first)).status).toBe(200)
  })

  it('of 20 sign-ins at once five sessions live where others are over', async () => {
    const app = await service({
      auth: { refresh: { enabled: true, expiresIn: '1d' }, lockout: { maxAttempts: 100 } },
    })
    const { user } = await app.register('ann@example.com')
    for (let device = 0; device < 4; device += 1) await signIn(app)
    app.later(86_400)
    const tokens = await parallel(20, () => signIn(app))
    expect((await app.stored(user._id)).refreshTokens).toHaveLength(5)
    const answers = await parallel(20, (index) => refresh(app, tokens[index]))
    expect(statuses(answers)).toEqual({ 200: 5, 401: 15 })
  })

  it('2.4 stored sessions: hold what is listed', async () => {
    const app = await service()
    const { user, refreshToken } = await app.register('ann@example.com')
    await app.app.handle(
      new Request('http://localhost/auth/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'Browser/1' },
        body: JSON.stringify({ email: 'ann@example.com', password }),
      }),
    )
    await refresh(app, refreshToken)
    const [first, second] = (await app.stored(user._id)).refreshTokens as Record<string, unknown>[]
    expect(Object.keys(first ?? {}).sort()).toEqual([
      'createdAt',
      'expiresAt',
      'hash',
      'id',
      'lastUsedAt',
      'previousHash',
      'rotatedAt',
    ])
    expect(second?.userAgent).toBe('Browser/1')
  })

  it('5.4 refresh options: the environment switches them on and sets them, options override it', async () => {
    const env = {
      AUTH_REFRESH_ENABLED: 'true',
      AUTH_REFRESH_ROTATE: 'false',
      AUTH_REFRESH_EXPIRES_IN: '2h',
    }
    const app = await service({ app: { env }, auth: { refresh: {} } })
    const { refreshToken, refreshExpiresIn } = await app.register('ann@example.com')
    expect(refreshExpiresIn).toBe(7200)
    expect((await refresh(app, refreshToken)).body.data.refreshToken).toBe(refreshToken)
    const off = await service({ app: { env }, auth: { refresh: { enabled: false } } })
    expect(await off.register('ann@example.com')).not.toHaveProperty('refreshToken')
    expect((await refresh(off, 'x')).status).toBe(404)
  })

  it.each([
    ['7200', 7200],
    ['', 30 * 86_400],
  ])('5.4 AUTH_REFRESH_EXPIRES_IN of %j is %i seconds', async (value, seconds) => {
    const env = { AUTH_REFRESH_EXPIRES_IN: value }
    const app = await service({ app: { env }, auth: { refresh: { enabled: true } } })
    expect((await app.register('ann@example.com')).refreshExpiresIn).toBe(seconds)
  })
})

describe('4.5 POST /logout', () => {
  it('ends that session only', async () => {
    const app = await service()
    const first = (await app.register('ann@example.com')).refreshToken
    const second = await signIn(app)
    const answer = await app.post('/auth/logout', { refreshToken: first })
    expect([answer.status, answer.body]).toEqual([200, { success: true, message: 'Signed out.' }])
    expect((await refresh(app, first)).status).toBe(401)
    expect((await refresh(app, second)).status).toBe(200)
  })

  it('answers the same to anything, and ends nothing that is not its own', async () => {
    const app = await service()
    const first = (await app.register('ann@example.com')).refreshToken
    const next = (await refresh(app, first)).body.data.refreshToken
    app.later(11)
    for (const body of [
      {},
      { refreshToken: 'garbage' },
      { refreshToken: '' },
      { refreshToken: first },
      { refreshToken: null },
    ]) {
      expect((await app.post('/auth/logout', body)).body).toEqual({
        success: true,
        message: 'Signed out.',
      })
    }
    expect((await refresh(app, next)).status).toBe(200)
  })

  it('takes a token that was rotated away within the grace', async () => {
    const app = await service()
    const first = (await app.register('ann@example.com')).refreshToken
    const next = (await refresh(app, first)).body.data.refreshToken
    await app.post('/auth/logout', { refreshToken: first })
    expect((await refresh(app, next)).status).toBe(401)
  })
})

describe('4.5 POST /logout/all', () => {
  it('ends every session of the user', async () => {
    const app = await service()
    const { token, refreshToken } = await app.register('ann@example.com')
    const second = await signIn(app)
    expect((await app.post('/auth/logout/all')).status).toBe(401)
    const answer = await app.post('/auth/logout/all', {}, token)
    expect(answer.body).toEqual({ success: true, message: 'Signed out everywhere.' })
    for (const gone of [refreshToken, second]) expect((await refresh(app, gone)).status).toBe(401)
    expect((await refresh(app, await signIn(app))).status).toBe(200)
  })
})
