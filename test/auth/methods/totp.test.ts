import { Secret, TOTP } from 'otpauth'
import { describe, expect, it } from 'vitest'
import { keysFor, seal } from '../../../src/auth/keys/signing.ts'
import { createAuthRouter, type Fields } from '../../../src/index.ts'
import { codeAt, stepOf } from '../../../src/methods/totp/codes.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { authOptions, password, secret as tokenSecret } from '../accounts.ts'
import { parallel, statuses } from '../service.ts'
import { credentials, email, factored } from './factored.ts'

describe('The codes', () => {
  it.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('at %i seconds are those of RFC 6238', async (seconds, code) => {
    const secret = new Secret({ buffer: new TextEncoder().encode('12345678901234567890').buffer })
    expect(await codeAt(secret.base32, Math.floor(seconds / 30))).toBe(code.slice(-6))
  })

  it('are those that otpauth gives and takes', async () => {
    for (let at = 0; at < 200; at += 1) {
      const secret = new Secret({ size: 20 })
      const timestamp = at * 9_876_543_210
      const other = new TOTP({ secret })
      const code = other.generate({ timestamp })
      expect(await codeAt(secret.base32, Math.floor(timestamp / 30_000))).toBe(code)
      expect(await stepOf(secret.base32, code, timestamp)).toBe(Math.floor(timestamp / 30_000))
    }
  })
})

describe('Setting an authenticator app up', () => {
  it('gives a secret and a URI that apps take, and counts when a first code is right', async () => {
    const app = await factored()
    const { body } = await app.post('/auth/totp', {}, app.ann.token)
    const uri = new URL(body.data.uri)
    expect(uri.protocol + uri.host + decodeURIComponent(uri.pathname)).toBe(
      `otpauth:totp/Atlas:${email}`,
    )
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      ...{
        secret: body.data.secret,
        issuer: 'Atlas',
        algorithm: 'SHA1',
        digits: '6',
        period: '30',
      },
    })
    expect(body.data.secret).toMatch(/^[A-Z2-7]{32}$/)
    expect((await app.post('/auth/login', credentials)).status).toBe(200)
    const { ticket, secret } = body.data
    const confirm = (more: Fields) =>
      app.post('/auth/totp/confirm', { ticket, ...more }, app.ann.token)
    expect((await confirm({ code: '000000' })).status).toBe(400)
    expect((await confirm({ code: 123456 })).body.error).toBe('Invalid credentials format.')
    expect((await confirm({ code: app.codeOf(secret), ticket: `${ticket}x` })).status).toBe(400)
    const { status, body: done } = await confirm({ code: app.codeOf(secret) })
    expect(status).toBe(200)
    expect(done.data.recoveryCodes).toHaveLength(10)
    expect(new Set(done.data.recoveryCodes).size).toBe(10)
    const asked = await app.post('/auth/login', credentials)
    expect(asked.status).toBe(401)
    expect(asked.body).toEqual({
      success: false,
      error: 'A second step is needed to sign in.',
      ticket: expect.any(String),
      expiresIn: 300,
      secondStep: ['totp', 'recovery-code'],
      requestId: expect.any(String),
    })
  })

  it('needs a recent sign-in, and a ticket of the same account that has not expired', async () => {
    const app = await factored()
    const bob = await app.register('bob@example.com')
    const { secret, ticket } = (await app.post('/auth/totp', {}, app.ann.token)).body.data
    const confirm = (token: string) =>
      app.post('/auth/totp/confirm', { ticket, code: app.codeOf(secret) }, token)
    expect((await confirm(bob.token)).status).toBe(400)
    app.later(601)
    expect((await app.post('/auth/totp', {}, app.ann.token)).body.error).toBe(
      'Sign in again to do this.',
    )
    expect((await confirm(app.ann.token)).status).toBe(400)
  })

  it('stores neither the secret nor a recovery code in clear', async () => {
    const app = await factored()
    const { secret, codes } = await app.enrol()
    const host = hostOf(app.app.store)
    const model = [...host.known()].find(({ name }) => name === 'UserTotp')
    const stored = await host.engine(model as never).first({ op: 'and', filters: [] })
    expect(JSON.stringify(stored)).not.toContain(secret)
    for (const code of codes) expect(JSON.stringify(stored)).not.toContain(code.replaceAll('-', ''))
    expect(JSON.stringify(await app.stored(app.ann.user._id))).not.toContain(String(stored?.secret))
  })

  it('makes no session strong that was there before', async () => {
    const app = await factored()
    await app.enrol()
    for (const [method, path] of [
      ['DELETE', '/auth/totp'],
      ['POST', '/auth/recovery-codes'],
      ['POST', '/auth/totp'],
      ['POST', '/auth/keys'],
      ['DELETE', `/auth/keys/${'0'.repeat(24)}`],
    ] as const) {
      const { status, body } = await app.call(
        method,
        path,
        method === 'POST' ? {} : undefined,
        app.ann.token,
      )
      expect([path, status, body.error]).toEqual([path, 403, 'Sign in again to do this.'])
    }
  })
})

describe('A second step', () => {
  it('takes a code of now, of the step before and of the next one, each once', async () => {
    const app = await factored()
    const { secret } = await app.enrol()
    expect((await app.answer({ totp: app.codeOf(secret) })).status).toBe(401)
    app.later(300)
    expect((await app.answer({ totp: app.codeOf(secret, -2) })).status).toBe(401)
    expect((await app.answer({ totp: app.codeOf(secret, 2) })).status).toBe(401)
    expect((await app.answer({ totp: app.codeOf(secret, -1) })).status).toBe(200)
    expect((await app.answer({ totp: app.codeOf(secret) })).status).toBe(200)
    expect((await app.answer({ totp: app.codeOf(secret, -1) })).status).toBe(401)
    expect((await app.answer({ totp: app.codeOf(secret, 1) })).status).toBe(200)
  })

  it('opens one session with one code, however many tickets there are', async () => {
    const app = await factored({ auth: { lockout: { maxAttempts: 100 } } })
    const { secret } = await app.enrol()
    app.later(30)
    const tickets = await parallel(8, () => app.ticketOf())
    const code = app.codeOf(secret)
    const answers = await parallel(8, (at) =>
      app.post('/auth/login', { ticket: tickets[at], totp: code }),
    )
    expect(statuses(answers)).toEqual({ 200: 1, 401: 7 })
  })

  it('takes each recovery code once, also at once', async () => {
    const app = await factored({ auth: { lockout: { maxAttempts: 100 } } })
    const { codes } = await app.enrol()
    const tickets = await parallel(6, () => app.ticketOf())
    const recoveryCode = ` ${codes[0]?.toUpperCase().replaceAll('-', '')}`
    const answers = await parallel(6, (at) =>
      app.post('/auth/login', { ticket: tickets[at], recoveryCode }),
    )
    expect(statuses(answers)).toEqual({ 200: 1, 401: 5 })
    const others = await parallel(3, async (at) => app.answer({ recoveryCode: codes[at + 1] }))
    expect(statuses(others)).toEqual({ 200: 3 })
  })

  it('is not used up by a ticket that has opened its session', async () => {
    const app = await factored()
    const { codes } = await app.enrol()
    const ticket = await app.ticketOf()
    const send = (at: number) => app.post('/auth/login', { ticket, recoveryCode: codes[at] })
    expect([(await send(0)).status, (await send(1)).status]).toEqual([200, 401])
    expect((await app.answer({ recoveryCode: codes[1] })).status).toBe(200)
  })

  it('can be guessed at as often as a password, with all kinds of answers together', async () => {
    const app = await factored({ auth: { lockout: { maxAttempts: 3, lockSeconds: 60 } } })
    const { secret, codes } = await app.enrol()
    app.later(30)
    for (const wrong of [{ totp: '000000' }, { recoveryCode: 'wrong' }, { totp: '000001' }]) {
      expect((await app.answer(wrong)).status).toBe(401)
    }
    expect((await app.answer({ totp: app.codeOf(secret) })).body.error).toBe('Invalid credentials.')
    expect((await app.answer({ recoveryCode: codes[0] })).status).toBe(401)
    app.later(60)
    expect((await app.answer({ totp: app.codeOf(secret) })).status).toBe(200)
  })

  it('waits until a lock ends, also for a ticket from before it', async () => {
    const app = await factored({ auth: { lockout: { maxAttempts: 2, lockSeconds: 60 } } })
    const { codes } = await app.enrol()
    const ticket = await app.ticketOf()
    for (const wrong of ['wrong one', 'wrong too']) {
      await app.post('/auth/login', { ...credentials, password: wrong })
    }
    const answer = () => app.post('/auth/login', { ticket, recoveryCode: codes[0] })
    const { status, body } = await answer()
    expect([status, body.error]).toEqual([401, 'Invalid credentials.'])
    app.later(60)
    expect((await answer()).status).toBe(200)
  })

  it.each([
    [{ totp: 123456 }],
    [{ totp: { $ne: '' } }],
    [{ recoveryCode: ['x'] }],
    [{ totp: null }],
  ])('refuses %j with a 400, and counts nothing', async (more) => {
    const app = await factored({ auth: { lockout: { maxAttempts: 1 } } })
    const { secret } = await app.enrol()
    app.later(30)
    const { status, body } = await app.answer(more)
    expect([status, body.error]).toEqual([400, 'Invalid credentials format.'])
    expect((await app.answer({ totp: app.codeOf(secret) })).status).toBe(200)
  })

  it('is asked of every other way in too', async () => {
    const app = await factored()
    await app.post('/auth/login/link', { identifier: email })
    await app.post('/auth/login', { link: app.sent.at(-1)?.code })
    await app.post('/auth/password/forgot', { identifier: email })
    const reset = { identifier: email, code: app.sent.at(-1)?.code, newPassword: password }
    await app.post('/auth/password/reset', reset)
    const { token } = (await app.post('/auth/login', credentials)).body.data
    const { secret } = await app.enrol(token)
    await app.post('/auth/login/link', { identifier: email })
    const asked = await app.post('/auth/login', { link: app.sent.at(-1)?.code })
    expect(asked.body.secondStep).toEqual(['totp', 'recovery-code'])
    app.later(30)
    const { ticket } = asked.body
    expect((await app.post('/auth/login', { ticket, totp: app.codeOf(secret) })).status).toBe(200)
  })
})

it.each([[undefined], [{}], [{ issuer: '' }], [{ issuer: ' ' }], [{ issuer: 'a:b' }]])(
  'totp(%j) is refused',
  (options) => {
    expect(() => totp(options as never)).toThrow(TypeError)
  },
)

describe('Two auth routers of one user model', () => {
  it('both take the codes and recovery codes that were set up at one of them', async () => {
    const methods = [totp({ issuer: 'Atlas' })]
    const app = await factored({ auth: { methods } })
    const other = createAuthRouter(authOptions(app.User, app.sent, { methods }))
    app.app.mount('/staff', other.router)
    const { secret, codes } = await app.enrol()
    const there = async (answer: Fields) => {
      const { ticket } = (await app.post('/staff/login', credentials)).body
      return (await app.post('/staff/login', { ticket, ...answer })).status
    }
    app.later(30)
    expect(await there({ totp: app.codeOf(secret) })).toBe(200)
    expect(await there({ recoveryCode: codes[0] })).toBe(200)
    app.later(30)
    expect((await app.answer({ totp: app.codeOf(secret) })).status).toBe(200)
    expect((await app.answer({ recoveryCode: codes[0] })).status).toBe(401)
    // A ticket is that of one router still.
    const ticket = await app.ticketOf()
    expect((await app.post('/staff/login', { ticket, recoveryCode: codes[1] })).status).toBe(401)
  })

  it('of which one lacks the secret that it was set up under take no code, and the log says why', async () => {
    const methods = [totp({ issuer: 'Atlas' })]
    const app = await factored({ auth: { methods } })
    const { secret } = await app.enrol()
    const token = { secret: 'another-secret-of-forty-characters-12345' }
    const other = createAuthRouter({ ...authOptions(app.User, app.sent, { methods }), token })
    app.app.mount('/staff', other.router)
    app.later(30)
    const { ticket } = (await app.post('/staff/login', credentials)).body
    const answer = await app.post('/staff/login', { ticket, totp: app.codeOf(secret) })
    expect([answer.status, answer.body.error]).toEqual([401, 'Invalid credentials.'])
    expect(app.log.join()).toContain("'token.secret' lacks the one it was set up under")
  })

  it('read what was stored before they shared it, where it was set up', async () => {
    const app = await factored()
    const { secret, codes } = await app.enrol()
    const host = hostOf(app.app.store)
    const model = [...host.known()].find(({ name }) => name === 'UserTotp')
    const { stored } = host.engine(model as never)
    const id = app.ann.user._id
    const keys = keysFor([tokenSecret], { model: 'User', mount: '/auth' }, 'method totp')
    const old = (code: string) => JSON.stringify(['recovery', id, code.replaceAll('-', '')])
    const iv = crypto.getRandomValues(new Uint8Array(12))
    const key = await crypto.subtle.importKey(
      'raw',
      keys.current.mac('encryption').slice(),
      'AES-GCM',
      false,
      ['encrypt'],
    )
    const bound = new TextEncoder().encode(id)
    const bytes = await crypto.subtle.encrypt(
      { name: 'AES-GCM', iv, additionalData: bound },
      key,
      new TextEncoder().encode(secret),
    )
    const text = Buffer.concat([iv, new Uint8Array(bytes)]).toString('base64url')
    const set = {
      secret: `${keys.current.id}.${text}`,
      codes: codes.map((code) => ({ seal: seal(keys.current, old(code)) })),
    }
    expect(await stored.update({ op: 'eq', field: 'owner', value: id }, { set })).not.toBeNull()
    app.later(30)
    expect((await app.answer({ totp: app.codeOf(secret) })).status).toBe(200)
    expect((await app.answer({ recoveryCode: codes[0] })).status).toBe(200)
  })
})

it('An account is called by its identifier in the app, however the field is called', async () => {
  const app = await factored({ auth: { fields: { email: 'mail' } } })
  const { uri } = (await app.post('/auth/totp', {}, app.ann.token)).body.data
  expect(decodeURIComponent(new URL(uri).pathname)).toContain(`Atlas:${email}`)
})
