import { describe, expect, it } from 'vitest'
import { password } from './accounts.ts'
import { raced } from './raced.ts'
import { parallel, type Service, service } from './service.ts'

const forgot = ({ post }: Service, identifier: string, channel = 'email') =>
  post('/auth/password/forgot', { identifier, channel })
const reset = async ({ post }: Service, identifier: string, code: unknown) => {
  const body = { identifier, code, newPassword: 'another password' }
  const answer = await post('/auth/password/reset', body)
  return [answer.status, answer.body.error]
}
const invalidCode = [400, 'That code is invalid or has expired.']
const done = [200, undefined]

async function withCode(options = {}) {
  const app = await service(options)
  const signedIn = await app.register('ann@example.com')
  await forgot(app, 'ann@example.com')
  return { app, ...signedIn, code: app.sent.at(-1)?.code ?? '' }
}

describe('3.3 a one-time code and how often it is asked for', () => {
  it('sends the same code again within the window, and no new tries with it', async () => {
    const app = await service()
    const { user } = await app.register('ann@example.com')
    await parallel(10, async () => {
      for (let round = 0; round < 5; round += 1) {
        await forgot(app, 'ann@example.com')
        for (let guess = 0; guess < 5; guess += 1) {
          const code = `${guess}`.repeat(6)
          expect(await reset(app, 'ann@example.com', code)).toEqual(invalidCode)
        }
      }
    })
    expect(await app.stored(user._id)).toMatchObject({ otpAttempts: 5 })
    expect(app.sent).toHaveLength(50)
    expect(new Set(app.sent.map(({ code }) => code)).size).toBe(1)
    await forgot(app, 'ann@example.com')
    expect(await reset(app, 'ann@example.com', app.sent.at(-1)?.code)).toEqual(invalidCode)
    app.later(601)
    await forgot(app, 'ann@example.com')
    expect(app.sent.at(-1)?.code).not.toBe(app.sent[0]?.code)
    expect(await reset(app, 'ann@example.com', app.sent.at(-1)?.code)).toEqual(done)
  })
})

describe('3.3 a one-time code and the address that it went to', () => {
  it('is none once PATCH /users/:id has changed the address', async () => {
    const { app, code, token, user } = await withCode({ auth: { updateFields: ['email'] } })
    const change = { email: 'new@example.com', currentPassword: password }
    const { status } = await app.call('PATCH', `/auth/users/${user._id}`, change, token)
    expect(status).toBe(200)
    expect(await reset(app, 'new@example.com', code)).toEqual(invalidCode)
  })

  it('is none once anything else has written another address', async () => {
    const { app, code, user } = await withCode()
    await app.users.update(user._id, { email: 'new@example.com' })
    expect(await reset(app, 'new@example.com', code)).toEqual(invalidCode)
    await forgot(app, 'new@example.com')
    const other = app.sent.at(-1)
    expect(other?.to).toBe('new@example.com')
    expect(other?.code).not.toBe(code)
    expect(await reset(app, 'new@example.com', code)).toEqual(invalidCode)
    expect(await reset(app, 'new@example.com', other?.code)).toEqual(done)
  })

  it('works for an address that is new in a window in which a code was texted', async () => {
    const { app, user } = await withCode()
    await app.users.update(user._id, { phone: '+4930123' })
    await forgot(app, 'ann@example.com', 'sms')
    await app.users.update(user._id, { email: 'new@example.com' })
    await forgot(app, 'new@example.com')
    expect(await reset(app, 'new@example.com', app.sent.at(-1)?.code)).toEqual(done)
  })

  it('goes to the address that the account has when it is made', async () => {
    const store = raced(async (users, filter, { set }) => {
      if (set?.otpExpiresAt) await users.update(filter, { set: { email: 'new@example.com' } })
    })
    const app = await service({ store })
    await app.register('ann@example.com')
    await forgot(app, 'ann@example.com')
    expect(app.sent.map(({ to }) => to)).toEqual(['new@example.com'])
  })

  it('opens and proves nothing if it was texted and the sender failed after that', async () => {
    const texted: string[] = []
    const sender = ({ code }: { code: string }) => {
      texted.push(code)
      throw new Error('no answer')
    }
    const owner = { id: '1', email: 'ann@example.com', emailVerified: true }
    const auth = { sms: { sender }, social: { own: { verify: () => owner } } }
    const app = await service({ auth, unique: ['ownId'] })
    await app.register('ann@example.com', { phone: '+4930666' })
    await forgot(app, 'ann@example.com')
    expect((await forgot(app, 'ann@example.com', 'sms')).status).toBe(200)
    expect(await reset(app, 'ann@example.com', texted[0])).toEqual(invalidCode)
    expect((await app.post('/auth/social/own')).status).toBe(200)
    const login = { email: 'ann@example.com', password: 'another password' }
    expect((await app.post('/auth/login', login)).status).toBe(401)
  })
})
