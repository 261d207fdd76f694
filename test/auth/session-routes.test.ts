import { describe, expect, it } from 'vitest'
import { password } from './accounts.ts'
import { type Service, service } from './service.ts'

interface SignedIn {
  readonly token: string
  readonly refreshToken: string
}

interface Listed {
  readonly id: string
  readonly current: boolean
}

const signIn = async ({ post }: Service, email = 'ann@example.com'): Promise<SignedIn> =>
  (await post('/auth/login', { email, password })).body.data
const list = ({ call }: Service, token?: string) => call('GET', '/auth/sessions', undefined, token)
const listed = async (app: Service, token: string): Promise<Listed[]> =>
  (await list(app, token)).body.data
const end = ({ call }: Service, id: string, token?: string) =>
  call('DELETE', `/auth/sessions/${id}`, undefined, token)
const status = async ({ call }: Service, { token }: SignedIn) =>
  (await call('GET', '/auth/me', undefined, token)).status

describe('next, GET /sessions', () => {
  it('lists the own sessions, the newest first, with nothing but what is told', async () => {
    const app = await service()
    await app.register('bob@example.com')
    const first = await app.register('ann@example.com')
    app.later(60)
    const second = await signIn(app)
    app.later(60)
    await app.post('/auth/token/refresh', { refreshToken: first.refreshToken })
    const answer = await list(app, second.token)
    const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1) + seconds * 1000).toISOString()
    const days = 30 * 86_400
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      data: [
        {
          id: expect.any(String),
          createdAt: at(60),
          lastUsedAt: at(60),
          expiresAt: at(60 + days),
          current: true,
        },
        {
          id: expect.any(String),
          createdAt: at(0),
          lastUsedAt: at(120),
          expiresAt: at(120 + days),
          current: false,
        },
      ],
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('puts sign-ins of one instant in their order', async () => {
    const app = await service()
    let { token } = await app.register('ann@example.com')
    for (const place of [0, 1, 2, 3]) {
      expect((await listed(app, token)).map(({ current }) => current).indexOf(true)).toBe(0)
      expect(await listed(app, token)).toHaveLength(place + 1)
      token = (await signIn(app)).token
    }
  })

  it('leaves out sessions whose time is over, by maxLifetime too', async () => {
    for (const lifetime of [{ expiresIn: 100 }, { expiresIn: '1d', maxLifetime: 100 }] as const) {
      const app = await service({ auth: { refresh: { enabled: true, ...lifetime } } })
      await app.register('ann@example.com')
      app.later(60)
      const { token } = await signIn(app)
      expect(await listed(app, token)).toHaveLength(2)
      app.later(40)
      expect(await listed(app, token)).toMatchObject([{ current: true }])
    }
  })

  it('tells when maxLifetime ends a session, also one from before it was set', async () => {
    const app = await service({
      auth: { refresh: { enabled: true, expiresIn: '1d', maxLifetime: 100 } },
    })
    const { token, user } = await app.register('ann@example.com')
    const [stored] = (await app.stored(user._id)).refreshTokens as object[]
    const later = new Date(app.now() + 86_400_000)
    await app.users.update(user._id, { refreshTokens: [{ ...stored, expiresAt: later }] })
    const expiresAt = new Date(app.now() + 100_000).toISOString()
    expect(await listed(app, token)).toMatchObject([{ expiresAt }])
  })

  it('shows no secret, and no id that opens anything', async () => {
    const app = await service()
    const { token, refreshToken, user } = await app.register('ann@example.com')
    const { text, body } = await list(app, token)
    const [stored] = (await app.stored(user._id)).refreshTokens as { hash: string }[]
    for (const secret of [token, refreshToken, stored?.hash]) expect(text).not.toContain(secret)
    const [{ id }] = body.data
    expect((await app.post('/auth/token/refresh', { refreshToken: id })).status).toBe(401)
    expect(await status(app, { token: id, refreshToken })).toBe(401)
  })

  it('asks for a sign-in', async () => {
    const app = await service()
    const answer = await list(app)
    expect([answer.status, answer.body.error]).toEqual([401, 'Authentication required.'])
  })
})

describe('next, DELETE /sessions/:id', () => {
  it('ends that session, with its tokens, and no other', async () => {
    const app = await service()
    const first = await app.register('ann@example.com')
    app.later(1)
    const second = await signIn(app)
    const [, { id } = { id: '' }] = await listed(app, second.token)
    const answer = await end(app, id, second.token)
    expect([answer.status, answer.body]).toEqual([200, { success: true, message: 'Signed out.' }])
    expect([await status(app, first), await status(app, second)]).toEqual([401, 200])
    expect((await app.post('/auth/token/refresh', first)).status).toBe(401)
    expect((await app.post('/auth/token/refresh', second)).status).toBe(200)
    expect(await listed(app, second.token)).toMatchObject([{ current: true }])
  })

  it('ends the current one too', async () => {
    const app = await service()
    const first = await app.register('ann@example.com')
    const [{ id } = { id: '' }] = await listed(app, first.token)
    expect((await end(app, id, first.token)).status).toBe(200)
    expect(await status(app, first)).toBe(401)
  })

  it("is a 404 for another's, one that has ended, one whose time is over, and no id", async () => {
    const app = await service({ auth: { refresh: { enabled: true, expiresIn: 100 } } })
    const over = await app.register('ann@example.com')
    const [{ id: overId } = { id: '' }] = await listed(app, over.token)
    app.later(50)
    const ann = await signIn(app)
    const bob = await app.register('bob@example.com')
    const admin = await app.admin()
    const [{ id: bobs } = { id: '' }] = await listed(app, bob.token)
    const gone = await signIn(app)
    const [{ id: goneId } = { id: '' }] = await listed(app, gone.token)
    expect((await end(app, goneId, ann.token)).status).toBe(200)
    app.later(50)
    for (const id of [bobs, goneId, overId, 'x', '5', '__proto__', '%00', 'undefined', 'null']) {
      const answer = await end(app, id, ann.token)
      expect([id, answer.status, answer.body.error]).toEqual([id, 404, 'Entry not found.'])
    }
    expect((await end(app, bobs, admin.token)).status).toBe(404)
    expect(await status(app, bob)).toBe(200)
    expect((await end(app, bobs)).status).toBe(401)
  })
})

describe('next, DELETE /users/:id/sessions', () => {
  it('ends all sessions of that user, for admins alone', async () => {
    const app = await service()
    const ann = await app.register('ann@example.com')
    const second = await signIn(app)
    const admin = await app.admin()
    const path = `/auth/users/${ann.user._id}/sessions`
    expect((await app.call('DELETE', path)).status).toBe(401)
    expect((await app.call('DELETE', path, undefined, ann.token)).status).toBe(403)
    expect(await status(app, ann)).toBe(200)
    const answer = await app.call('DELETE', path, undefined, admin.token)
    const told = { success: true, message: 'Signed out everywhere.' }
    expect([answer.status, answer.body]).toEqual([200, told])
    for (const session of [ann, second]) {
      expect(await status(app, session)).toBe(401)
      expect((await app.post('/auth/token/refresh', session)).status).toBe(401)
    }
    expect(await status(app, await signIn(app))).toBe(200)
    expect((await app.call('GET', '/auth/me', undefined, admin.token)).status).toBe(200)
  })

  it('is a 400 for a malformed id and a 404 for an unknown one', async () => {
    const app = await service()
    const { token } = await app.admin()
    for (const [id, error] of [
      ['x', '400 Invalid ID format.'],
      ['0'.repeat(24), '404 Entry not found.'],
    ]) {
      const answer = await app.call('DELETE', `/auth/users/${id}/sessions`, undefined, token)
      expect(`${answer.status} ${answer.body.error}`).toBe(error)
    }
  })
})

describe('next, the session routes', () => {
  it('are there only where refresh tokens are on', async () => {
    const names = ['listSessions', 'endSession', 'endUserSessions']
    for (const enabled of [true, false]) {
      const { auth } = await service({ auth: { refresh: { enabled } } })
      const rows = auth.router.urls.filter(({ name }) => names.includes(name))
      expect(rows).toEqual(
        enabled
          ? [
              { name: 'listSessions', method: 'GET', path: '/sessions', access: 'signed in' },
              { name: 'endSession', method: 'DELETE', path: '/sessions/:id', access: 'signed in' },
              {
                name: 'endUserSessions',
                method: 'DELETE',
                path: '/users/:id/sessions',
                access: 'admin',
              },
            ]
          : [],
      )
    }
  })
})
