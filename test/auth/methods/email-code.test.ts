import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Fields, Model } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { password } from '../accounts.ts'
import { parallel, type ServiceOptions, service, statuses } from '../service.ts'

const email = 'ann@example.com'

/** An app that mails sign-in codes, and a user who has registered. */
async function coded(
  options: Parameters<typeof emailCode>[0] = {},
  { auth, ...more }: ServiceOptions = {},
) {
  const client = (request: Request) => request.headers.get('x-client') ?? undefined
  const methods = [emailCode(options), apiKeys()]
  const app = await service({ ...more, auth: { methods, client, ...auth } })
  const ann = await app.register(email)
  const ask = (identifier = email) => app.post('/auth/login/code', { identifier })
  const code = async (identifier = email) => {
    await ask(identifier)
    return app.sent.at(-1)?.code
  }
  const login = (otp: unknown, identifier = email) => app.post('/auth/login', { identifier, otp })
  return { ...app, ann, ask, code, login }
}

describe('A sign-in code', () => {
  it('signs in once, also at once', async () => {
    const app = await coded({}, { auth: { otp: { maxAttempts: 100 } } })
    const otp = await app.code()
    expect(otp).toMatch(/^\d{6}$/)
    const tried = await parallel(6, () => app.login(otp))
    expect(statuses(tried)).toEqual({ 200: 1, 401: 5 })
    expect((await app.login(otp)).status).toBe(401)
  })

  it('goes with its account', async () => {
    const app = await coded({}, { auth: { routes: { deleteUser: true } } })
    await app.code()
    const { known, engine } = hostOf(app.app.store)
    const model = [...known()].find(({ name }) => name === 'UserSignInCode') as Model
    const count = () => engine(model).stored.count(everything)
    expect(await count()).toBe(1)
    const body = { currentPassword: password }
    await app.call('DELETE', `/auth/users/${app.ann.user._id}`, body, app.ann.token)
    expect(await count()).toBe(0)
  })

  it('is refused in one way, whatever is wrong with it', async () => {
    const app = await coded()
    const otp = await app.code()
    const wrong = otp === '123456' ? '123457' : '123456'
    for (const [tried, identifier] of [
      [wrong, email],
      [otp, 'bob@example.com'],
      ['', email],
      [`${otp}0`, email],
    ]) {
      const { status, body } = await app.login(tried, identifier)
      expect([status, body.error]).toEqual([401, 'Invalid credentials.'])
    }
    app.later(601)
    expect((await app.login(otp)).status).toBe(401)
    for (const typed of [123456, null, { $ne: '' }, ['1']]) {
      expect((await app.login(typed)).body.error).toBe('Invalid credentials format.')
    }
    expect((await app.post('/auth/login', { otp })).body.error).toBe('An identifier is required.')
  })

  it('can be tried five times a window, at once and however often it is sent', async () => {
    const app = await coded()
    const otp = await app.code()
    const wrong = otp === '123456' ? '123457' : '123456'
    await parallel(20, () => app.login(wrong))
    expect(await app.code()).toBe(otp)
    expect((await app.login(otp)).status).toBe(401)
    app.later(601)
    expect((await app.login(await app.code())).status).toBe(200)
  })

  it('cannot be used up by strangers where the owner has signed in before', async () => {
    const app = await coded()
    const from = (client: string, otp: unknown) =>
      app.app.handle(
        new Request('http://localhost/auth/login', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-client': client },
          body: JSON.stringify({ identifier: email, otp }),
        }),
      )
    expect((await from('home', await app.code())).status).toBe(200)
    const otp = await app.code()
    await parallel(9, () => from('elsewhere', '000000'))
    expect((await from('elsewhere', otp)).status).toBe(401)
    expect((await from('home', otp)).status).toBe(200)
  })

  it('is of one purpose: it resets and verifies nothing, and no other code signs in', async () => {
    const app = await coded({}, { auth: { emailVerification: { enabled: true } } })
    const verification = app.sent.at(-1)?.code
    const otp = await app.code()
    const reset = { identifier: email, code: otp, newPassword: 'another horse battery' }
    expect((await app.post('/auth/password/reset', reset)).status).toBe(400)
    expect((await app.post('/auth/email/verify', { identifier: email, otp })).status).toBe(400)
    await app.post('/auth/password/forgot', { identifier: email })
    expect((await app.login(app.sent.at(-1)?.code)).status).toBe(401)
    expect((await app.login(verification)).status).toBe(401)
    expect((await app.login(otp)).status).toBe(200)
  })

  it('is sent to who left one unused days ago', async () => {
    const app = await coded()
    await app.ask()
    app.later(2 * 86_400)
    const before = app.sent.length
    const otp = await app.code()
    expect(app.sent).toHaveLength(before + 1)
    expect((await app.login(otp)).status).toBe(200)
  })

  it('ends with a new password, and with the address that it went to', async () => {
    const app = await coded()
    await app.login(await app.code())
    const otp = await app.code()
    await app.users.update(app.ann.user._id, { email: 'new@example.com' })
    expect((await app.login(otp, 'new@example.com')).status).toBe(401)
    const { token } =
      (await app.post('/auth/login', { identifier: email, password })).body.data ?? {}
    expect(token).toBeUndefined()
  })

  it('proves the address: whatever others have put into the account before ends', async () => {
    const app = await coded()
    const allow = [{ mount: '*', actions: ['list'] }]
    await app.post('/auth/keys', { name: 'CI', allow }, app.ann.token)
    const { body } = await app.login(await app.code())
    expect((await app.post('/auth/login', { email, password })).status).toBe(401)
    expect((await app.call('GET', '/auth/me', undefined, app.ann.token)).status).toBe(401)
    expect((await app.call('GET', '/auth/keys', undefined, body.data.token)).body.data).toEqual([])
    expect((await app.stored(app.ann.user._id)).provenEmail).toBe(email)
  })

  it('confirms the own session, keeps password and session at a first proof, and no other account', async () => {
    const app = await coded()
    const bob = await app.register('bob@example.com')
    const otp = await app.code()
    const confirm = (body: Fields, token: string) => app.post('/auth/login/confirm', body, token)
    expect((await confirm({ otp }, bob.token)).status).toBe(401)
    expect((await confirm({ identifier: email, otp }, bob.token)).status).toBe(401)
    expect((await confirm({ otp: '000000' }, app.ann.token)).status).toBe(401)
    expect((await confirm({ otp }, app.ann.token)).status).toBe(200)
    expect((await app.call('GET', '/auth/me', undefined, app.ann.token)).status).toBe(200)
    expect((await app.post('/auth/login', { email, password })).status).toBe(200)
  })

  it('lets an account in whose address has to be proven first', async () => {
    const auth = { emailVerification: { enabled: true, required: true } }
    const app = await service({ auth: { methods: [emailCode()], ...auth } })
    await app.post('/auth/register', { email, password })
    await app.post('/auth/login/code', { identifier: email })
    const otp = app.sent.at(-1)?.code
    expect((await app.post('/auth/login', { identifier: email, otp })).status).toBe(200)
  })
})

describe('POST /login/code', () => {
  it('answers everyone alike, and mails only to accounts that may sign in', async () => {
    const fields = { disabled: z.boolean().default(false) }
    const app = await coded({}, { auth: { fields: { disabled: 'disabled' } }, fields })
    const known = await app.ask()
    const unknown = await app.ask('eve@example.com')
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body])
    expect(app.sent).toHaveLength(1)
    await app.users.update(app.ann.user._id, { disabled: true })
    expect((await app.ask()).body).toEqual(known.body)
    expect(app.sent).toHaveLength(1)
    expect((await app.post('/auth/login/code', {})).status).toBe(400)
    expect((await app.login(app.sent[0]?.code)).body.error).toBe('Invalid credentials.')
  })

  it('pauses between two mails, and not after one that could not be sent', async () => {
    let fails = true
    const sent: string[] = []
    const sender = ({ code }: { code: string }) => {
      if (fails) throw new Error('no mail today')
      sent.push(code)
    }
    const app = await coded({}, { auth: { mail: { sender }, otp: { resendSeconds: 60 } } as never })
    await app.ask()
    fails = false
    await app.ask()
    await app.ask()
    expect(sent).toHaveLength(1)
    app.later(60)
    await app.ask()
    expect(sent).toEqual([sent[0], sent[0]])
  })

  it('is taken back if it could not be sent, unless it was sent before', async () => {
    const handed: string[] = []
    let fails = false
    const sender = ({ code }: { code: string }) => {
      handed.push(code)
      if (fails) throw new Error('no mail today')
    }
    const app = await coded({}, { auth: { mail: { sender } } as never })
    await app.ask()
    fails = true
    await app.ask()
    expect(handed[1]).toBe(handed[0])
    expect((await app.login(handed[0])).status).toBe(200)
    await app.ask()
    expect((await app.login(handed[2])).status).toBe(401)
    fails = false
    await app.ask()
    expect((await app.login(handed[3])).status).toBe(200)
  })

  it('opens nothing while the account is locked', async () => {
    const app = await coded({}, { auth: { lockout: { maxAttempts: 2, lockSeconds: 60 } } })
    const otp = await app.code()
    await parallel(2, () => app.post('/auth/login', { email, password: 'wrong password' }))
    expect((await app.login(otp)).status).toBe(401)
    app.later(60)
    expect((await app.login(otp)).status).toBe(200)
  })
})

describe('With signUp', () => {
  it('an unknown address gets an account when its code is used, and no earlier', async () => {
    const app = await coded({ signUp: true })
    const otp = await app.code('eve@example.com')
    expect(await app.users.findOne({ email: 'eve@example.com' })).toBeNull()
    expect((await app.login('000000', 'eve@example.com')).status).toBe(401)
    const answers = await parallel(3, () =>
      app.post('/auth/login', { identifier: 'EVE@example.com', otp, name: 'Eve', role: 'admin' }),
    )
    expect(statuses(answers)).toEqual({ 200: 1, 401: 2 })
    const eve = await app.users.findOne({ email: 'eve@example.com' })
    expect(eve).toMatchObject({ name: 'Eve', role: 'user', provenEmail: 'eve@example.com' })
    expect((await app.login(await app.code('eve@example.com'), 'eve@example.com')).status).toBe(200)
  })

  it.each([true, false])(
    'an account that onRegister disables and enables is signed in, refresh %s',
    async (enabled) => {
      const app = await service({
        auth: {
          methods: [emailCode({ signUp: true })],
          refresh: { enabled },
          fields: { disabled: 'pending' },
          onRegister: async ({ _id }) => {
            for (const pending of [true, false]) await app.users.update(_id, { pending })
          },
        },
        fields: { pending: z.boolean().optional() },
      })
      await app.post('/auth/login/code', { identifier: email })
      const otp = app.sent.at(-1)?.code
      const { status, body } = await app.post('/auth/login', { identifier: email, otp })
      expect([status, body.error]).toEqual([200, undefined])
    },
  )

  it('a mistake in another field does not use the code up, nor a try', async () => {
    const fields = { nick: z.string().min(3) }
    const registerFields = ['nick']
    const methods = [emailCode({ signUp: true })]
    const app = await service({
      auth: { registerFields, methods } as never,
      fields,
    })
    const eve = 'eve@example.com'
    await app.post('/auth/login/code', { identifier: eve })
    const otp = app.sent.at(-1)?.code
    const login = (more: Fields) => app.post('/auth/login', { identifier: eve, otp, ...more })
    for (let tries = 0; tries < 6; tries += 1) {
      const { status, body } = await login({ nick: 'e' })
      expect([status, Object.keys(body.fields)]).toEqual([400, ['nick']])
    }
    expect((await login({ nick: 'evelyn' })).status).toBe(200)
    expect((await login({ nick: 'evelyn' })).status).toBe(401)
  })

  it('is off by default', async () => {
    const app = await coded()
    await app.ask('eve@example.com')
    expect(app.sent).toEqual([])
  })
})

it.each([
  ['an unknown option', () => emailCode({ other: 1 } as never), /^emailCode: unknown option/],
  [
    'signUp that is no boolean',
    () => emailCode({ signUp: 'yes' } as never),
    /^emailCode: 'signUp'/,
  ],
])('refuses %s', (_, make, message) => {
  expect(make).toThrow(message)
})

it.each([
  ['without mail', { mail: undefined, otp: {} }],
  ['that mails to another field', { mail: { sender: () => {}, toField: 'name' } }],
])('does not start in an app %s', async (_, auth) => {
  const methods = [emailCode()]
  await expect(service({ auth: { methods, ...auth } as never })).rejects.toThrow(
    /emailCode: it needs/,
  )
})
