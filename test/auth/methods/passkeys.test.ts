import { Secret, TOTP } from 'otpauth'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { createRouter, defineModel, type Fields } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { password } from '../accounts.ts'
import { parallel, type ServiceOptions, service, statuses } from '../service.ts'
import { Authenticator, type Twist } from './authenticator.ts'

const email = 'ann@example.com'
const options = { rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }
const allow = [{ mount: '*', actions: ['list'] }]

/** An app with passkeys and the other methods, and a user who is signed in. */
async function keyed({ auth, ...more }: ServiceOptions = {}) {
  const methods = [passkeys(options), totp({ issuer: 'Atlas' }), emailCode(), apiKeys()]
  const app = await service({ ...more, auth: { methods, ...auth } })
  const ann = await app.register(email)
  const begin = async (token = ann.token) =>
    (await app.post('/auth/passkeys/options', {}, token)).body.data
  const register = async (
    key: Authenticator,
    token = ann.token,
    twist: Twist = {},
    extra: Fields = {},
  ) => {
    const { publicKey, ticket } = await begin(token)
    const credential = await key.create(publicKey, twist)
    return app.post('/auth/passkeys', { ticket, credential, ...extra }, token)
  }
  const asserted = async (key: Authenticator, twist: Twist = {}) => {
    const { publicKey, ticket } = (await app.post('/auth/login/passkey/options')).body.data
    return { ticket, credential: await key.get(publicKey, twist) }
  }
  const signIn = async (key: Authenticator, twist: Twist = {}) =>
    app.post('/auth/login/passkey', await asserted(key, twist))
  const enrolTotp = async (token: string) => {
    const { secret, ticket } = (await app.post('/auth/totp', {}, token)).body.data
    const authenticator = new TOTP({ secret: Secret.fromBase32(secret) })
    const code = () => authenticator.generate({ timestamp: app.now() })
    await app.post('/auth/totp/confirm', { ticket, code: code() }, token)
    return code
  }
  return { ...app, signUp: app.register, ann, begin, register, asserted, signIn, enrolTotp }
}

describe('Registering a passkey', () => {
  it('asks the browser for a key that signs in alone, and verifies its user', async () => {
    const app = await keyed()
    const { publicKey, ticket } = await app.begin()
    expect(ticket).toEqual(expect.any(String))
    expect(publicKey).toMatchObject({
      rp: { id: 'example.com', name: 'Atlas' },
      user: { name: email },
      attestation: 'none',
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: 'public-key' })),
    })
    for (const random of [publicKey.challenge, publicKey.user.id]) {
      expect(Buffer.from(random, 'base64url')).toHaveLength(32)
    }
    expect(publicKey.user.id).not.toContain(app.ann.user._id)
  })

  it('stores it, and lists it', async () => {
    const app = await keyed()
    const key = new Authenticator()
    const { status, body } = await app.register(
      key,
      app.ann.token,
      { synced: true },
      { name: ' Phone ' },
    )
    expect(status).toBe(201)
    expect(body.data).toEqual({
      id: expect.any(String),
      name: 'Phone',
      createdAt: new Date(app.now()).toISOString(),
      lastUsedAt: null,
      synced: true,
    })
    const listed = await app.call('GET', '/auth/passkeys', undefined, app.ann.token)
    expect(listed.body.data).toEqual([body.data])
    expect(JSON.stringify(await app.stored(app.ann.user._id))).not.toContain(
      key.id.toString('base64url'),
    )
  })

  it.each<[string, Twist]>([
    ['of another origin', { origin: 'https://evil.example' }],
    ['of another domain', { rpId: 'evil.example' }],
    ['with another challenge', { challenge: 'AAAA' }],
    ['without a verified user', { flags: 1 }],
    ['of a sign-in', { type: 'webauthn.get' }],
  ])('refuses one %s with a 400', async (_, twist) => {
    const app = await keyed()
    const { status, body } = await app.register(new Authenticator(), app.ann.token, twist)
    expect([status, body.error]).toEqual([400, 'That passkey was not accepted.'])
    expect((await app.call('GET', '/auth/passkeys', undefined, app.ann.token)).body.data).toEqual(
      [],
    )
  })

  it('takes a ticket once, of the same account and ceremony, for five minutes', async () => {
    const app = await keyed()
    const bob = await app.signUp('bob@example.com')
    const key = new Authenticator()
    const { publicKey, ticket } = await app.begin()
    const send = async (token: string, other = ticket) =>
      (
        await app.post(
          '/auth/passkeys',
          { ticket: other, credential: await key.create(publicKey) },
          token,
        )
      ).status
    expect(await send(bob.token)).toBe(400)
    const login = (await app.post('/auth/login/passkey/options')).body.data
    expect(await send(app.ann.token, login.ticket)).toBe(400)
    expect(
      statuses(await parallel(4, async () => ({ status: await send(app.ann.token) }) as never)),
    ).toEqual({
      201: 1,
      400: 3,
    })
    const late = await app.begin(bob.token)
    app.later(301)
    const credential = await new Authenticator().create(late.publicKey)
    expect(
      (await app.post('/auth/passkeys', { ticket: late.ticket, credential }, bob.token)).status,
    ).toBe(400)
  })

  it('refuses values of other types, and a credential that another account has', async () => {
    const app = await keyed()
    const post = (body: Fields) => app.post('/auth/passkeys', body, app.ann.token)
    for (const body of [
      {},
      { ticket: 1, credential: {} },
      { ticket: 'x', credential: 'y' },
      { ticket: 'x', credential: [] },
    ]) {
      expect((await post(body)).body.error).toBe('Invalid credentials format.')
    }
    expect((await post({ ticket: 'x', credential: {} })).status).toBe(400)
    const key = new Authenticator()
    expect((await app.register(key, app.ann.token, {}, { name: 7 })).status).toBe(400)
    const bob = await app.signUp('bob@example.com')
    expect((await app.register(key)).status).toBe(201)
    expect((await app.register(key, bob.token)).status).toBe(400)
  })
})

describe('Signing in by passkey', () => {
  it('names no account, and counts as both factors', async () => {
    const app = await keyed()
    const Safe = defineModel('Safe', { fields: { text: z.string() } })
    const middlewares = [app.auth.requireAuth, app.auth.requireSecondFactor]
    app.app.mount('/safe', createRouter({ model: Safe, middlewares }))
    const key = new Authenticator()
    await app.register(key)
    const { publicKey } = (await app.post('/auth/login/passkey/options')).body.data
    expect(publicKey).toMatchObject({ rpId: 'example.com', userVerification: 'required' })
    expect(publicKey.allowCredentials ?? []).toEqual([])
    const { status, body } = await app.signIn(key)
    expect(status).toBe(200)
    expect(body.data.user.email).toBe(email)
    expect((await app.call('GET', '/safe', undefined, body.data.token)).status).toBe(200)
    expect((await app.call('GET', '/safe', undefined, app.ann.token)).status).toBe(403)
    const listed = await app.call('GET', '/auth/passkeys', undefined, body.data.token)
    expect(listed.body.data[0].lastUsedAt).toBe(new Date(app.now()).toISOString())
  })

  it.each<[string, Twist]>([
    ['of another origin', { origin: 'https://evil.example' }],
    ['of another domain', { rpId: 'evil.example' }],
    ['with another challenge', { challenge: 'AAAA' }],
    ['without a verified user', { flags: 1 }],
    ['of a registration', { type: 'webauthn.create' }],
  ])('is refused %s with the one 401', async (_, twist) => {
    const app = await keyed({ auth: { lockout: { maxAttempts: 1 } } })
    const key = new Authenticator()
    await app.register(key)
    const { status, body } = await app.signIn(key, twist)
    expect([status, body.error]).toEqual([401, 'Invalid credentials.'])
    expect((await app.signIn(new Authenticator())).body.error).toBe('Invalid credentials.')
    // None counts as a guess.
    expect((await app.post('/auth/login', { email, password })).status).toBe(200)
    expect((await app.signIn(key)).status).toBe(200)
  })

  it('takes each challenge once, also at once, and no other key’s signature', async () => {
    const app = await keyed()
    const [key, other] = [new Authenticator(), new Authenticator()]
    await app.register(key)
    const assertion = await app.asserted(key)
    const tried = await parallel(5, () => app.post('/auth/login/passkey', assertion))
    expect(statuses(tried)).toEqual({ 200: 1, 401: 4 })
    expect(app.log.filter((line) => line.includes('auth: sign-in-failed'))).toHaveLength(4)
    expect((await app.post('/auth/login/passkey/options', { ticket: 1 })).status).toBe(400)
    const forged = await app.asserted(other)
    const id = key.id.toString('base64url')
    const credential = { ...forged.credential, id, rawId: id }
    expect((await app.post('/auth/login/passkey', { ...forged, credential })).status).toBe(401)
    for (const body of [{}, { ticket: 'x' }, { ticket: 'x', credential: 'x' }]) {
      expect((await app.post('/auth/login/passkey', body)).status).toBe(400)
    }
  })

  it('refuses a count that is not higher, which is an event', async () => {
    const app = await keyed()
    const key = new Authenticator('https://example.com', 5)
    await app.register(key)
    expect((await app.signIn(key)).status).toBe(200)
    for (const counter of [6, 5, 1, 0]) {
      const { status, body } = await app.signIn(key, { counter })
      expect([status, body.error]).toEqual([401, 'Invalid credentials.'])
    }
    expect((await app.signIn(key, { counter: 100 })).status).toBe(200)
    const told = app.log.filter((line) => line.includes('auth: passkey-cloned'))
    expect(told).toHaveLength(4)
    expect(told[0]).toContain(app.ann.user._id)
  })

  it('takes synced keys, which count nothing', async () => {
    const app = await keyed()
    const key = new Authenticator()
    await app.register(key, app.ann.token, { synced: true })
    for (let round = 0; round < 3; round += 1) {
      expect((await app.signIn(key, { synced: true })).status).toBe(200)
    }
  })

  it('is refused while the account is locked or disabled', async () => {
    const fields = { disabled: z.boolean().default(false) }
    const auth = { fields: { disabled: 'disabled' }, lockout: { maxAttempts: 2, lockSeconds: 60 } }
    const app = await keyed({ auth, fields })
    const key = new Authenticator()
    await app.register(key)
    await parallel(2, () => app.post('/auth/login', { email, password: 'wrong password' }))
    expect((await app.signIn(key)).body.error).toBe('Invalid credentials.')
    app.later(60)
    expect((await app.signIn(key)).status).toBe(200)
    await app.users.update(app.ann.user._id, { disabled: true })
    expect((await app.signIn(key)).body.error).toBe('Invalid credentials.')
  })
})

describe('Of an account with a passkey', () => {
  it('a password alone still signs in, but changes no factor and no key', async () => {
    const app = await keyed()
    const key = new Authenticator()
    const { id } = (await app.register(key)).body.data
    const signedIn = await app.post('/auth/login', { email, password })
    expect(signedIn.status).toBe(200)
    const { token } = signedIn.body.data
    for (const [method, path, body] of [
      ['POST', '/auth/passkeys/options', {}],
      ['DELETE', `/auth/passkeys/${id}`, undefined],
      ['POST', '/auth/totp', {}],
      ['POST', '/auth/keys', { name: 'CI', allow }],
    ] as const) {
      for (const bearer of [token, app.ann.token]) {
        const refused = await app.call(method, path, body, bearer)
        expect([path, refused.status, refused.body.error]).toEqual([
          path,
          403,
          'Sign in again to do this.',
        ])
      }
    }
    expect((await app.post('/auth/login/confirm', { password }, token)).status).toBe(200)
    expect((await app.post('/auth/keys', { name: 'CI', allow }, token)).status).toBe(403)
    const { ticket, credential } = await app.asserted(key)
    const confirmed = await app.post('/auth/login/confirm', { ticket, passkey: credential }, token)
    expect(confirmed.status).toBe(200)
    expect((await app.post('/auth/keys', { name: 'CI', allow }, token)).status).toBe(201)
  })

  it('a session is confirmed by no passkey of another account', async () => {
    const app = await keyed()
    const key = new Authenticator()
    await app.register(key)
    const bob = await app.signUp('bob@example.com')
    const { ticket, credential } = await app.asserted(key)
    expect(
      (await app.post('/auth/login/confirm', { ticket, passkey: credential }, bob.token)).status,
    ).toBe(401)
  })

  it('another’s id is a 404, for a new name and for the end', async () => {
    const app = await keyed()
    const key = new Authenticator()
    const { id } = (await app.register(key)).body.data
    const bob = await app.signUp('bob@example.com')
    const rename = (token: string, name: unknown, of = id) =>
      app.call('PATCH', `/auth/passkeys/${of}`, { name }, token)
    expect((await rename(bob.token, 'Mine')).status).toBe(404)
    expect((await app.call('DELETE', `/auth/passkeys/${id}`, undefined, bob.token)).status).toBe(
      404,
    )
    expect((await rename(app.ann.token, 'Mine', 'x')).status).toBe(404)
    expect((await rename(app.ann.token, '')).status).toBe(400)
    expect((await rename(app.ann.token, 'Phone')).body.data).toMatchObject({ id, name: 'Phone' })
  })

  it('it can be removed by who has signed in with it, and opens nothing afterwards', async () => {
    const app = await keyed()
    const key = new Authenticator()
    const { id } = (await app.register(key)).body.data
    const { token } = (await app.signIn(key)).body.data
    expect((await app.call('DELETE', `/auth/passkeys/${id}`, undefined, token)).status).toBe(200)
    expect((await app.signIn(key)).status).toBe(401)
    expect((await app.call('DELETE', `/auth/passkeys/${id}`, undefined, token)).status).toBe(404)
    const told = app.log.filter((line) => line.includes('auth: factor-'))
    expect(told.map((line) => JSON.parse(line)[0])).toEqual([
      'auth: factor-added',
      'auth: factor-removed',
    ])
  })

  it('the last way in cannot be removed, of two at once one stays', async () => {
    const app = await keyed({
      auth: { mail: undefined, sms: undefined, methods: [passkeys(options)] } as never,
    })
    const [one, two] = [new Authenticator(), new Authenticator()]
    const ids = [(await app.register(one)).body.data.id]
    const { token } = (await app.signIn(one)).body.data
    ids.push((await app.register(two, token)).body.data.id)
    await app.users.update(app.ann.user._id, { password: undefined })
    const session = (await app.signIn(one)).body.data.token
    const removed = await parallel(2, (at) =>
      app.call('DELETE', `/auth/passkeys/${ids[at]}`, undefined, session),
    )
    expect(removed.filter(({ status }) => status === 200).length).toBeLessThan(2)
    const left = (await app.call('GET', '/auth/passkeys', undefined, session)).body.data
    if (left.length === 2) await app.call('DELETE', `/auth/passkeys/${ids[1]}`, undefined, session)
    const [last] = (await app.call('GET', '/auth/passkeys', undefined, session)).body.data
    const kept = await app.call('DELETE', `/auth/passkeys/${last.id}`, undefined, session)
    expect([kept.status, kept.body.error]).toEqual([409, 'This is the last way into the account.'])
    const usable = await Promise.all([one, two].map(async (key) => (await app.signIn(key)).status))
    expect(usable).toContain(200)
  })

  it('a first proof ends it before anything is asked for', async () => {
    const app = await keyed()
    const key = new Authenticator()
    await app.register(key)
    await app.post('/auth/login/code', { identifier: email })
    const otp = app.sent.at(-1)?.code
    const { status, body } = await app.post('/auth/login', { identifier: email, otp })
    expect(status).toBe(200)
    expect((await app.signIn(key)).status).toBe(401)
    expect((await app.call('GET', '/auth/passkeys', undefined, body.data.token)).body.data).toEqual(
      [],
    )
    expect((await app.register(new Authenticator(), body.data.token)).status).toBe(201)
  })
})

describe('As a second step', () => {
  it('it answers where another factor is asked for, and asks for nothing by itself', async () => {
    const app = await keyed()
    const key = new Authenticator()
    await app.register(key)
    const strong = (await app.signIn(key)).body.data.token
    const code = await app.enrolTotp(strong)
    const asked = await app.post('/auth/login', { email, password })
    expect(asked.body.secondStep).toEqual(['totp', 'recovery-code', 'passkey'])
    const { ticket } = asked.body
    const begun = (await app.post('/auth/login/passkey/options', { ticket })).body.data
    expect(begun.ticket).toBe(ticket)
    const wrong = await new Authenticator().get(begun.publicKey)
    expect((await app.post('/auth/login', { ticket, passkey: wrong })).status).toBe(401)
    const passkey = await key.get(begun.publicKey)
    const other = (await app.post('/auth/login', { email, password })).body.ticket
    expect((await app.post('/auth/login', { ticket: other, passkey })).status).toBe(401)
    expect((await app.post('/auth/login', { ticket, passkey: 'x' })).status).toBe(400)
    expect((await app.post('/auth/login', { ticket, passkey })).status).toBe(200)
    expect((await app.post('/auth/login', { ticket, passkey })).status).toBe(401)
    // Alone it is both factors.
    expect((await app.signIn(key)).status).toBe(200)
    app.later(30)
    const again = (await app.post('/auth/login', { email, password })).body.ticket
    expect((await app.post('/auth/login', { ticket: again, totp: code() })).status).toBe(200)
  })

  it('is asked for where a role needs it', async () => {
    const app = await keyed({ auth: { secondFactor: { requiredFor: ['admin'] } } })
    const key = new Authenticator()
    await app.register(key)
    await app.users.update(app.ann.user._id, { role: 'admin' })
    const { body } = await app.post('/auth/login', { email, password })
    expect(body.secondStep).toEqual(['passkey'])
    const { token } = (await app.signIn(key)).body.data
    const [{ id }] = (await app.call('GET', '/auth/passkeys', undefined, token)).body.data
    const kept = await app.call('DELETE', `/auth/passkeys/${id}`, undefined, token)
    expect(kept.status).toBe(409)
    expect((await app.signIn(key)).status).toBe(200)
  })
})

it.each([
  [undefined, 'the options'],
  [{ ...options, rpId: '' }, "'rpId'"],
  [{ ...options, rpId: 'https://example.com' }, "'rpId'"],
  [{ ...options, rpName: '' }, "'rpName'"],
  [{ ...options, origins: [] }, "'origins'"],
  [{ ...options, origins: ['https://other.example'] }, "'origins'"],
  [{ ...options, origins: ['https://example.com/'] }, "'origins'"],
])('passkeys(%j) is refused because of %s', (given, what) => {
  expect(() => passkeys(given as never)).toThrow(`passkeys: ${what} must`)
})
