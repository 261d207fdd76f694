import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineModel, type Fields, type Model } from '../../src/index.ts'
import { password } from './accounts.ts'
import { parallel, type Service, service, statuses } from './service.ts'

const email = 'ann@example.com'
const other = 'staple battery horse'

interface World extends Service {
  readonly id: string
  from(client: string | undefined): void
  login(plain?: string): Promise<{ status: number; body: { error?: string } }>
  /** Wrong passwords, each after the lock of the one before. */
  wrong(count: number): Promise<void>
  row(): Promise<unknown>
  /** As after `count` of them. */
  after(count: number): Promise<unknown>
}

/** An account that knows the client 'home'. */
async function world(auth: Fields = {}, more: Fields = {}): Promise<World> {
  let client: string | undefined = 'home'
  const lockout = { maxAttempts: 3, lockSeconds: 60 }
  const app = await service({ ...more, auth: { lockout, client: () => client, ...auth } as never })
  const { user } = await app.register(email)
  client = undefined
  const login: World['login'] = (plain = password) =>
    app.post('/auth/login', { identifier: email, password: plain })
  return Object.assign(app, {
    id: user._id,
    login,
    from: (name: string | undefined) => {
      client = name
    },
    wrong: async (count: number) => {
      for (let guess = 0; guess < count; guess += 1) {
        app.later(61)
        expect((await login(`wrong ${guess}`)).status).toBe(401)
      }
      app.later(61)
    },
    row: async () => (await app.stored(user._id)).wrongPasswords,
    after: (count: number) => app.users.update(user._id, { wrongPasswords: count }),
  })
}

async function reset(app: World) {
  await app.post('/auth/password/forgot', { identifier: email, channel: 'email' })
  const code = app.sent.findLast((sent) => sent.code !== '')?.code
  return app.post('/auth/password/reset', { identifier: email, code, newPassword: other })
}

describe('A hundred wrong passwords in a row', () => {
  it('end password sign-in, however long they take, until a reset', async () => {
    const app = await world()
    await app.wrong(100)
    const right = await app.login()
    const wrong = await app.login('nonsense')
    const unknown = await app.post('/auth/login', { identifier: 'no@example.com', password })
    for (const { status, body } of [right, wrong, unknown]) {
      expect([status, body.error]).toEqual([401, 'Invalid credentials.'])
    }
    app.later(40 * 86_400)
    expect((await app.login()).status).toBe(401)
    expect(await app.row()).toBe(100)
    expect((await reset(app)).status).toBe(200)
    expect(await app.row()).toBeUndefined()
    expect((await app.login(other)).status).toBe(200)
  })

  it('are counted anew after a right one', async () => {
    const app = await world()
    await app.after(95)
    await app.wrong(4)
    expect((await app.login()).status).toBe(200)
    expect(await app.row()).toBe(0)
    await app.wrong(4)
    expect(await app.row()).toBe(4)
    expect((await app.login()).status).toBe(200)
  })

  it('of strangers leave the clients alone that the account knows, which have a count of their own', async () => {
    const app = await world()
    await app.after(98)
    await app.wrong(2)
    app.from('home')
    expect((await app.login()).status).toBe(200)
    await app.wrong(100)
    expect((await app.login()).status).toBe(401)
    app.from(undefined)
    expect((await app.login()).status).toBe(401)
    expect((await reset(app)).status).toBe(200)
    app.from('home')
    expect((await app.login(other)).status).toBe(200)
  })

  it('count at once as they do one by one', async () => {
    const app = await world({ lockout: { maxAttempts: 1000, lockSeconds: 60 } })
    const guesses = await parallel(150, (at) => app.login(`wrong ${at}`))
    expect(statuses(guesses as never)).toEqual({ 401: 150 })
    expect(await app.row()).toBe(100)
    expect((await app.login()).status).toBe(401)
  })

  it('count wherever a password is asked for', async () => {
    const app = await world()
    app.from('home')
    const data = (await app.post('/auth/login', { identifier: email, password })).body.data
    app.from('elsewhere')
    for (let guess = 0; guess < 100; guess += 1) {
      app.later(61)
      const body = { refreshToken: data.refreshToken }
      const fresh = (await app.post('/auth/token/refresh', body)).body.data
      data.refreshToken = fresh.refreshToken
      const change = { currentPassword: 'x', newPassword: other }
      expect((await app.post('/auth/password/change', change, fresh.token)).status).toBe(401)
    }
    app.later(61)
    expect((await app.login()).status).toBe(401)
  })

  it('are no wait to tell of, where locks are told', async () => {
    const app = await world({ lockout: { maxAttempts: 3, lockSeconds: 60, reveal: true } })
    await app.wrong(3)
    await app.login('wrong')
    await app.after(98)
    for (let guess = 0; guess < 5; guess += 1) {
      app.later(61)
      await app.login('wrong')
    }
    app.later(61)
    expect((await app.login()).status).toBe(401)
  })

  it('take back a right one that another rule refused', async () => {
    const app = await world(
      { fields: { disabled: 'banned' } },
      { fields: { banned: z.boolean().optional() } },
    )
    await app.wrong(5)
    await app.users.update(app.id, { banned: true })
    for (let tries = 0; tries < 5; tries += 1) expect((await app.login()).status).toBe(403)
    expect(await app.row()).toBe(5)
  })

  it('are not counted in a model without the field, which the start tells of', async () => {
    const app = await world({}, { model: without('wrongPasswords') })
    expect(app.log.join()).toContain("the model has no field 'wrongPasswords'")
    await app.wrong(101)
    expect((await app.login()).status).toBe(200)
  })
})

/** The user model of the tests without one of its fields, as an older one has it. */
function without(field: string): Model<Fields> {
  const text = z.string().optional()
  const date = z.date().optional()
  const count = z.number().optional()
  const list = z.array(z.any()).optional()
  const fields: Record<string, z.ZodType> = {
    email: text,
    phone: text,
    name: text,
    password: text,
    role: z.string().default('user'),
    passwordChangedAt: date,
    otpHash: text,
    otpPurpose: text,
    otpExpiresAt: date,
    otpAttempts: count,
    otpSentAt: date,
    smsOtpHash: text,
    smsOtpExpiresAt: date,
    smsOtpAttempts: count,
    smsOtpSentAt: date,
    failedLoginAttempts: z.number().default(0),
    lockedUntil: date,
    refreshTokens: list,
    wrongPasswords: count,
  }
  const { [field]: _, ...rest } = fields
  const shown = ['email', 'phone', 'name', 'role']
  return defineModel('User', {
    fields: rest,
    unique: ['email', 'phone'],
    hidden: Object.keys(rest).filter((name) => !shown.includes(name)) as never,
  }) as unknown as Model<Fields>
}
