import { describe, expect, it } from 'vitest'
import { cheap } from './accounts.ts'
import { parallel, type Service, service, statuses } from './service.ts'

const next = 'another password'
const forgot = ({ post }: Service, identifier: string, channel = 'email') =>
  post('/auth/password/forgot', { identifier, channel })
const reset = async ({ post }: Service, identifier: string, code: unknown) =>
  (await post('/auth/password/reset', { identifier, code, newPassword: next })).status

async function withPhone(auth: object = {}) {
  const app = await service({ auth })
  const { token, user } = await app.register('ann@example.com', { phone: '+4930123' })
  const code = (channel: string) => app.sent.findLast((sent) => sent.channel === channel)?.code
  return { app, token, id: user._id, code }
}

describe('3.3 codes by SMS and by mail', () => {
  it('are different codes, however close together they are requested', async () => {
    const { app, code } = await withPhone()
    await forgot(app, 'ann@example.com', 'sms')
    await forgot(app, 'ann@example.com', 'email')
    await forgot(app, 'ann@example.com', 'sms')
    expect(code('email')).not.toBe(code('sms'))
    expect(new Set(app.sent.map(({ code: each }) => each)).size).toBe(2)
    expect(await reset(app, 'ann@example.com', code('email'))).toBe(200)
  })

  it('each prove their own address: a code by SMS does not keep the mail from proving the mailbox', async () => {
    const owner = { id: '1', email: 'ann@example.com', emailVerified: true }
    const social = { own: { verify: () => owner } }
    const app = await service({ auth: { social }, unique: ['ownId'] })
    await app.register('ann@example.com', { phone: '+4930666' })
    await forgot(app, 'ann@example.com', 'sms')
    await forgot(app, 'ann@example.com', 'email')
    await forgot(app, 'ann@example.com', 'sms')
    const mailed = app.sent.find(({ channel }) => channel === 'email')?.code
    expect(await reset(app, 'ann@example.com', mailed)).toBe(200)
    expect((await app.post('/auth/social/own')).status).toBe(200)
    const login = { email: 'ann@example.com', password: next }
    expect((await app.post('/auth/login', login)).status).toBe(200)
  })

  it('one that is used ends the other', async () => {
    const { app, code } = await withPhone()
    await forgot(app, 'ann@example.com', 'sms')
    await forgot(app, 'ann@example.com', 'email')
    expect(await reset(app, 'ann@example.com', code('sms'))).toBe(200)
    expect(await reset(app, '+4930123', code('email'))).toBe(400)
  })

  it('a wrong try counts for each of them', async () => {
    const { app, code } = await withPhone({ otp: { maxAttempts: 2 } })
    await forgot(app, 'ann@example.com', 'sms')
    await forgot(app, 'ann@example.com', 'email')
    for (const wrong of ['000000', 'x']) {
      expect(await reset(app, 'ann@example.com', wrong)).toBe(400)
    }
    expect(await reset(app, 'ann@example.com', code('sms'))).toBe(400)
    expect(await reset(app, 'ann@example.com', code('email'))).toBe(400)
  })
})

describe('3.3 the tries of a code', () => {
  it.each(['email', 'phone', 'name'])('a change of %s gives none back', async (field) => {
    const app = await service({
      auth: { otp: { maxAttempts: 3 }, updateFields: ['name', 'email', 'phone'] },
    })
    const { token, user } = await app.register('ann@example.com', { phone: '+4930123' })
    const values = { email: 'ann@example.com', phone: '+4930123', name: 'Ann' }
    const channel = field === 'phone' ? 'sms' : 'email'
    for (let round = 0; round < 4; round += 1) {
      await forgot(app, 'ann@example.com', channel)
      expect(await reset(app, 'ann@example.com', 'wrong')).toBe(400)
      const body = { [field]: values[field as keyof typeof values] }
      await app.call('PATCH', `/auth/users/${user._id}`, body, token)
    }
    await forgot(app, 'ann@example.com', channel)
    expect(await reset(app, 'ann@example.com', app.sent.at(-1)?.code)).toBe(400)
  })

  it.each([undefined, 'a client that the account knows'])(
    'only wrong ones count, by %s',
    async (client) => {
      const auth = { otp: { maxAttempts: 2 }, client: () => client }
      const { app, code } = await withPhone(auth)
      for (let round = 0; round < 4; round += 1) {
        await forgot(app, 'ann@example.com')
        expect(await reset(app, 'ann@example.com', code('email'))).toBe(200)
      }
      await forgot(app, 'ann@example.com')
      expect(await reset(app, 'ann@example.com', 'wrong')).toBe(400)
      expect(await reset(app, 'ann@example.com', code('email'))).toBe(200)
      await forgot(app, 'ann@example.com')
      expect(await reset(app, 'ann@example.com', 'wrong')).toBe(400)
      // The two wrong ones are all that there are in this time.
      expect(await reset(app, 'ann@example.com', code('email'))).toBe(400)
    },
  )

  it('a right one whose password is refused does not count, nor does one that proves an address', async () => {
    const check = (plain: string) => (plain === 'an old password' ? 'Not again.' : undefined)
    const auth = { otp: { maxAttempts: 2 }, emailVerification: { enabled: true } }
    const more = { updateFields: ['email'], password: { ...cheap, check } }
    const app = await service({ auth: { ...auth, ...more } })
    const { token, user } = await app.register('ann@example.com')
    const sent = () => app.sent.findLast(({ code }) => code !== '')?.code
    for (const email of ['a', 'b', 'c', 'd'].map((name) => `${name}@example.com`)) {
      const body = { email, currentPassword: 'correct horse battery' }
      await app.call('PATCH', `/auth/users/${user._id}`, body, token)
      const proof = { identifier: email, otp: sent() }
      expect((await app.post('/auth/email/verify', proof, token)).status).toBe(200)
    }
    await forgot(app, 'd@example.com')
    const refused = { identifier: 'd@example.com', code: sent(), newPassword: 'an old password' }
    for (let round = 0; round < 3; round += 1) {
      expect((await app.post('/auth/password/reset', refused)).body.error).toBe('Not again.')
    }
    expect(await reset(app, 'd@example.com', sent())).toBe(200)
  })

  it('a new password gives none back', async () => {
    const { app, token } = await withPhone({ otp: { maxAttempts: 2 } })
    await forgot(app, 'ann@example.com')
    for (const wrong of ['x', 'y']) await reset(app, 'ann@example.com', wrong)
    const change = { currentPassword: 'correct horse battery', newPassword: next }
    expect((await app.post('/auth/password/change', change, token)).status).toBe(200)
    await forgot(app, 'ann@example.com')
    expect(await reset(app, 'ann@example.com', app.sent.at(-1)?.code)).toBe(400)
    app.later(601)
    await forgot(app, 'ann@example.com')
    expect(await reset(app, 'ann@example.com', app.sent.at(-1)?.code)).toBe(200)
  })
})

describe('the pause between two codes', () => {
  it.each([
    [undefined, 60],
    [5, 5],
    [3600, 3600],
  ])('resendSeconds %s sends one code in %s seconds', async (resendSeconds, pause) => {
    const { app, code } = await withPhone({ otp: { resendSeconds } })
    const first = await forgot(app, 'ann@example.com')
    const answers = await parallel(20, () => forgot(app, ' ANN@example.com'))
    expect(statuses(answers)).toEqual({ 200: 20 })
    expect(answers.every(({ text }) => text === first.text)).toBe(true)
    expect(app.sent).toHaveLength(1)
    app.later(pause - 1)
    await forgot(app, 'ann@example.com')
    expect(app.sent).toHaveLength(1)
    app.later(1)
    await forgot(app, 'ann@example.com')
    expect(app.sent).toHaveLength(2)
    expect(await reset(app, 'ann@example.com', code('email'))).toBe(200)
  })

  it('requests at the same moment send one code', async () => {
    const { app } = await withPhone({ otp: { resendSeconds: 60 } })
    await parallel(20, () => forgot(app, 'ann@example.com'))
    expect(app.sent).toHaveLength(1)
  })

  it('counts for each channel alone', async () => {
    const { app } = await withPhone({ otp: { resendSeconds: 60 } })
    for (const channel of ['sms', 'email', 'sms', 'email']) {
      await forgot(app, 'ann@example.com', channel)
    }
    expect(app.sent.map(({ channel }) => channel)).toEqual(['sms', 'email'])
  })

  it('does not begin with a code that could not be sent', async () => {
    let tried = 0
    const sender = () => {
      tried += 1
      throw new Error('550 no')
    }
    const app = await service({ auth: { mail: { sender }, otp: { resendSeconds: 60 } } })
    await app.register('ann@example.com')
    expect((await forgot(app, 'ann@example.com')).status).toBe(200)
    app.later(31)
    await forgot(app, 'ann@example.com')
    expect(tried).toBe(2)
  })

  it.each([-1, 1.5, '60', Number.NaN])('resendSeconds %s is a start-up error', async (value) => {
    await expect(service({ auth: { otp: { resendSeconds: value as never } } })).rejects.toThrow(
      /^Auth: 'otp.resendSeconds'/,
    )
  })
})
