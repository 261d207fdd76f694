import { describe, expect, it } from 'vitest'
import type { Fields } from '../../src/index.ts'
import { password } from './accounts.ts'
import { type Service, service } from './service.ts'

const told = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]
const invalidCode = [400, 'That code is invalid or has expired.']
const ann = 'ann@example.com'

interface Mail {
  readonly to: string
  readonly purpose: string
  readonly code: string
}

/** An app with email verification, and the mails that it sent. */
async function app(verification: object = {}, auth: object = {}, more: object = {}) {
  const mails: Mail[] = []
  const mail = { sender: ({ to, purpose, code }: Mail) => mails.push({ to, purpose, code }) }
  const it = await service({
    ...more,
    auth: {
      emailVerification: { enabled: true, ...verification },
      updateFields: ['email', 'name'],
      mail,
      ...auth,
    } as never,
  })
  /** The code of the latest mail to `to`, once `count` mails were sent. */
  const code = async (to: string, count: number) => {
    await expect.poll(() => mails.length).toBe(count)
    return mails.findLast((each) => each.to === to && each.code !== '')?.code
  }
  return { it, mails, code }
}
const verify = ({ post }: Service, identifier: string, otp: unknown, token?: string, more = {}) =>
  post('/auth/email/verify', { identifier, otp, ...more }, token)
const login = ({ post }: Service, email: string, guess = password) =>
  post('/auth/login', { email, password: guess })

describe('email verification', () => {
  it('mails a code at sign-up, which proves the mailbox; signed in, the password stays', async () => {
    const { it, mails, code } = await app()
    const { token, user } = await it.register(ann, { phone: '+4930123' })
    const otp = await code(ann, 1)
    expect(mails).toEqual([{ to: ann, purpose: 'emailVerification', code: otp }])
    expect(told(await verify(it, ann, '000000', token))).toEqual(invalidCode)
    const done = await verify(it, ' ANN@example.com', otp, token)
    expect([done.status, done.body.message]).toEqual([200, 'Email address confirmed.'])
    const { provenEmail, phone } = await it.stored(user._id)
    expect([provenEmail, phone]).toEqual([ann, undefined])
    expect((await it.call('GET', '/auth/me', undefined, token)).status).toBe(200)
    expect((await login(it, ann)).status).toBe(200)
    expect(told(await verify(it, ann, otp, token))).toEqual(invalidCode)
  })

  it('ends the password of whoever signed up, if the owner of the mailbox is not signed in', async () => {
    const { it, code } = await app()
    const attacker = await it.register(ann)
    expect((await verify(it, ann, await code(ann, 1))).status).toBe(200)
    expect((await login(it, ann)).status).toBe(401)
    expect((await it.call('GET', '/auth/me', undefined, attacker.token)).status).toBe(401)
  })

  it('a proven new address is freed from an account that has proven nothing', async () => {
    const { it, code } = await app()
    const owner = await it.register(ann)
    await verify(it, ann, await code(ann, 1), owner.token)
    const change = { email: 'new@example.com', currentPassword: password }
    await it.call('PATCH', `/auth/users/${owner.user._id}`, change, owner.token)
    const otp = await code('new@example.com', 3)
    const stranger = await it.register('new@example.com', { phone: '+4930123' })
    const theirs = await code('new@example.com', 4)
    expect((await verify(it, 'new@example.com', otp, owner.token)).status).toBe(200)
    expect(await it.stored(owner.user._id)).toMatchObject({
      email: 'new@example.com',
      provenEmail: 'new@example.com',
    })
    const left = await it.stored(stranger.user._id)
    expect([left.email, left.phone]).toEqual([undefined, '+4930123'])
    const late = await verify(it, 'new@example.com', theirs, stranger.token)
    expect(told(late)).toEqual(invalidCode)
    expect((await login(it, 'new@example.com')).body.data.user._id).toBe(owner.user._id)
  })

  it('a code that resets proves nothing here, and the other way round', async () => {
    const { it, code } = await app()
    await it.register(ann)
    const otp = await code(ann, 1)
    const reset = { identifier: ann, code: otp, newPassword: 'another password' }
    expect(told(await it.post('/auth/password/reset', reset))).toEqual(invalidCode)
    await it.post('/auth/password/forgot', { identifier: ann })
    expect(told(await verify(it, ann, await code(ann, 2)))).toEqual(invalidCode)
  })

  it('counts tries, and pauses between codes', async () => {
    const { it, mails, code } = await app({}, { otp: { maxAttempts: 2, resendSeconds: 60 } })
    const { token } = await it.register(ann)
    const otp = await code(ann, 1)
    const ask = (body: object, as?: string) => it.post('/auth/email/code', body, as)
    await ask({ identifier: ann })
    for (const wrong of ['1', '2']) await verify(it, ann, wrong)
    expect(told(await verify(it, ann, otp, token))).toEqual(invalidCode)
    it.later(601)
    await ask({}, token)
    expect((await verify(it, ann, await code(ann, 2), token)).status).toBe(200)
    it.later(601)
    await ask({ identifier: ann }, token)
    expect(mails).toHaveLength(2)
  })

  it('answers every address alike', async () => {
    const { it } = await app()
    await it.register(ann)
    const ask = (body: object) => it.post('/auth/email/code', body)
    const known = await ask({ identifier: ann })
    const unknown = await ask({ identifier: 'nobody@example.com' })
    expect([known.status, known.body]).toEqual([200, unknown.body])
    expect(known.body.message).toBe('If that account exists, a code has been sent.')
    expect(told(await ask({}))).toEqual([400, 'An identifier is required.'])
    expect((await ask({ identifier: { $ne: 1 } })).status).toBe(400)
    expect(told(await verify(it, 'nobody@example.com', '123456'))).toEqual(invalidCode)
  })
})

describe('email verification of a new address', () => {
  async function changed() {
    const made = await app()
    const { it, code } = made
    const { token, user } = await it.register(ann)
    await verify(it, ann, await code(ann, 1), token)
    const body = { email: 'new@example.com', currentPassword: password }
    const answer = await it.call('PATCH', `/auth/users/${user._id}`, body, token)
    expect([answer.status, answer.body.data.email]).toEqual([200, ann])
    return { ...made, token, id: user._id, otp: await code('new@example.com', 3) }
  }

  it('mails the code there and a notice to the old one, which works until then', async () => {
    const { it, mails, token, otp, id } = await changed()
    expect(mails.slice(1)).toEqual(
      expect.arrayContaining([
        { to: 'new@example.com', purpose: 'emailVerification', code: otp },
        { to: ann, purpose: 'identifierChanged', code: '' },
      ]),
    )
    expect((await login(it, ann)).status).toBe(200)
    expect((await login(it, 'new@example.com')).status).toBe(401)
    expect((await verify(it, 'new@example.com', otp, token)).status).toBe(200)
    expect((await login(it, ann)).status).toBe(401)
    expect((await login(it, 'new@example.com')).status).toBe(200)
    const { provenEmail, pendingEmail } = await it.stored(id)
    expect([provenEmail, pendingEmail]).toEqual(['new@example.com', undefined])
  })

  it('is given up by asking for the address that the account has', async () => {
    const { it, otp, token, id } = await changed()
    const kept = { email: ann, name: 'Ann' }
    const { status } = await it.call('PATCH', `/auth/users/${id}`, kept, token)
    expect(status).toBe(200)
    expect(await it.stored(id)).toMatchObject(kept)
    expect(await it.stored(id)).not.toHaveProperty('pendingEmail')
    expect(told(await verify(it, 'new@example.com', otp, token))).toEqual(invalidCode)
    expect((await login(it, ann)).status).toBe(200)
  })

  it('takes the code from nobody who is not signed in', async () => {
    const { it, otp } = await changed()
    expect(told(await verify(it, 'new@example.com', otp))).toEqual(invalidCode)
    expect((await login(it, ann)).status).toBe(200)
  })

  it('is unique when it is verified, not before', async () => {
    const { it, otp, token } = await changed()
    const other = await it.register('new@example.com')
    await it.users.update(other.user._id, { provenEmail: 'new@example.com' })
    expect((await verify(it, 'new@example.com', otp, token)).status).toBe(409)
    expect((await login(it, ann)).status).toBe(200)
  })

  it('ends with a new password: whoever asked for it may not be the owner', async () => {
    const { it, mails, otp, token, id } = await changed()
    await it.post('/auth/password/forgot', { identifier: ann })
    const code = mails.findLast(({ purpose }) => purpose === 'passwordReset')?.code
    const reset = { identifier: ann, code, newPassword: 'another password' }
    expect((await it.post('/auth/password/reset', reset)).status).toBe(200)
    expect((await verify(it, 'new@example.com', otp, token)).status).toBe(401)
    expect(told(await verify(it, 'new@example.com', otp))).toEqual(invalidCode)
    expect(await it.stored(id)).not.toHaveProperty('pendingEmail')
  })
})

describe('email verification that is required', () => {
  it('lets nobody in before the mailbox is proven, and tells so with the right password only', async () => {
    const { it, code } = await app({ required: true })
    const answer = await it.post('/auth/register', { email: ann, password })
    expect([answer.status, Object.keys(answer.body.data)]).toEqual([201, ['user']])
    expect(told(await login(it, ann))).toEqual([403, 'Confirm your email address first.'])
    expect(told(await login(it, ann, 'wrong'))).toEqual([401, 'Invalid credentials.'])
    const otp = await code(ann, 1)
    expect((await verify(it, ann, otp, undefined, { password: 'wrong' })).status).toBe(400)
    expect((await verify(it, ann, otp, undefined, { password })).status).toBe(200)
    expect((await login(it, ann)).status).toBe(200)
  })

  it('lets those in who have no address', async () => {
    const { it } = await app({ required: true })
    const { body } = await it.post('/auth/register', { phone: '+4930123', password })
    expect((await it.call('GET', '/auth/me', undefined, body.data.token)).status).toBe(200)
  })

  it('counts no guess for the right password beside a code, whatever the code is', async () => {
    const lockout = { maxAttempts: 1, lockSeconds: 900 }
    const { it, code } = await app({ required: true }, { lockout })
    await it.post('/auth/register', { email: ann, password })
    const otp = await code(ann, 1)
    const long = { password: 'x'.repeat(1025) }
    expect((await verify(it, ann, otp, undefined, long)).status).toBe(400)
    expect((await verify(it, ann, '000000', undefined, { password })).status).toBe(400)
    expect((await verify(it, ann, otp, undefined, { password })).status).toBe(200)
    expect((await login(it, ann)).status).toBe(200)
  })

  it('a reset by mail proves it too', async () => {
    const { it, mails } = await app({ required: true })
    await it.post('/auth/register', { email: ann, password })
    await it.post('/auth/password/forgot', { identifier: ann })
    const code = mails.findLast(({ purpose }) => purpose === 'passwordReset')?.code
    const newPassword = 'another password'
    await it.post('/auth/password/reset', { identifier: ann, code, newPassword })
    expect((await login(it, ann, newPassword)).status).toBe(200)
  })
})

describe('email verification, start-up', () => {
  it('has no routes unless it is enabled', async () => {
    const it = await service()
    expect((await it.post('/auth/email/code', { identifier: ann })).status).toBe(404)
  })

  it.each<[object, RegExp]>([
    [{ emailVerification: { required: true } }, /'emailVerification.required' needs/],
    [{ emailVerification: { enabled: 1 } }, /'emailVerification.enabled' must be/],
    [{ emailVerification: { enabled: true }, mail: undefined }, /'emailVerification' needs 'mail'/],
    [
      { emailVerification: { enabled: true }, identifiers: ['phone'] },
      /needs 'email' in 'identifiers'/,
    ],
  ])('refuses %o', async (auth, message) => {
    await expect(service({ auth: auth as Fields as never })).rejects.toThrow(message)
  })
})
