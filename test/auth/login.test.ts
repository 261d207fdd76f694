import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { hasher } from '../../adapters/hashers/scrypt.ts'
import { HttpError } from '../../src/index.ts'
import { cheap, password } from './accounts.ts'
import { raced } from './raced.ts'
import { parallel, type Service, service, statuses } from './service.ts'

const wrong = 'a wrong password'
const login = ({ post }: Service, identifier: unknown, guess: unknown = password) =>
  post('/auth/login', { identifier, password: guess })

describe('4.5 POST /login', () => {
  it('signs in by any identifier, however it is typed', async () => {
    const app = await service()
    await app.register('ann@example.com', { phone: '+49 30 123' })
    for (const identifier of ['ann@example.com', ' ANN@Example.com', '+4930123', '+49 (30) 12-3']) {
      const answer = await login(app, identifier)
      expect(answer.status).toBe(200)
      expect(answer.body.data.user).toMatchObject({ email: 'ann@example.com', phone: '+4930123' })
    }
    expect((await app.post('/auth/login', { email: 'ann@example.com', password })).status).toBe(200)
    expect((await app.post('/auth/login', { phone: '+4930123', password })).status).toBe(200)
  })

  it('refuses what is missing with a 400', async () => {
    const { post } = await service()
    const error = async (body: object) => (await post('/auth/login', body)).body.error
    expect(await error({})).toBe('A password is required.')
    expect(await error({ identifier: 'a@b.example' })).toBe('A password is required.')
    expect(await error({ password })).toBe('An identifier is required.')
  })

  it('gives unknown, wrong, locked and social-only the same answer', async () => {
    const app = await service({ auth: { lockout: { maxAttempts: 1 } } })
    await app.register('known@example.com')
    await app.register('locked@example.com')
    await login(app, 'locked@example.com', wrong)
    const { user } = await app.register('social@example.com')
    await app.users.update(user._id, { password: undefined })
    const seen = new Set<string>()
    for (const name of ['unknown', 'known', 'locked', 'social']) {
      const answer = await login(app, `${name}@example.com`, name === 'locked' ? password : wrong)
      const headers = [...answer.headers].filter(([header]) => header !== 'x-request-id')
      seen.add(JSON.stringify([answer.status, answer.body.error, headers]))
    }
    expect(seen.size).toBe(1)
    expect([...seen][0]).toContain('"Invalid credentials."')
    expect([...seen][0]).toContain('"www-authenticate","Bearer"')
  })

  it('computes exactly one hash for every class of account', async () => {
    let computed = 0
    const counting = {
      hash: (plain: string) => {
        computed += 1
        return cheap.hash(plain)
      },
      verify: (plain: string, stored: string) => {
        computed += 1
        return cheap.verify(plain, stored)
      },
    }
    const app = await service({
      auth: { password: counting, lockout: { maxAttempts: 2 }, fields: { disabled: 'banned' } },
      fields: { banned: z.boolean().optional() },
    })
    for (const name of ['known', 'locked', 'social', 'disabled']) {
      const { user } = await app.register(`${name}@example.com`)
      if (name === 'social') await app.users.update(user._id, { password: undefined })
      if (name === 'disabled') await app.users.update(user._id, { banned: true })
    }
    for (const guess of [wrong, wrong]) await login(app, 'locked@example.com', guess)
    for (const name of ['known', 'unknown', 'locked', 'social', 'disabled']) {
      computed = 0
      expect((await login(app, `${name}@example.com`, wrong)).status).toBe(401)
      expect([name, computed]).toEqual([name, 1])
    }
  })

  it('tells a disabled account only to who has its password', async () => {
    const app = await service({
      auth: { fields: { disabled: 'banned' } },
      fields: { banned: z.boolean().optional() },
    })
    const { user } = await app.register('ann@example.com')
    await app.users.update(user._id, { banned: true })
    expect((await login(app, 'ann@example.com', wrong)).status).toBe(401)
    const answer = await login(app, 'ann@example.com')
    expect([answer.status, answer.body.error]).toEqual([403, 'This account is not active.'])
    // The one from before ended when the account was disabled.
    expect((await app.stored(user._id)).refreshTokens).toHaveLength(0)
  })

  it('counts no guess where the right password of a disabled account is given', async () => {
    const app = await service({
      auth: { fields: { disabled: 'banned' }, lockout: { maxAttempts: 2 } },
      fields: { banned: z.boolean().optional() },
    })
    const { user } = await app.register('ann@example.com')
    await app.users.update(user._id, { banned: true })
    for (let guess = 0; guess < 3; guess += 1) {
      expect((await login(app, 'ann@example.com')).status).toBe(403)
    }
    await app.users.update(user._id, { banned: false })
    expect((await login(app, 'ann@example.com')).status).toBe(200)
  })

  it('an object or list where a credential belongs is a 400 before the store is asked', async () => {
    const app = await service()
    await app.register('ann@example.com')
    await app.app.close()
    const shapes = [{ $ne: null }, { $gt: '' }, { $regex: '^a' }, ['a'], {}]
    const bodies: [string, (value: unknown) => object][] = [
      ['login', (value) => ({ identifier: value, password })],
      ['login', (value) => ({ email: value, password })],
      ['login', (value) => ({ identifier: 'ann@example.com', password: value })],
      ['register', (value) => ({ email: value, password })],
      ['register', (value) => ({ email: 'b@example.com', password: value })],
      ['password/forgot', (value) => ({ identifier: value })],
      ['password/reset', (value) => ({ identifier: value, code: '1', newPassword: password })],
      [
        'password/reset',
        (value) => ({ identifier: 'ann@example.com', code: value, newPassword: password }),
      ],
      [
        'password/reset',
        (value) => ({ identifier: 'ann@example.com', code: '1', newPassword: value }),
      ],
      ['token/refresh', (value) => ({ refreshToken: value })],
      ['logout', (value) => ({ refreshToken: value })],
    ]
    for (const [path, body] of bodies) {
      for (const shape of shapes) {
        const answer = await app.post(`/auth/${path}`, body(shape))
        expect([path, answer.status, answer.body.error]).toEqual([
          path,
          400,
          'Invalid credentials format.',
        ])
      }
    }
  })

  it('numbers, booleans and null are merely wrong, and forms are refused', async () => {
    const app = await service()
    await app.register('ann@example.com')
    for (const value of [1, true, null]) {
      expect((await login(app, 'ann@example.com', value)).status).toBe(401)
      expect((await login(app, value)).status).toBe(401)
      // Under its own name too.
      const named = await app.post('/auth/login', { email: value, password })
      expect([named.status, named.body.error]).toEqual([401, 'Invalid credentials.'])
      expect((await app.post('/auth/password/forgot', { email: value })).status).toBe(200)
    }
    const form = await app.app.handle(
      new Request('http://localhost/auth/login', {
        method: 'POST',
        body: 'identifier[$ne]=&password[$ne]=',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    )
    expect(form.status).toBe(415)
  })

  it('only true opens', async () => {
    const verdicts: (() => unknown)[] = [
      async () => false,
      () => 0,
      () => 1,
      () => 'false',
      () => ({}),
      () => {
        throw new Error('broken')
      },
      async () => {
        throw new Error('broken')
      },
    ]
    for (const verify of verdicts) {
      const app = await service({
        auth: { password: { hash: cheap.hash, verify: verify as never } },
      })
      await app.register('ann@example.com')
      expect((await login(app, 'ann@example.com')).status).toBeGreaterThanOrEqual(401)
    }
  })

  it('keeps scrypt hashes in their format and renews those of older parameters', async () => {
    const app = await service({ auth: { password: {} } })
    const { user } = await app.register('ann@example.com')
    const format = /^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/
    expect((await app.stored(user._id)).password).toMatch(format)
    // RFC 7914 §12: N=16384, r=8, p=1; the first 32 bytes of its 64 are the hash of length 32.
    const hash = Buffer.from(
      '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2',
      'hex',
    )
    const salt = Buffer.from('SodiumChloride').toString('base64url')
    const older = `scrypt$16384$8$1$${salt}$${hash.toString('base64url')}`
    const known = await hasher.verify('pleaseletmein', older)
    await app.users.update(user._id, { password: older })
    expect([known, (await login(app, 'ann@example.com', 'pleaseletmein')).status]).toEqual([
      true,
      200,
    ])
    expect((await app.stored(user._id)).password).toMatch(format)
    expect((await login(app, 'ann@example.com', 'pleaseletmein')).status).toBe(200)
  })

  it('a sign-in that onLogin refuses leaves no session', async () => {
    let refuse: Error | undefined
    const app = await service({
      auth: {
        onLogin(user) {
          expect(user).not.toHaveProperty('password')
          if (refuse) throw refuse
        },
      },
    })
    const { user } = await app.register('ann@example.com')
    refuse = new HttpError(451, 'Not from here.')
    const refused = await login(app, 'ann@example.com')
    expect([refused.status, refused.body.error]).toEqual([451, 'Not from here.'])
    refuse = new Error('broken')
    expect((await login(app, 'ann@example.com')).status).toBe(500)
    const record = await app.stored(user._id)
    expect(record.refreshTokens).toHaveLength(1)
    // The refusal counts, the failure does not.
    expect(record.failedLoginAttempts).toBe(1)
    refuse = undefined
    expect((await login(app, 'ann@example.com')).status).toBe(200)
    expect((await app.stored(user._id)).failedLoginAttempts).toBe(0)
  })

  it('a 401 of any hook names the scheme, unless it names its own', async () => {
    let refuse = new HttpError(401, 'Not you.')
    const hook = () => {
      throw refuse
    }
    const app = await service({
      unique: ['acmeId'],
      auth: {
        onLogin: hook,
        onDelete: hook,
        routes: { deleteUser: true },
        social: { acme: { verify: hook } },
      },
    })
    const { token, user } = await app.register('ann@example.com')
    const schemes = async () => {
      const answers = [
        await login(app, 'ann@example.com'),
        await app.post('/auth/social/acme', {}),
        await app.call('DELETE', `/auth/users/${user._id}`, { currentPassword: password }, token),
      ]
      expect(answers.map(({ body }) => body.error)).toEqual(Array(3).fill('Not you.'))
      return answers.map(({ headers }) => headers.get('www-authenticate'))
    }
    expect(await schemes()).toEqual(['Bearer', 'Bearer', 'Bearer'])
    refuse = new HttpError(401, 'Not you.', { headers: { 'WWW-Authenticate': 'Own' } })
    expect(await schemes()).toEqual(['Own', 'Own', 'Own'])
    const closed = await service({ auth: { onRegister: hook } })
    const refused = await closed.post('/auth/register', { email: 'ann@example.com', password })
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Own'])
  })

  it('a damaged record is refused, never a 500', async () => {
    const app = await service()
    const { user } = await app.register('ann@example.com')
    const raw = app.app.store.collection(app.User)
    expect(
      (await raw.update(user._id, { failedLoginAttempts: undefined, refreshTokens: undefined }))
        ?._id,
    ).toBe(user._id)
    const signedIn = await login(app, 'ann@example.com')
    expect(signedIn.status).toBe(200)
    await raw.update(user._id, { password: undefined, otpAttempts: undefined })
    expect((await login(app, 'ann@example.com')).status).toBe(401)
    const { token } = signedIn.body.data
    expect((await app.call('GET', '/auth/me', undefined, token)).status).toBe(200)
  })
})

describe('3.2 lockout', () => {
  it('locks after maxAttempts, refuses the right password too, and ends by itself', async () => {
    const app = await service({ auth: { lockout: { maxAttempts: 3, lockSeconds: 60 } } })
    const { user } = await app.register('ann@example.com')
    for (let guess = 0; guess < 3; guess += 1) await login(app, 'ann@example.com', wrong)
    expect((await login(app, 'ann@example.com')).status).toBe(401)
    app.later(59)
    expect((await login(app, 'ann@example.com')).status).toBe(401)
    app.later(1)
    expect((await login(app, 'ann@example.com')).status).toBe(200)
    expect((await app.stored(user._id)).failedLoginAttempts).toBe(0)
  })

  it.each([undefined, 'a client that the account knows'])(
    'is not reached by right passwords at the same moment, from %s',
    async (client) => {
      const app = await service({ auth: { client: () => client } })
      const { user } = await app.register('ann@example.com')
      const answers = await parallel(40, () => login(app, 'ann@example.com'))
      expect(statuses(answers)).toEqual({ 200: 40 })
      const isWrong = (index: number) => index % 8 === 0
      const mixed = await parallel(40, (index) =>
        login(app, 'ann@example.com', isWrong(index) ? wrong : password),
      )
      expect(statuses(mixed)).toEqual({ 200: 35, 401: 5 })
      expect(await app.stored(user._id)).not.toHaveProperty('lockedUntil')
      const { refreshTokens } = await app.stored(user._id)
      expect(refreshTokens).toHaveLength(5)
    },
  )

  it('is not reached by right passwords while the database is slow', async () => {
    const store = raced(async () => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    })
    const app = await service({ store, auth: { lockout: { maxAttempts: 8 } } })
    await app.register('ann@example.com')
    const answers = await parallel(40, () => login(app, 'ann@example.com'))
    expect(statuses(answers)).toEqual({ 200: 40 })
  })

  it('is cleared by a successful sign-in', async () => {
    const app = await service({ auth: { lockout: { maxAttempts: 3 } } })
    await app.register('ann@example.com')
    for (let round = 0; round < 4; round += 1) {
      await login(app, 'ann@example.com', wrong)
      await login(app, 'ann@example.com', wrong)
      expect((await login(app, 'ann@example.com')).status).toBe(200)
    }
  })

  it('failures on a known and on an unknown account look alike', async () => {
    const app = await service()
    await app.register('ann@example.com')
    const sequence = async (name: string) => {
      const answers: string[] = []
      for (let guess = 0; guess < 12; guess += 1) {
        const { status, body } = await login(app, name, wrong)
        answers.push(`${status} ${body.error}`)
      }
      return answers
    }
    expect(await sequence('ann@example.com')).toEqual(await sequence('nobody@example.com'))
  })

  it('leaves sessions, refresh and reset alone, and failures do not extend it', async () => {
    const app = await service({ auth: { lockout: { maxAttempts: 2, lockSeconds: 100 } } })
    const { token, refreshToken } = await app.register('ann@example.com')
    for (let guess = 0; guess < 2; guess += 1) await login(app, 'ann@example.com', wrong)
    app.later(50)
    for (let guess = 0; guess < 5; guess += 1) await login(app, 'ann@example.com', wrong)
    expect((await app.call('GET', '/auth/me', undefined, token)).status).toBe(200)
    expect((await app.post('/auth/token/refresh', { refreshToken })).status).toBe(200)
    app.later(50)
    expect((await login(app, 'ann@example.com')).status).toBe(200)
    for (let guess = 0; guess < 2; guess += 1) await login(app, 'ann@example.com', wrong)
    await app.post('/auth/password/forgot', { identifier: 'ann@example.com' })
    const code = app.sent.at(-1)?.code
    await app.post('/auth/password/reset', {
      identifier: 'ann@example.com',
      code,
      newPassword: 'another password',
    })
    expect((await login(app, 'ann@example.com', 'another password')).status).toBe(200)
  })

  it('guesses at the current password count, and are refused while locked', async () => {
    const app = await service({ auth: { lockout: { maxAttempts: 3 } } })
    const { token } = await app.register('ann@example.com')
    const change = (currentPassword: unknown) =>
      app.post('/auth/password/change', { currentPassword, newPassword: 'another password' }, token)
    for (let guess = 0; guess < 3; guess += 1) {
      const answer = await change(wrong)
      expect([answer.status, answer.body.error]).toEqual([401, 'Current password is incorrect.'])
    }
    expect((await change(password)).status).toBe(401)
    expect((await login(app, 'ann@example.com')).status).toBe(401)
  })

  it('says so with reveal', async () => {
    const app = await service({
      auth: { lockout: { maxAttempts: 1, lockSeconds: 90, reveal: true } },
    })
    await app.register('ann@example.com')
    expect((await login(app, 'ann@example.com', wrong)).status).toBe(401)
    app.later(30)
    const answer = await login(app, 'ann@example.com')
    expect([answer.status, answer.body.error]).toEqual([
      429,
      'Too many failed attempts. Try again later.',
    ])
    expect(answer.headers.get('retry-after')).toBe('60')
  })
})
