import { describe, expect, it } from 'vitest'
import { HttpError, type SecurityEvent } from '../../src/index.ts'
import { password } from './accounts.ts'
import { type Service, type ServiceOptions, service } from './service.ts'

const email = 'ann@example.com'
const next = 'another password'

/** An app that tells of its events, and what happened since the last look, with whom it happened to. */
async function watched({ auth, ...more }: ServiceOptions = {}) {
  const events: SecurityEvent[] = []
  const app = await service({
    ...more,
    auth: {
      client: (request) => request.headers.get('user-agent') ?? 'the client',
      onSecurityEvent: (event) => void events.push(event),
      ...auth,
    },
  })
  const seen = () => events.splice(0).map(({ type, route, userId }) => [type, route, userId])
  return { app, events, seen }
}
const login = ({ post }: Service, guess: string, identifier = email) =>
  post('/auth/login', { identifier, password: guess })

describe('security events', () => {
  it('tell of every wrong password, wherever it is asked for', async () => {
    const sent: string[] = []
    const { app, seen } = await watched({
      auth: {
        emailVerification: { enabled: true, required: true },
        updateFields: ['email'],
        mail: { sender: ({ code }) => sent.push(code) },
        lockout: { maxAttempts: 3 },
      },
    })
    const { body } = await app.post('/auth/register', { email, password })
    const { _id: id } = body.data.user
    seen()
    await login(app, password)
    expect(seen()).toEqual([['sign-in-failed', 'login', id]])
    const wrong = { identifier: email, otp: '000000', password: 'a wrong password' }
    await app.post('/auth/email/verify', wrong)
    await app.post('/auth/email/verify', { ...wrong, identifier: 'nobody@example.com' })
    expect(seen()).toEqual([
      ['sign-in-failed', 'verifyEmail', id],
      ['sign-in-failed', 'verifyEmail', undefined],
    ])
    await app.post('/auth/email/verify', { identifier: email, otp: sent[0], password })
    const { token } = (await login(app, password)).body.data
    seen()
    const change = { currentPassword: 'a wrong password' }
    await app.post('/auth/password/change', { ...change, newPassword: next }, token)
    await app.call('PATCH', `/auth/users/${id}`, { ...change, email: 'b@example.com' }, token)
    await app.post('/auth/password/change', { ...change, newPassword: next }, token)
    expect(seen()).toEqual([
      ['sign-in-failed', 'changePassword', id],
      ['sign-in-failed', 'updateUser', id],
      ['sign-in-failed', 'changePassword', id],
      ['locked', 'changePassword', id],
    ])
  })

  it('tell of sign-ups and sign-ins, failed ones too', async () => {
    const { app, seen, events } = await watched({ auth: { lockout: { maxAttempts: 2 } } })
    const { user } = await app.register(email)
    const id = user._id
    expect(seen()).toEqual([
      ['signed-up', 'register', id],
      ['signed-in', 'register', id],
    ])
    await login(app, password)
    await login(app, 'a wrong password', 'nobody@example.com')
    await login(app, 'a wrong password')
    const [one] = events
    expect(one).toEqual({
      type: 'signed-in',
      at: new Date(app.now()),
      userId: id,
      client: 'the client',
      requestId: expect.stringMatching(/^[\w-]{36}$/),
      route: 'login',
    })
    expect(seen()).toEqual([
      ['signed-in', 'login', id],
      ['sign-in-failed', 'login', undefined],
      ['sign-in-failed', 'login', id],
    ])
    await login(app, 'a wrong password')
    await login(app, password)
    expect(seen()).toEqual([
      ['sign-in-failed', 'login', id],
      ['locked', 'login', id],
      ['sign-in-failed', 'login', id],
    ])
  })

  it('tell of codes and new passwords', async () => {
    const { app, seen } = await watched()
    const { user, token } = await app.register(email)
    const id = user._id
    seen()
    await app.post('/auth/password/change', { currentPassword: password, newPassword: next }, token)
    await app.post('/auth/password/forgot', { identifier: 'nobody@example.com' })
    await app.post('/auth/password/forgot', { identifier: email })
    const reset = (code: unknown) =>
      app.post('/auth/password/reset', { identifier: email, code, newPassword: password })
    await reset('x')
    await reset(app.sent.at(-1)?.code)
    expect(seen()).toEqual([
      ['password-changed', 'changePassword', id],
      ['code-sent', 'forgotPassword', id],
      ['code-failed', 'resetPassword', id],
      ['password-reset', 'resetPassword', id],
    ])
  })

  it('tell of sessions and roles', async () => {
    const { app, seen } = await watched({ auth: { refresh: { enabled: true, graceSeconds: 0 } } })
    const { user, refreshToken } = await app.register(email)
    const admin = await app.admin()
    await app.post('/auth/token/refresh', { refreshToken })
    seen()
    await app.post('/auth/token/refresh', { refreshToken })
    const again = (await login(app, password)).body.data
    await app.call('PATCH', `/auth/users/${user._id}/roles`, { role: 'admin' }, admin.token)
    await app.post('/auth/logout', { refreshToken: again.refreshToken })
    await app.post('/auth/logout', { refreshToken: 'none' })
    await app.post('/auth/logout/all', {}, admin.token)
    expect(seen()).toEqual([
      ['token-reused', 'refresh', user._id],
      ['signed-in', 'login', user._id],
      ['roles-changed', 'modifyRoles', user._id],
      ['session-ended', 'logout', user._id],
      ['session-ended', 'logoutAll', admin.id],
    ])
  })

  it('tell of social sign-ins', async () => {
    const verify = ({ id }: { id?: string }) => {
      if (!id) throw new HttpError(401, 'No.')
      return { id }
    }
    const social = { own: { verify } } as never
    const { app, seen } = await watched({ auth: { social }, unique: ['ownId'] })
    const { body } = await app.post('/auth/social/own', { id: '1' })
    await app.post('/auth/social/own', {})
    const id = body.data.user._id
    expect(seen()).toEqual([
      ['signed-up', 'social', id],
      ['signed-in', 'social', id],
      ['sign-in-failed', 'social', undefined],
    ])
  })

  it('carry no identifier and no secret, and go to the log by default', async () => {
    const app = await service()
    await app.register(email, { phone: '+4930123' })
    await login(app, 'a wrong password')
    await app.post('/auth/password/forgot', { identifier: email })
    const lines = app.log.filter((line) => line.startsWith('["auth: '))
    expect(lines).toHaveLength(4)
    for (const secret of [email, '+4930123', password, 'a wrong password', app.sent[0]?.code]) {
      expect(lines.join('\n')).not.toContain(secret)
    }
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('broken')
      },
    ],
  ])('change nothing when the hook %s', async (_, onSecurityEvent) => {
    const { app } = await watched({ auth: { onSecurityEvent } })
    await app.register(email)
    expect((await login(app, password)).status).toBe(200)
    expect(app.log.join('\n')).toContain('onSecurityEvent failed')
  })

  it('are not waited for', async () => {
    let told = 0
    const never = () => {
      told += 1
      return new Promise(() => {})
    }
    const { app } = await watched({ auth: { onSecurityEvent: never } })
    const request = new Request('http://localhost/auth/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identifier: email, password }),
    })
    expect((await app.app.handle(request)).status).toBe(401)
    expect(told).toBe(1)
  })
})
