import { describe, expect, it } from 'vitest'
import type { AuthOptions, Fields } from '../../src/index.ts'
import { password } from './accounts.ts'
import { raced } from './raced.ts'
import { parallel, type Service, service, statuses } from './service.ts'

const told = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]
const changing = { updateFields: ['name', 'email', 'phone'] } as const

async function signedIn(auth: Partial<AuthOptions<Fields>> = {}, more: object = {}) {
  const notices: Fields[] = []
  const note = ({ to, purpose, code }: { to: string; purpose: string; code: string }) =>
    notices.push({ to, purpose, code })
  const app = await service({
    ...more,
    auth: { ...changing, mail: { sender: note }, sms: { sender: note }, ...auth } as never,
  })
  const { token, user } = await app.register('ann@example.com', { phone: '+4930123' })
  const patch = (body: object, as = token, id = user._id) =>
    app.call('PATCH', `/auth/users/${id}`, body, as)
  return { app, token, id: user._id, patch, notices }
}

describe('identifiers change with the current password', () => {
  it('and with nothing less', async () => {
    const { app, id, patch } = await signedIn()
    for (const change of [{ email: 'new@example.com' }, { phone: '+4930456' }]) {
      expect(told(await patch(change))).toEqual([403, 'Current password required.'])
      for (const wrong of ['wrong password', 5, null]) {
        expect(told(await patch({ ...change, currentPassword: wrong }))).toEqual([
          401,
          'Current password is incorrect.',
        ])
      }
      expect((await patch({ ...change, currentPassword: {} })).status).toBe(400)
    }
    expect(await app.stored(id)).toMatchObject({ email: 'ann@example.com', phone: '+4930123' })
    const done = await patch({ email: ' NEW@example.com', currentPassword: password })
    expect([done.status, done.body.data.email]).toEqual([200, 'new@example.com'])
    expect((await patch({ name: 'Ann', email: 'new@example.com' })).status).toBe(200)
  })

  it('wrong ones count towards the lockout, a right one clears it', async () => {
    const { app, id, patch } = await signedIn({ lockout: { maxAttempts: 3 } })
    const change = (currentPassword: string) => patch({ phone: '+4930456', currentPassword })
    await change('wrong')
    await change('wrong')
    expect(await app.stored(id)).toMatchObject({ failedLoginAttempts: 2 })
    expect((await change(password)).status).toBe(200)
    expect(await app.stored(id)).toMatchObject({ failedLoginAttempts: 0 })
    for (let guess = 0; guess < 3; guess += 1) {
      await patch({ phone: '+4930789', currentPassword: 'wrong' })
    }
    expect((await patch({ phone: '+4930789', currentPassword: password })).status).toBe(401)
    expect((await app.post('/auth/login', { email: 'ann@example.com', password })).status).toBe(401)
  })

  it('an admin shows their own password', async () => {
    const { app, id, patch } = await signedIn()
    const admin = await app.admin()
    const email = 'new@example.com'
    expect(told(await patch({ email }, admin.token))).toEqual([403, 'Current password required.'])
    expect((await patch({ email, currentPassword: password }, admin.token)).status).toBe(200)
    expect(await app.stored(id)).toMatchObject({ email })
  })

  it('the old address is told, by its own channel', async () => {
    const { patch, notices } = await signedIn()
    await patch({ email: 'new@example.com', phone: '+4930456', currentPassword: password })
    await expect.poll(() => notices.length).toBe(2)
    expect(notices).toEqual(
      expect.arrayContaining([
        { to: 'ann@example.com', purpose: 'identifierChanged', code: '' },
        { to: '+4930123', purpose: 'identifierChanged', code: '' },
      ]),
    )
  })

  it('a notice that cannot be sent changes nothing', async () => {
    const sender = () => {
      throw new Error('550 no')
    }
    const { patch } = await signedIn({ mail: { sender } })
    const done = await patch({ email: 'new@example.com', currentPassword: password })
    expect(done.status).toBe(200)
  })

  it('an account without a password shows a recent sign-in instead', async () => {
    const profile = { id: '1' }
    const social = { own: { verify: () => profile } }
    const app = await service({ auth: { ...changing, social } as never, unique: ['ownId'] })
    const signIn = async () => (await app.post('/auth/social/own')).body.data
    const { token, user } = await signIn()
    const patch = (email: string, as: string) =>
      app.call('PATCH', `/auth/users/${user._id}`, { email }, as)
    expect((await patch('one@example.com', token)).status).toBe(200)
    app.later(601)
    expect(told(await patch('two@example.com', token))).toEqual([403, 'Sign in again to do this.'])
    expect((await patch('two@example.com', (await signIn()).token)).status).toBe(200)
  })

  it('is not written once somebody has taken the account over meanwhile', async () => {
    let taken = false
    const store = raced(async (users, filter, { set }) => {
      if (set?.email !== 'attacker@example.com' || taken) return
      taken = true
      const change = { password: 'cheap:0:other', passwordChangedAt: new Date(4e12) }
      await users.update(filter, { set: change })
    })
    const { app, id, patch } = await signedIn({}, { store })
    const answer = await patch({ email: 'attacker@example.com', currentPassword: password })
    expect(told(answer)).toEqual([401, 'Session ended. Sign in again.'])
    expect(await app.stored(id)).toMatchObject({ email: 'ann@example.com' })
  })
})

describe('one namespace for identifiers', () => {
  const kinds = { identifiers: ['email', 'phone', 'username'], updateFields: ['phone', 'username'] }
  const app = (auth: object = {}) => service({ auth: { ...kinds, ...auth } as never })
  const signUp = ({ post }: Service, body: object) => post('/auth/register', { ...body, password })
  const clash = [409, 'An account with those details already exists.']

  it.each([
    [{ username: '4915112345' }, { phone: '4915112345' }],
    [{ username: '4915112345' }, { phone: '49 151 (123) 45' }],
    [{ phone: '+4915112345' }, { username: '+4915112345' }],
    [{ phone: '+4915112345' }, { username: '+49 151 12345' }],
    [{ email: 'ann@example.com' }, { username: 'Ann@Example.com' }],
    [{ username: 'ann@example.com' }, { email: 'ann@example.com' }],
  ])('%o keeps %o out', async (first, second) => {
    const it = await app()
    expect((await signUp(it, first)).status).toBe(201)
    expect(told(await signUp(it, second))).toEqual(clash)
    expect(await it.users.count()).toBe(1)
  })

  it('holds for PATCH, which takes the value back', async () => {
    const it = await app()
    await signUp(it, { username: '4915112345' })
    const { token, user } = (await signUp(it, { email: 'bob@example.com', phone: '+49' })).body.data
    const body = { phone: '4915112345', currentPassword: password }
    const answer = await it.call('PATCH', `/auth/users/${user._id}`, body, token)
    expect(told(answer)).toEqual([409, 'Duplicate value for: phone.'])
    expect(await it.stored(user._id)).toMatchObject({ phone: '+49' })
  })

  it('one account may have a value under two kinds', async () => {
    const it = await app()
    expect((await signUp(it, { username: '4915112345', phone: '4915112345' })).status).toBe(201)
  })

  it('never lets two sign-ups at the same moment both have it', async () => {
    const it = await app()
    for (let round = 0; round < 20; round += 1) {
      const value = `49151${round}`
      const answers = await parallel(4, (index) =>
        signUp(it, index % 2 ? { phone: value } : { username: value }),
      )
      expect(statuses(answers)[201] ?? 0).toBeLessThanOrEqual(1)
      const has = await it.users.count({ phone: value })
      expect(has + (await it.users.count({ username: value }))).toBe(statuses(answers)[201] ?? 0)
    }
  })
})
