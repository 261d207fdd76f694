import { describe, expect, it } from 'vitest'
import { type AuthOptions, caseMapped, type Fields } from '../../src/index.ts'
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
  it('a change names those that clash, under whatever kind others have them', async () => {
    const identifiers = ['username', 'nick']
    const auth = {
      identifiers,
      updateFields: identifiers,
      mail: undefined,
      sms: undefined,
    }
    const app = await service({ auth: auth as never })
    const sent = (body: object) => app.post('/auth/register', { password, ...body })
    for (const body of [{ username: 'ann' }, { nick: 'zed' }]) await sent(body)
    const { token, user } = (await sent({ username: 'bob', nick: 'bobby' })).body.data
    const clashes = async (body: object) => {
      const change = { ...body, currentPassword: password }
      const answer = await app.call('PATCH', `/auth/users/${user._id}`, change, token)
      expect(answer.status).toBe(409)
      return Object.keys(answer.body.fields)
    }
    expect(await clashes({ username: 'robert', nick: 'ann' })).toEqual(['nick'])
    expect(await clashes({ username: 'zed', nick: 'ann' })).toEqual(['username', 'nick'])
    expect(await clashes({ username: 'ann', nick: 'ann' })).toEqual(['username', 'nick'])
    expect(await clashes({ username: 'ann', nick: 'robert' })).toEqual(['username'])
    expect(await app.stored(user._id)).toMatchObject({ username: 'bob', nick: 'bobby' })
  })

  const kinds = {
    identifiers: ['email', 'phone', 'username'],
    updateFields: ['phone', 'username', 'name'],
  }
  const app = (auth: object = {}) => service({ auth: { ...kinds, ...auth } as never })
  const signUp = ({ post }: Service, body: object) => post('/auth/register', { ...body, password })
  const clash = [409, 'An account with those details already exists.']
  const phoneLike = 'Must not read as a phone number.'
  const emailLike = 'Must not read as an email address.'

  it.each([
    ['4915112345', phoneLike],
    ['(1) 2.34', phoneLike],
    ['49-151-23', phoneLike],
    ['+49 151 12345', phoneLike],
    ['42', phoneLike],
    ['49/151\u201323', phoneLike],
    ['\uff14\uff19\uff11\uff15\uff11', phoneLike],
    ['\u0661\u0662\u0663\u0664\u0665', phoneLike],
    ['Ann@Attacker.com', emailLike],
    ['@ann', emailLike],
    ['ann\uff20example', emailLike],
  ])('%s is no user name, at a sign-up and in a PATCH', async (username, problem) => {
    const it = await app()
    const refused = await signUp(it, { username })
    expect([...told(refused), refused.body.fields]).toEqual([
      400,
      'Check the submitted values.',
      { username: problem },
    ])
    const { token, user } = (await signUp(it, { username: 'ann' })).body.data
    const body = { username, currentPassword: password }
    const patched = await it.call('PATCH', `/auth/users/${user._id}`, body, token)
    expect([patched.status, patched.body.fields]).toEqual([400, { username: problem }])
    expect(await it.stored(user._id)).toMatchObject({ username: 'ann' })
  })

  it.each(['ann', 'ann.lee-7', '7 of 9', '+ann', '...', 'a1234567'])(
    '%s is a user name beside phone numbers',
    async (username) => {
      expect((await signUp(await app(), { username })).status).toBe(201)
    },
  )

  it('is only of the identifiers that there are', async () => {
    const byName = await app({
      ...{ identifiers: ['username'], updateFields: [], mail: undefined, sms: undefined },
    })
    expect((await signUp(byName, { username: '4915112345' })).status).toBe(201)
    expect((await signUp(byName, { username: 'ann@example.com' })).status).toBe(201)
    const byEmail = await app({
      identifiers: ['email', 'username'],
      updateFields: [],
      sms: undefined,
    })
    expect((await signUp(byEmail, { username: '4915112345' })).status).toBe(201)
    expect((await signUp(byEmail, { username: 'ann@example.com' })).status).toBe(400)
  })

  it('what your own normalizers read counts too', async () => {
    // Numbers as people spell them on this app's signs.
    const phone = {
      field: 'phone',
      normalize: (text: string) => (/^tel:\d+$/.test(text) ? `+${text.slice(4)}` : undefined),
    }
    const it = await app({ identifiers: [phone, 'username'], updateFields: [], mail: undefined })
    expect((await signUp(it, { username: 'tel:4915112345' })).status).toBe(400)
    expect((await signUp(it, { username: 'tel:ann' })).status).toBe(201)
  })

  it('a name that was there before can be kept, and signs in', async () => {
    const it = await app()
    const { token, user } = (await signUp(it, { username: 'ann' })).body.data
    await it.users.update(user._id, { username: '4915112345' })
    const body = { name: 'Ann', username: '4915112345' }
    expect((await it.call('PATCH', `/auth/users/${user._id}`, body, token)).status).toBe(200)
    const signIn = { identifier: '4915112345', password }
    expect((await it.post('/auth/login', signIn)).status).toBe(200)
    // And nobody takes it by a number of the same digits.
    expect(told(await signUp(it, { phone: '4915112345' }))).toEqual(clash)
  })

  const cased = {
    identifiers: [{ field: 'username', normalize: caseMapped }, 'nick'],
    updateFields: ['nick'],
    mail: undefined,
    sms: undefined,
  }

  it.each([
    [{ username: 'ann' }, { nick: 'ann' }],
    [{ username: 'ann' }, { nick: 'Ann' }],
    [{ nick: 'ann' }, { username: 'ANN' }],
  ])('two kinds of names: %o keeps %o out', async (first, second) => {
    const it = await app(cased)
    expect((await signUp(it, first)).status).toBe(201)
    expect(told(await signUp(it, second))).toEqual(clash)
    expect(await it.users.count()).toBe(1)
  })

  it('a name that is folded into another one does not shadow it', async () => {
    const it = await app(cased)
    const { user } = (await signUp(it, { nick: 'Ann' })).body.data
    await signUp(it, { username: 'ann' })
    const answer = await it.post('/auth/login', { identifier: 'Ann', password })
    expect([answer.status, answer.body.data.user._id]).toEqual([200, user._id])
  })

  it('holds for PATCH, which takes the value back', async () => {
    const it = await app(cased)
    await signUp(it, { username: 'ann' })
    const { token, user } = (await signUp(it, { nick: 'bob' })).body.data
    const body = { nick: 'Ann', currentPassword: password }
    const answer = await it.call('PATCH', `/auth/users/${user._id}`, body, token)
    expect(told(answer)).toEqual([409, 'Duplicate value for: nick.'])
    expect(await it.stored(user._id)).toMatchObject({ nick: 'bob' })
  })

  it('one account may have a value under two kinds', async () => {
    const it = await app(cased)
    expect((await signUp(it, { username: 'Ann', nick: 'Ann' })).status).toBe(201)
  })

  it('never lets two sign-ups at the same moment both have it', async () => {
    const it = await app(cased)
    for (let round = 0; round < 20; round += 1) {
      const value = `ann${round}`
      const answers = await parallel(4, (index) =>
        signUp(it, index % 2 ? { nick: value } : { username: value }),
      )
      expect(statuses(answers)[201] ?? 0).toBeLessThanOrEqual(1)
      const has = await it.users.count({ nick: value })
      expect(has + (await it.users.count({ username: value }))).toBe(statuses(answers)[201] ?? 0)
    }
  })

  it('a name that a provider gives is no identifier', async () => {
    const social = { own: { verify: () => ({ id: '1', name: ' Ann@Example.com ' }) } }
    const auth = { identifiers: ['email', 'name'], social, sms: undefined, registerFields: [] }
    const it = await service({ auth: auth as never, unique: ['ownId'] })
    const answer = await it.post('/auth/social/own')
    expect([answer.status, answer.body.data.user.name]).toEqual([200, undefined])
  })
})
