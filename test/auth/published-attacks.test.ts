/**
 * Takeovers that were published of other account libraries, each as its report describes it. All of them fail here.
 *
 * @module
 */

import { Secret, TOTP } from 'otpauth'
import { describe, expect, it } from 'vitest'
import { passkeys } from '../../adapters/methods/passkeys/index.ts'
import { magicLink } from '../../examples/magic-link/magic-link.ts'
import type { Fields } from '../../src/index.ts'
import { apiKeys } from '../../src/methods/api-keys/index.ts'
import { emailCode } from '../../src/methods/email-code/index.ts'
import { totp } from '../../src/methods/totp/index.ts'
import { password } from './accounts.ts'
import { Authenticator } from './methods/authenticator.ts'
import { service } from './service.ts'

const victim = 'ann@example.com'
const options = { rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }

/** An app with every way in, a victim who has an account, and an attacker who has one too. */
async function target() {
  const methods = [
    apiKeys(),
    emailCode(),
    magicLink(),
    passkeys(options),
    totp({ issuer: 'Atlas' }),
  ]
  const app = await service({ auth: { methods } })
  const ann = await app.register(victim)
  const mallory = await app.register('mallory@example.com')
  const codeOf = (secret: string) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.now() })
  const beginPasskey = async (token?: string, body: Fields = {}) =>
    app.post('/auth/passkeys/options', body, token)
  const register = async (key: Authenticator, token: string, more: Fields = {}) => {
    const { publicKey, ticket } = (await beginPasskey(token, more)).body.data
    const credential = await key.create(publicKey)
    return app.post('/auth/passkeys', { ticket, credential, ...more }, token)
  }
  const signInBy = async (key: Authenticator) => {
    const { publicKey, ticket } = (await app.post('/auth/login/passkey/options')).body.data
    return app.post('/auth/login/passkey', { ticket, credential: await key.get(publicKey) })
  }
  const lock = async () => {
    for (let guess = 0; guess < 10; guess += 1) {
      await app.post('/auth/login', { identifier: victim, password: 'a wrong guess' })
    }
    const right = await app.post('/auth/login', { identifier: victim, password })
    expect(right.status).toBe(401)
  }
  return { ...app, ann, mallory, codeOf, beginPasskey, registerKey: register, signInBy, lock }
}

describe('A published attack fails', () => {
  it('CVE-2025-61928: an API key for the user whom a body names', async () => {
    const app = await target()
    const { _id } = app.ann.user
    const key = { name: 'CI', allow: [{ mount: '*', actions: ['list'] }] }
    const names = { userId: _id, user: _id, owner: _id, user_id: _id, ownerId: _id, sub: _id }
    const anonymous = await app.post('/auth/keys', { ...key, ...names })
    expect(anonymous.status).toBe(401)
    const own = await app.post('/auth/keys', { ...key, ...names }, app.mallory.token)
    expect(own.status).toBe(201)
    const keys = async (token: string) =>
      (await app.call('GET', '/auth/keys', undefined, token)).body.data.length
    expect([await keys(app.ann.token), await keys(app.mallory.token)]).toEqual([0, 1])
    // Nor can one be ended, or listed, by naming its owner.
    const { id } = (await app.post('/auth/keys', key, app.ann.token)).body.data
    const ended = await app.call('DELETE', `/auth/keys/${id}`, names, app.mallory.token)
    expect(ended.status).toBe(404)
    expect(await keys(app.ann.token)).toBe(1)
  })

  it.each([
    ['a mailed code', '/auth/login/code', (code?: string) => ({ identifier: victim, otp: code })],
    ['a mailed link', '/auth/login/link', (code?: string) => ({ link: code })],
  ])('GHSA-qq9h-g4jm-xgf3: a password set before the owner comes by %s', async (_, path, body) => {
    const app = await target()
    // The account was registered by the attacker, who keeps all that came of it.
    await app.post(path, { identifier: victim })
    const owner = await app.post('/auth/login', body(app.sent.at(-1)?.code))
    expect([owner.status, owner.body.data.user._id]).toEqual([200, app.ann.user._id])
    const { token, refreshToken } = app.ann
    expect((await app.post('/auth/login', { identifier: victim, password })).status).toBe(401)
    expect((await app.call('GET', '/auth/me', undefined, token)).status).toBe(401)
    expect((await app.post('/auth/token/refresh', { refreshToken })).status).toBe(401)
  })

  it('CVE-2025-71400: another user deletes, or renames, a passkey by its id', async () => {
    const app = await target()
    const key = new Authenticator()
    const { id } = (await app.registerKey(key, app.ann.token)).body.data
    const path = `/auth/passkeys/${id}`
    const bodies = [undefined, { userId: app.ann.user._id, id }]
    for (const body of bodies) {
      expect((await app.call('DELETE', path, body, app.mallory.token)).status).toBe(404)
      expect((await app.call('DELETE', path, body)).status).toBe(401)
    }
    const renamed = await app.call('PATCH', path, { name: 'Mine' }, app.mallory.token)
    expect(renamed.status).toBe(404)
    const listed = await app.call('GET', '/auth/passkeys', undefined, app.ann.token)
    expect(listed.body.data).toMatchObject([{ id, name: 'Passkey' }])
    expect((await app.signInBy(key)).status).toBe(200)
  })

  it('CVE-2026-18963: a password is reset without what was mailed', async () => {
    const app = await target()
    const reset = { identifier: victim, newPassword: 'the password of mallory' }
    await app.post('/auth/password/forgot', { identifier: victim })
    await app.post('/auth/login/code', { identifier: victim })
    const other = app.sent.at(-1)?.code
    await app.post('/auth/password/forgot', { identifier: 'mallory@example.com' })
    const own = app.sent.at(-1)?.code
    const bodies: Fields[] = [
      {},
      ...['', null, 0, true, false, [], {}, { $ne: null }, other, own].map((code) => ({ code })),
      { otp: other },
      { code: '', token: app.mallory.token, execution: 'skip', step: 2 },
    ]
    for (const body of bodies) {
      const { status } = await app.post('/auth/password/reset', { ...reset, ...body })
      expect([body, status]).toEqual([body, 400])
      const signedIn = await app.post(
        '/auth/password/reset',
        { ...reset, ...body },
        app.mallory.token,
      )
      expect(signedIn.status).toBe(400)
    }
    // A request for a code opens nothing by itself.
    const taken = await app.post('/auth/login', { ...reset, password: reset.newPassword })
    expect(taken.status).toBe(401)
    expect((await app.call('GET', '/auth/me', undefined, app.ann.token)).status).toBe(200)
    expect((await app.post('/auth/login', { identifier: victim, password })).status).toBe(200)
  })

  it('thunderid#5424: a passkey is enrolled for the account that a request names', async () => {
    const app = await target()
    const { _id } = app.ann.user
    const names = { userId: _id, user: { id: _id }, identifier: victim, email: victim, owner: _id }
    const key = new Authenticator()
    expect((await app.beginPasskey(undefined, names)).status).toBe(401)
    // With a session of their own, the key opens their own account.
    expect((await app.registerKey(key, app.mallory.token, names)).status).toBe(201)
    const { token, user } = (await app.signInBy(key)).body.data
    expect(user._id).toBe(app.mallory.user._id)
    // A ceremony that the victim has begun does not end in another session, nor without one.
    const { publicKey, ticket } = (await app.beginPasskey(app.ann.token)).body.data
    const credential = await new Authenticator().create(publicKey)
    const body = { ticket, credential, ...names }
    expect((await app.post('/auth/passkeys', body, token)).status).toBe(400)
    expect((await app.post('/auth/passkeys', body)).status).toBe(401)
    const listed = await app.call('GET', '/auth/passkeys', undefined, app.ann.token)
    expect(listed.body.data).toEqual([])
  })

  it('mymate#42: with the password alone, a passkey takes the place of the second factor', async () => {
    const app = await target()
    const { secret, ticket } = (await app.post('/auth/totp', {}, app.ann.token)).body.data
    const code = app.codeOf(secret)
    await app.post('/auth/totp/confirm', { ticket, code }, app.ann.token)
    // The password gets as far as the second step, and its ticket opens nothing.
    const first = await app.post('/auth/login', { identifier: victim, password })
    expect([first.status, first.body.data]).toEqual([401, undefined])
    expect((await app.beginPasskey(first.body.ticket)).status).toBe(401)
    const key = new Authenticator()
    const begun = (await app.post('/auth/login/passkey/options', { ticket: first.body.ticket }))
      .body
    const credential = await key.create({ ...begun.data.publicKey, user: { id: 'AA', name: 'a' } })
    const answer = { ticket: first.body.ticket, passkey: credential }
    expect((await app.post('/auth/login', answer)).status).toBe(401)
    // Nor does a session from before the factor, recent as it is, or a password that confirms it.
    expect((await app.beginPasskey(app.ann.token)).status).toBe(403)
    const confirmed = await app.post('/auth/login/confirm', { password }, app.ann.token)
    expect(confirmed.status).toBe(401)
    expect((await app.beginPasskey(app.ann.token)).status).toBe(403)
    // With both factors it is fine.
    app.later(30)
    const both = await app.post('/auth/login', {
      ticket: first.body.ticket,
      totp: app.codeOf(secret),
    })
    expect((await app.registerKey(key, both.body.data.token)).status).toBe(201)
  })

  it('CVE-2025-10908: a mailed link opens an account that is locked', async () => {
    const app = await target()
    await app.post('/auth/login/link', { identifier: victim })
    const link = app.sent.at(-1)?.code
    // The owner has proven the address before, so that a link proves nothing new.
    await app.users.update(app.ann.user._id, { provenEmail: victim })
    await app.lock()
    const opened = await app.post('/auth/login', { link })
    expect([opened.status, opened.body.error]).toEqual([401, 'Invalid credentials.'])
    app.later(3600)
    await app.post('/auth/login/link', { identifier: victim })
    expect((await app.post('/auth/login', { link: app.sent.at(-1)?.code })).status).toBe(200)
  })

  it('CVE-2025-10908: a passkey opens an account that is locked', async () => {
    const app = await target()
    const key = new Authenticator()
    expect((await app.registerKey(key, app.ann.token)).status).toBe(201)
    await app.lock()
    const locked = await app.signInBy(key)
    expect([locked.status, locked.body.error]).toEqual([401, 'Invalid credentials.'])
    app.later(3600)
    expect((await app.signInBy(key)).status).toBe(200)
  })
})
