import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type Context, defineModel, HttpError } from '../../src/index.ts'
import { password } from './accounts.ts'
import { raced } from './raced.ts'
import { service } from './service.ts'

const Told = defineModel('ToldByHooks', { fields: { name: z.string() } })

it('hooks of accounts get the context last, whose store writes in one step', async () => {
  const called: unknown[] = []
  const hook =
    (name: string) =>
    async (...given: unknown[]) => {
      const context = given.at(-1) as Context
      called.push([name, given.length, typeof context.waitUntil])
      await context.store.atomic(async (tx) => tx.collection(Told).insert({ name }))
    }
  const { app, post, call } = await service({
    auth: {
      routes: { deleteUser: true },
      ...{ onRegister: hook('onRegister'), onLogin: hook('onLogin'), onDelete: hook('onDelete') },
    },
  })
  const told = app.store.collection(Told)
  const email = 'ann@example.com'
  await post('/auth/register', { email, password })
  const { token, user } = (await post('/auth/login', { identifier: email, password })).body.data
  const own = { currentPassword: password }
  const removed = await call('DELETE', `/auth/users/${user._id}`, own, token)
  expect(removed.status).toBe(200)
  expect(called).toEqual([
    ['onRegister', 3, 'function'],
    ['onLogin', 4, 'function'],
    ['onDelete', 3, 'function'],
  ])
  expect(await told.count()).toBe(3)
})

describe('4.5 POST /register', () => {
  it('makes an account, signs it in and shows no secret', async () => {
    const { post } = await service()
    const answer = await post('/auth/register', {
      email: ' Ann@Example.COM ',
      password,
      name: 'Ann',
    })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { token, expiresIn, refreshToken, refreshExpiresIn, user } = answer.body.data
    expect(token.split('.')).toHaveLength(3)
    expect(expiresIn).toBe(900)
    expect(refreshToken).toBeTypeOf('string')
    expect(refreshExpiresIn).toBe(30 * 86_400)
    expect(Object.keys(user).sort()).toEqual([
      '_id',
      'createdAt',
      'email',
      'name',
      'role',
      'updatedAt',
    ])
    expect(user).toMatchObject({ email: 'ann@example.com', name: 'Ann', role: 'user' })
  })

  it('refuses what is missing, in the order of the contract', async () => {
    const { post } = await service()
    const error = async (body: object) => {
      const answer = await post('/auth/register', body)
      return [answer.status, answer.body.error]
    }
    expect(await error({})).toEqual([400, 'Provide one of: email, phone.'])
    expect(await error({ password })).toEqual([400, 'Provide one of: email, phone.'])
    expect(await error({ email: 'a@b.example' })).toEqual([400, 'A password is required.'])
    expect(await error({ email: 'a@b.example', password: 12345678 })).toEqual([
      400,
      'A password is required.',
    ])
    expect(await error({ email: 'a@b.example', password: '1234567' })).toEqual([
      400,
      'Password must be at least 8 characters.',
    ])
    expect(await error({ email: 'a@b.example', password: 'é'.repeat(513) })).toEqual([
      400,
      'Password must be at most 1024 bytes.',
    ])
    expect(await error({ email: 'no address', password })).toEqual([
      400,
      'Check the submitted values.',
    ])
  })

  it('counts characters, not UTF-16 units', async () => {
    const { post } = await service()
    expect(
      (await post('/auth/register', { email: 'a@b.example', password: '😀'.repeat(7) })).status,
    ).toBe(400)
    expect(
      (await post('/auth/register', { email: 'a@b.example', password: '😀'.repeat(8) })).status,
    ).toBe(201)
  })

  it('tells the fields of schema failures', async () => {
    const { post } = await service()
    const answer = await post('/auth/register', {
      email: 'a@b.example',
      password,
      name: 'x'.repeat(101),
    })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe('Check the submitted values.')
    expect(Object.keys(answer.body.fields)).toEqual(['name'])
  })

  it('answers 409 without fields for an address in any spelling', async () => {
    const { post, register } = await service()
    await register('ann@example.com')
    for (const email of ['ANN@example.com', ' ann@Example.com', 'ann@example.com']) {
      const answer = await post('/auth/register', { email, password })
      expect([answer.status, answer.body.error]).toEqual([
        409,
        'An account with those details already exists.',
      ])
      expect(answer.body.fields).toBeUndefined()
    }
  })

  it('takes nothing that only the server writes', async () => {
    const { post, stored } = await service()
    const email = 'mallory@example.com'
    const body = `{"email":"${email}","password":"${password}","role":"admin","roles":["admin"],"ROLE":"admin",
      "role.0":"admin","_id":"000000000000000000000001","googleId":"g","otpHash":"x","lockedUntil":"2040-01-01",
      "failedLoginAttempts":-99,"refreshTokens":[],"passwordChangedAt":"2040-01-01","createdAt":"2000-01-01",
      "__proto__":{"role":"admin"},"constructor":{"prototype":{"role":"admin"}}}`
    const answer = await post('/auth/register', JSON.parse(body))
    expect(answer.status).toBe(201)
    const record = await stored(answer.body.data.user._id)
    expect(record.role).toBe('user')
    for (const field of [
      'googleId',
      'otpHash',
      'lockedUntil',
      'passwordChangedAt',
      'roles',
      'ROLE',
    ]) {
      expect(record[field]).toBeUndefined()
    }
    expect(record.failedLoginAttempts).toBe(0)
    expect(({} as { role?: string }).role).toBeUndefined()
  })

  it('takes nothing under renamed fields either', async () => {
    const fields = { password: 'secretHash', role: 'rank', failedLoginAttempts: 'misses' } as const
    const { post, stored } = await service({ auth: { fields } })
    const answer = await post('/auth/register', {
      email: 'a@b.example',
      password,
      secretHash: undefined,
      rank: 'admin',
      misses: -5,
      role: 'admin',
    })
    expect(answer.status).toBe(201)
    const record = await stored(answer.body.data.user._id)
    expect(record).toMatchObject({ rank: 'user', misses: 0 })
    expect(String(record.secretHash)).toMatch(/^cheap:/)
    expect(record.role).toBeUndefined()
    expect(answer.body.data.user).not.toHaveProperty('secretHash')
    expect(answer.body.data.user).not.toHaveProperty('misses')
  })

  it('takes the account back when onRegister fails', async () => {
    const seen: unknown[] = []
    const { post, users } = await service({
      auth: {
        onRegister(user) {
          seen.push(user)
          throw new HttpError(418, 'Not today.')
        },
      },
    })
    const answer = await post('/auth/register', { email: 'a@b.example', password })
    expect([answer.status, answer.body.error]).toEqual([418, 'Not today.'])
    expect(await users.count()).toBe(0)
    expect(seen[0]).toMatchObject({ email: 'a@b.example' })
    expect(seen[0]).not.toHaveProperty('password')
  })

  it.each([true, false])(
    'shows what onRegister has made of the account, refresh %s',
    async (enabled) => {
      const app = await service({
        auth: {
          refresh: { enabled },
          onRegister: ({ _id }) => app.users.update(_id, { role: 'admin', name: 'Boss' }),
        },
      })
      const { token, user } = await app.register('ann@example.com')
      expect(user).toMatchObject({ role: 'admin', name: 'Boss' })
      expect(decodeJwt(token).role).toBe('admin')
    },
  )

  it.each([true, false])(
    'an account that onRegister disables is made, and not signed in, refresh %s',
    async (enabled) => {
      const app = await service({
        auth: {
          refresh: { enabled },
          fields: { disabled: 'pending' },
          onRegister: ({ _id }) => app.users.update(_id, { pending: true }),
        },
        fields: { pending: z.boolean().optional() },
      })
      const answer = await app.post('/auth/register', { email: 'ann@example.com', password })
      expect([answer.status, answer.body.error]).toEqual([403, 'This account is not active.'])
      expect(await app.users.count()).toBe(1)
    },
  )

  it.each([true, false])(
    'an account that onRegister enables is signed in, refresh %s',
    async (enabled) => {
      const app = await service({
        auth: {
          refresh: { enabled },
          fields: { disabled: 'pending' },
          onRegister: ({ _id }) => app.users.update(_id, { pending: false }),
        },
        fields: { pending: z.boolean().default(true) },
      })
      const { token } = await app.register('ann@example.com')
      expect((await app.call('GET', '/auth/me', undefined, token)).status).toBe(200)
    },
  )

  it.each([true, false])(
    'an account whose session onRegister ends is signed in anew, sessions: %s',
    async (enabled) => {
      const app = await service({
        auth: {
          refresh: { enabled },
          fields: { disabled: 'pending' },
          onRegister: async ({ _id }) => {
            await app.users.update(_id, { pending: true })
            await app.users.update(_id, { pending: false })
          },
        },
        fields: { pending: z.boolean().optional() },
      })
      const { token } = await app.register('ann@example.com')
      expect((await app.call('GET', '/auth/me', undefined, token)).status).toBe(200)
    },
  )

  it('an account that is disabled from the start gets no session', async () => {
    let updates = 0
    const app = await service({
      auth: { refresh: { enabled: true }, fields: { disabled: 'pending' } },
      fields: { pending: z.boolean().default(true) },
      store: raced(() => {
        updates += 1
      }),
    })
    const answer = await app.post('/auth/register', { email: 'ann@example.com', password })
    expect([answer.status, answer.body.error]).toEqual([403, 'This account is not active.'])
    expect(updates).toBe(1)
    const [user] = await app.users.find({})
    expect((await app.stored(String(user?._id))).refreshTokens ?? []).toEqual([])
  })

  it('an address is one address', async () => {
    const { post } = await service()
    for (const email of [
      'a@x.example,b@y.example',
      'a;b@y.example',
      '"a b"@x.example',
      'a@b@c',
      '<a@b.example>',
      'a:b@c.example',
    ]) {
      expect((await post('/auth/register', { email, password })).status).toBe(400)
    }
    expect(
      (await post('/auth/register', { email: `${'a'.repeat(10_000)}@b.example`, password })).status,
    ).toBe(400)
  })

  it('makes one account of differently typed phone numbers', async () => {
    const { post } = await service()
    expect(
      (await post('/auth/register', { phone: '+49 (30) 123-45.6', password })).body.data.user.phone,
    ).toBe('+4930123456')
    expect((await post('/auth/register', { phone: '+4930123456', password })).status).toBe(409)
    expect((await post('/auth/login', { identifier: '+49 30 123456', password })).status).toBe(200)
    expect((await post('/auth/register', { phone: '12a', password })).status).toBe(400)
  })

  it('takes an empty identifier for none, where registerFields names it too', async () => {
    const identifiers = ['email', 'username']
    const registerFields = ['username']
    const { post } = await service({
      auth: { identifiers, registerFields, updateFields: [], sms: undefined } as never,
    })
    for (const [index, username] of ['', '', null].entries()) {
      const email = `ann${index}@example.com`
      const answer = await post('/auth/register', { email, username, password })
      expect([answer.status, answer.body.data?.user]).toMatchObject([201, { email }])
      expect(answer.body.data.user).not.toHaveProperty('username')
    }
  })

  it('takes normalizers of the deployer', async () => {
    const identifiers = [
      { field: 'username', normalize: (text: string) => text.trim().toUpperCase() },
    ]
    const { post } = await service({
      auth: { identifiers, mail: undefined, sms: undefined } as never,
    })
    expect(
      (await post('/auth/register', { username: 'ann ', password })).body.data.user.username,
    ).toBe('ANN')
    expect((await post('/auth/login', { identifier: 'aNN', password })).status).toBe(200)
    expect((await post('/auth/login', { username: 'ann', password })).status).toBe(200)
  })

  it('a password opens exactly as it was set', async () => {
    const { post } = await service({ auth: { password: {} } })
    const exact = ` spaces \u0000 é ${'long '.repeat(20)}😀 `
    const email = 'exact@example.com'
    expect((await post('/auth/register', { email, password: exact })).status).toBe(201)
    const opens = async (guess: string) =>
      (await post('/auth/login', { email, password: guess })).status
    expect(await opens(exact)).toBe(200)
    expect(await opens(exact.trim())).toBe(401)
    expect(await opens(exact.normalize('NFD'))).toBe(401)
    expect(await opens(exact.slice(0, 72))).toBe(401)
    const lone = await post('/auth/register', {
      email: 'lone@example.com',
      password: 'long enough \ud800',
    })
    expect(lone.status).toBe(400)
    await post('/auth/register', { email: 'repl@example.com', password: 'long enough \ufffd' })
    expect(
      (await post('/auth/login', { email: 'repl@example.com', password: 'long enough \ud800' }))
        .status,
    ).toBe(401)
  })

  it('refuses a password of megabytes before it is hashed', async () => {
    let hashed = 0
    const counting = {
      hash: () => {
        hashed += 1
        return 'h'
      },
      verify: () => {
        hashed += 1
        return false
      },
    }
    const { post } = await service({
      auth: { password: counting },
      app: { maxBodySize: 20_000_000 },
    })
    const huge = 'x'.repeat(10_000_000)
    expect((await post('/auth/register', { email: 'a@b.example', password: huge })).status).toBe(
      400,
    )
    expect((await post('/auth/login', { email: 'a@b.example', password: huge })).status).toBe(400)
    expect(hashed).toBe(0)
  })

  it('needs no field that the schema does not need', async () => {
    const { post } = await service({ fields: { nickname: z.string() } })
    const answer = await post('/auth/register', { email: 'a@b.example', password })
    expect([answer.status, Object.keys(answer.body.fields)]).toEqual([400, ['nickname']])
  })
})
