import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type Fields, HttpError } from '../../src/index.ts'
import { password } from './accounts.ts'
import { credentialsOf, type OpenId, startOpenId } from './openid.ts'
import { raced } from './raced.ts'
import { parallel, type Service, service, statuses } from './service.ts'

const refused = [401, 'The provider did not accept this sign-in.']
const taken = [409, 'An account with those details already exists.']
const told = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]

let openId: OpenId
beforeAll(async () => {
  openId = await startOpenId(['web', 'ios', 'other'])
})
afterAll(() => openId.stop())

/** An app with Google, Apple and a provider of its own, whose profile is what the body says. */
function app(auth: object = {}, more: object = {}): Promise<Service> {
  const endpoints = { issuer: openId.issuer, jwks: openId.jwks }
  return service({
    unique: ['googleId', 'appleId', 'ownId'],
    ...more,
    auth: {
      social: {
        google: { clientId: ['web', 'ios'], endpoints },
        apple: { clientId: 'ios', endpoints },
        own: { verify: (body: { profile?: never }) => body.profile },
      },
      ...auth,
    } as never,
    app: { now: () => Date.now() },
  })
}
const google = ({ post }: Service, idToken: unknown, more: object = {}) =>
  post('/auth/social/google', { ...credentialsOf(idToken), ...more })
const own = ({ post }: Service, profile: object) => post('/auth/social/own', { profile })
const verified = (email: string) => ({ email, email_verified: true, name: 'Ann' })

describe('4.5 POST /social/:provider', () => {
  it('makes an account of a new person, and finds them again by the provider id', async () => {
    const it = await app()
    const idToken = await openId.idToken('web', 'g-1', verified('Ann@Example.com'))
    const answer = await google(it, idToken)
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({
      provider: 'google',
      expiresIn: 900,
      user: { email: 'ann@example.com', name: 'Ann', googleId: 'g-1', role: 'user' },
    })
    expect(answer.body.data.refreshToken).toBeTypeOf('string')
    const moved = await openId.idToken('ios', 'g-1', verified('moved@example.com'))
    const again = await google(it, moved)
    expect(again.body.data.user).toMatchObject({
      _id: answer.body.data.user._id,
      email: 'ann@example.com',
    })
    expect((await it.call('GET', '/auth/me', undefined, again.body.data.token)).status).toBe(200)
  })

  it('links to the account that has the verified address', async () => {
    const it = await app()
    const { user } = await it.register('ann@example.com')
    const answer = await google(it, await openId.idToken('web', 'g-2', verified('ann@example.com')))
    expect(answer.body.data.user._id).toBe(user._id)
    expect(await it.users.count()).toBe(1)
  })

  it('knows no provider that was not configured', async () => {
    const it = await app()
    for (const name of [
      'github',
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'linking',
      '%00',
    ]) {
      const answer = await it.post(`/auth/social/${name}`, { idToken: 'x' })
      expect(told(answer)).toEqual([
        404,
        `Sign-in with '${decodeURIComponent(name)}' is not enabled.`,
      ])
    }
  })

  it('asks for a credential, as a text', async () => {
    const it = await app()
    for (const body of [{}, { idToken: '' }, { accessToken: 'x' }]) {
      expect((await it.post('/auth/social/google', body)).status).toBe(400)
    }
    expect(told(await google(it, { $ne: 1 }))).toEqual([400, 'Invalid credentials format.'])
    for (const value of [5, true, null]) expect(told(await google(it, value))).toEqual(refused)
  })

  it('a password that was set before the mailbox was proven dies on linking', async () => {
    const it = await app()
    const attacker = await it.register('victim@example.com')
    await own(it, { id: 'attacker', email: 'victim@example.com', emailVerified: false })
    const answer = await google(
      it,
      await openId.idToken('web', 'g-3', verified('victim@example.com')),
    )
    expect(answer.status).toBe(200)
    expect((await it.post('/auth/login', { email: 'victim@example.com', password })).status).toBe(
      401,
    )
    expect((await it.call('GET', '/auth/me', undefined, attacker.token)).status).toBe(401)
    expect(
      (await it.post('/auth/token/refresh', { refreshToken: attacker.refreshToken })).status,
    ).toBe(401)
    expect((await it.call('GET', '/auth/me', undefined, answer.body.data.token)).status).toBe(200)
  })

  it('another provider that was linked without proof opens nothing after linking', async () => {
    const it = await app()
    const attacker = await own(it, { id: 'attacker', email: 'victim@example.com' })
    expect(attacker.status).toBe(200)
    const victim = await google(
      it,
      await openId.idToken('web', 'g-4', verified('victim@example.com')),
    )
    expect(attacker.body.data.user).not.toHaveProperty('email')
    expect(victim.body.data.user.email).toBe('victim@example.com')
    const again = await own(it, { id: 'attacker', email: 'victim@example.com' })
    expect(again.body.data.user._id).toBe(attacker.body.data.user._id)
    expect(again.body.data.user._id).not.toBe(victim.body.data.user._id)
    const third = await own(it, { id: 'third', email: 'victim@example.com' })
    expect(told(third)).toEqual(taken)
  })

  it('a number that the attacker adds at the very moment of linking goes too', async () => {
    const store = raced(async (users, filter, { set }) => {
      if (set?.googleId) await users.update(filter, { set: { phone: '+4930666' } })
    })
    const it = await app({}, { store })
    await it.register('ann@example.com')
    const { status, body } = await google(
      it,
      await openId.idToken('web', 'g-late', verified('ann@example.com')),
    )
    expect([status, body.data.user.phone]).toEqual([200, undefined])
  })

  it('a number from before the mailbox was proven gets no codes, whatever sends them', async () => {
    const delivered: unknown[] = []
    const deliver = ({ user, channel }: { user: Fields; channel: string }) =>
      delivered.push([channel, user.phone])
    const it = await app({ otp: { deliver }, mail: undefined, sms: undefined })
    await it.register('victim@example.com', { phone: '+4930666' })
    const victim = { id: 'v', email: 'victim@example.com', emailVerified: true }
    expect((await own(it, victim)).status).toBe(200)
    const forgot = { identifier: victim.email, channel: 'sms' }
    expect((await it.post('/auth/password/forgot', forgot)).status).toBe(200)
    expect(delivered).toEqual([])
  })

  it('a recovery address from before the mailbox was proven gets no codes', async () => {
    const sent: unknown[] = []
    const mail = { sender: ({ to }: { to: string }) => sent.push(to), toField: 'recovery' }
    const it = await app(
      { mail, registerFields: ['recovery'], updateFields: [] },
      { fields: { recovery: z.string().optional() } },
    )
    await it.register('victim@example.com', { recovery: 'attacker@example.com' })
    const victim = { id: 'v', email: 'victim@example.com', emailVerified: true }
    expect((await own(it, victim)).status).toBe(200)
    await it.post('/auth/password/forgot', { identifier: victim.email, channel: 'email' })
    expect(sent).toEqual([])
  })

  it.each([true, false])(
    'a sign-up whose account the owner of the mailbox takes meanwhile is a 409, refresh %s',
    async (enabled) => {
      const now = Math.floor(Date.now() / 1000)
      const claims = { iss: openId.issuer, aud: 'web', sub: 'g-quick', iat: now, exp: now + 60 }
      let tokens = 0
      const idToken = () => {
        tokens += 1
        return openId.forge({ ...claims, ...verified('ann@example.com'), jti: `${tokens}` })
      }
      const it = await app({
        refresh: { enabled },
        onRegister: async ({ googleId }: { googleId?: string }) => {
          if (!googleId) expect((await google(it, await idToken())).status).toBe(200)
        },
      })
      const answer = await it.post('/auth/register', { email: 'ann@example.com', password })
      expect(told(answer)).toEqual(taken)
      expect((await google(it, await idToken())).status).toBe(200)
    },
  )

  it('a password stays once the mailbox was proven by a mailed code, not by a texted one', async () => {
    for (const [channel, status] of [
      ['email', 200],
      ['sms', 401],
    ] as const) {
      const it = await app()
      await it.register('ann@example.com', { phone: '+4930123' })
      await it.post('/auth/password/forgot', { identifier: 'ann@example.com', channel })
      const newPassword = 'another password'
      await it.post('/auth/password/reset', {
        identifier: 'ann@example.com',
        code: it.sent.at(-1)?.code,
        newPassword,
      })
      await google(it, await openId.idToken('web', 'g-5', verified('ann@example.com')))
      expect(
        (await it.post('/auth/login', { email: 'ann@example.com', password: newPassword })).status,
      ).toBe(status)
    }
  })

  it('a code that was mailed to another address proves nothing of the one that took its place', async () => {
    const it = await app()
    const { user } = await it.register('attacker@example.com')
    await it.post('/auth/password/forgot', { identifier: 'attacker@example.com' })
    const code = it.sent.at(-1)?.code
    await it.users.update(user._id, { email: 'victim@example.com' })
    await it.post('/auth/password/forgot', { identifier: 'victim@example.com' })
    const reset = { identifier: 'victim@example.com', code, newPassword: 'another password' }
    expect((await it.post('/auth/password/reset', reset)).status).toBe(400)
    await own(it, { id: 'v', email: 'victim@example.com', emailVerified: true })
    for (const guess of [password, reset.newPassword]) {
      const login = { email: 'victim@example.com', password: guess }
      expect((await it.post('/auth/login', login)).status).toBe(401)
    }
  })

  it('linking keeps or refuses where the option says so', async () => {
    for (const [linking, status] of [
      ['keep', 200],
      ['refuse', 409],
    ] as const) {
      const social = { own: { verify: (body: { profile?: never }) => body.profile }, linking }
      const it = await app({ social }, { unique: ['ownId'] })
      const { token } = await it.register('ann@example.com')
      const answer = await own(it, { id: '1', email: 'ann@example.com', emailVerified: true })
      expect(answer.status).toBe(status)
      expect((await it.call('GET', '/auth/me', undefined, token)).status).toBe(200)
      expect((await it.post('/auth/login', { email: 'ann@example.com', password })).status).toBe(
        200,
      )
    }
  })

  it('an address that the provider does not vouch for links nothing', async () => {
    const it = await app()
    await it.register('ann@example.com')
    for (const claim of [false, undefined, 'false', 0, 1, 'true']) {
      const person = {
        email: 'ann@example.com',
        ...(claim !== undefined && { email_verified: claim }),
      }
      expect(told(await google(it, await openId.idToken('web', 'g-6', person)))).toEqual(taken)
    }
    const apple = await openId.idToken('ios', 'a-6', {
      email: 'ann@example.com',
      email_verified: 'true',
    })
    expect((await it.post('/auth/social/apple', credentialsOf(apple))).status).toBe(200)
  })

  it('a token of another app is refused', async () => {
    const it = await app()
    expect(
      told(await google(it, await openId.idToken('other', 'g-7', verified('ann@example.com')))),
    ).toEqual(refused)
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: openId.issuer, sub: 'g-7', iat: now, exp: now + 60 }
    for (const aud of ['we', 'webx', ['web', 'other'], undefined]) {
      expect(
        told(await google(it, await openId.forge({ ...claims, ...(aud && { aud }) }))),
      ).toEqual(refused)
    }
    expect((await google(it, await openId.forge({ ...claims, aud: 'web' }))).status).toBe(200)
  })

  it('forged, expired and foreign tokens are refused', async () => {
    const it = await app()
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: openId.issuer, aud: 'web', sub: 'g-8', iat: now, exp: now + 60 }
    const bySecret = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .sign(openId.publicKey)
    const none = `${btoa('{"alg":"none"}').replace(/=+$/, '')}.${btoa(JSON.stringify(claims)).replace(/=+$/, '')}.`
    const tokens = [
      bySecret,
      none,
      await openId.forge({ ...claims, iss: `${openId.issuer}.evil` }),
      await openId.forge({ ...claims, exp: now - 60 }),
      await openId.forge({ iss: openId.issuer, aud: 'web', sub: 'g-8', iat: now }),
      await openId.forge({ ...claims, sub: '' }),
      (await openId.forge(claims)).slice(0, -4),
      'x',
    ]
    for (const token of tokens) expect(told(await google(it, token))).toEqual(refused)
    expect(await it.users.count()).toBe(0)
  })

  it('a flood of unknown key ids fetches the keys once', async () => {
    const it = await app()
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: openId.issuer, aud: 'web', sub: 'g-9', iat: now, exp: now + 60 }
    expect((await google(it, await openId.forge(claims))).status).toBe(200)
    const before = openId.fetches()
    const answers = await parallel(1000, async (index) =>
      google(it, await openId.forge(claims, { kid: `k${index}` })),
    )
    expect(statuses(answers)).toEqual({ 401: 1000 })
    expect(openId.fetches() - before).toBeLessThanOrEqual(1)
  })

  it('nothing but the credential says who it is', async () => {
    const it = await app()
    const idToken = await openId.idToken('web', 'g-10', { name: 'Ann' })
    const answer = await google(it, idToken, {
      email: 'boss@example.com',
      sub: 'boss',
      googleId: 'boss',
      email_verified: true,
      role: 'admin',
      name: 'Boss',
    })
    expect(answer.body.data.user).toMatchObject({ googleId: 'g-10', role: 'user', name: 'Ann' })
    expect(answer.body.data.user).not.toHaveProperty('email')
    const apple = await openId.idToken('ios', 'a-10', {})
    const named = await it.post('/auth/social/apple', {
      ...credentialsOf(apple),
      name: { firstName: 'Ann', lastName: 'Lee' },
      role: 'admin',
    })
    expect(named.body.data.user).toMatchObject({ appleId: 'a-10', name: 'Ann Lee', role: 'user' })
  })

  it('first sign-ins at once make one account, through two providers too', async () => {
    const it = await app()
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: openId.issuer, iat: now, exp: now + 60 }
    const ann = { ...claims, aud: 'web', sub: 'g-11', ...verified('ann@example.com') }
    const same = await parallel(50, async (index) =>
      google(it, await openId.forge({ ...ann, jti: `${index}` })),
    )
    expect(statuses(same)).toEqual({ 200: 50 })
    expect(await it.users.count()).toBe(1)
    const other = { ...claims, aud: 'ios', sub: 'both', ...verified('both@example.com') }
    const both = await parallel(20, async (index) =>
      it.post(`/auth/social/${index % 2 ? 'google' : 'apple'}`, {
        idToken: await openId.forge({ ...other, jti: `${index}` }),
      }),
    )
    expect(
      new Set(both.filter(({ status }) => status === 200).map(({ body }) => body.data.user._id))
        .size,
    ).toBe(1)
    expect(await it.users.count()).toBe(2)
  })

  it('refuses a disabled account, and whom onLogin refuses', async () => {
    let reason: Error | undefined
    const onLogin = () => {
      if (reason) throw reason
    }
    const it = await app(
      { fields: { disabled: 'banned' }, onLogin },
      { fields: { banned: z.boolean().optional() } },
    )
    const { body } = await own(it, { id: '1', name: 'Ann' })
    reason = new HttpError(451, 'Not from here.')
    expect(told(await own(it, { id: '1' }))).toEqual([451, 'Not from here.'])
    expect((await it.stored(body.data.user._id)).refreshTokens).toHaveLength(1)
    reason = undefined
    await it.users.update(body.data.user._id, { banned: true })
    expect(told(await own(it, { id: '1' }))).toEqual([403, 'This account is not active.'])
  })

  it.each([true, false])(
    'refuses an account that onLogin has just disabled, refresh %s',
    async (enabled) => {
      const it = await app(
        {
          refresh: { enabled },
          fields: { disabled: 'banned' },
          onLogin: ({ _id }: { _id: string }) => it.users.update(_id, { banned: true }),
        },
        { fields: { banned: z.boolean().optional() } },
      )
      expect(told(await own(it, { id: '1' }))).toEqual([403, 'This account is not active.'])
    },
  )

  it('takes a provider of the deployer, whose throw refuses', async () => {
    const verdicts: [() => unknown, unknown[]][] = [
      [() => ({ id: 5 }), [200, undefined]],
      [() => undefined, refused],
      [() => ({}), refused],
      [() => ({ id: '' }), refused],
      [
        () => {
          throw new Error('secret detail')
        },
        refused,
      ],
      [
        () => {
          throw new HttpError(403, 'Members only.')
        },
        [403, 'Members only.'],
      ],
    ]
    for (const [verify, outcome] of verdicts) {
      const it = await service({
        auth: { social: { own: { verify: verify as never } } },
        unique: ['ownId'],
      })
      expect(told(await it.post('/auth/social/own', {}))).toEqual(outcome)
    }
  })
})
