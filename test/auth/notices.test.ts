import { Secret, TOTP } from 'otpauth'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { passkeys } from '../../adapters/methods/passkeys/index.ts'
import type { Fields, SecurityEvent } from '../../src/index.ts'
import { createAuthRouter } from '../../src/index.ts'
import { totp } from '../../src/methods/totp/index.ts'
import { authOptions, password, userModel } from './accounts.ts'
import { Authenticator } from './methods/authenticator.ts'
import { type Service, type ServiceOptions, service } from './service.ts'

const email = 'ann@example.com'
const other = 'staple battery horse'

interface Mail {
  readonly to: string
  readonly purpose: string
  readonly code: string
  readonly subject: string
  readonly text: string
  readonly html?: string
}

interface World extends Service {
  readonly mails: Mail[]
  readonly events: SecurityEvent[]
  /** What was sent that is no code, since the last call. */
  notices(): readonly string[]
  from(client: string | undefined): void
}

type Social = { id: string; email?: string; emailVerified?: boolean }

/** An app that keeps its mails whole, whose clients have names, and with two providers that believe everything. */
async function world(auth: Fields = {}, more: Partial<ServiceOptions> = {}): Promise<World> {
  const mails: Mail[] = []
  const events: SecurityEvent[] = []
  let client: string | undefined = 'home'
  const provider = {
    credentials: ['says'],
    verify: ({ says }: { says: string }) => JSON.parse(says),
  }
  const app = await service({
    ...more,
    auth: {
      mail: { sender: (mail: Mail) => mails.push(mail) },
      emailVerification: { enabled: true },
      social: { acme: provider, bolt: provider },
      client: () => client,
      onSecurityEvent: (event: SecurityEvent) => events.push(event),
      ...auth,
    } as never,
    unique: ['acmeId', 'boltId'],
  })
  let seen = 0
  return Object.assign(app, {
    mails,
    events,
    notices: () => {
      const news = mails.slice(seen).filter(({ code }) => code === '')
      seen = mails.length
      return news.map(({ to, purpose }) => `${purpose} to ${to}`)
    },
    from: (name: string | undefined) => {
      client = name
    },
  })
}

/** Ann, whose mailbox is proven; her access token. */
async function ann(app: World): Promise<string> {
  const { token } = await app.register(email)
  const { code } = app.mails.at(-1) as Mail
  const verified = await app.post('/auth/email/verify', { identifier: email, code }, token)
  expect(verified.status).toBe(200)
  expect(app.notices()).toEqual([])
  return token
}

const reset = async (app: World, identifier = email) => {
  await app.post('/auth/password/forgot', { identifier })
  const { code } = app.mails.at(-1) as Mail
  return app.post('/auth/password/reset', { identifier, code, newPassword: other })
}
const social = (app: World, provider: string, says: Social) =>
  app.post(`/auth/social/${provider}`, { says: JSON.stringify(says) })

describe('The owner of an account is told', () => {
  it('when its password is changed, with the time, the client and what to do', async () => {
    const app = await world({ appName: 'Fieldnotes' })
    const token = await ann(app)
    app.from('198.51.100.7')
    const change = { currentPassword: password, newPassword: other }
    expect((await app.post('/auth/password/change', change, token)).status).toBe(200)
    const [mail] = app.mails.slice(-1)
    expect(app.notices()).toEqual([`passwordChanged to ${email}`])
    expect(mail?.subject).toBe('Your Fieldnotes password was changed')
    for (const part of [mail?.text, mail?.html]) {
      expect(part).toContain('The password of your Fieldnotes account was changed.')
      expect(part).toContain('Time: 2030-01-01 00:00 UTC')
      expect(part).toContain('From: 198.51.100.7')
      expect(part).toContain('If this was not you, reset your password now.')
    }
  })

  it('when its password is reset, even if that is the first proof', async () => {
    const app = await world()
    await app.register('new@example.com')
    expect((await reset(app, 'new@example.com')).status).toBe(200)
    expect(app.notices()).toEqual(['passwordChanged to new@example.com'])
  })

  it('when a provider is linked, and when it is unlinked', async () => {
    const app = await world()
    await ann(app)
    const profile = { id: '1', email, emailVerified: true }
    expect((await social(app, 'acme', profile)).status).toBe(200)
    expect(app.notices()).toEqual([`providerLinked to ${email}`])
    expect((app.mails.at(-1) as Mail).text).toContain('a sign-in with acme')
    expect((await social(app, 'acme', profile)).status).toBe(200)
    expect(app.notices()).toEqual([])
    // An account that nothing has proven, linked by an address that was not vouched for: the owner takes it over.
    const { user } = await app.register('bob@example.com')
    await app.users.update(user._id, { boltId: 'old' })
    expect((await reset(app, 'bob@example.com')).status).toBe(200)
    expect(app.notices()).toEqual([
      'passwordChanged to bob@example.com',
      'providerUnlinked to bob@example.com',
    ])
    const linked = app.events.filter(({ type }) => type.startsWith('provider-'))
    expect(linked).toMatchObject([
      { type: 'provider-linked', provider: 'acme', route: 'social', userId: expect.any(String) },
      { type: 'provider-unlinked', provider: 'bolt', route: 'resetPassword', userId: user._id },
    ])
  })

  it('when a second factor is added, and when it is removed', async () => {
    const options = { rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }
    const app = await world({ methods: [passkeys(options), totp({ issuer: 'Atlas' })] })
    const token = await ann(app)
    app.notices()
    const { publicKey, ticket } = (await app.post('/auth/passkeys/options', {}, token)).body.data
    const key = new Authenticator()
    const made = { ticket, credential: await key.create(publicKey) }
    const { id } = (await app.post('/auth/passkeys', made, token)).body.data
    expect(app.notices()).toEqual([`factorAdded to ${email}`])
    const asked = (await app.post('/auth/login/passkey/options')).body.data
    const shown = { ticket: asked.ticket, credential: await key.get(asked.publicKey) }
    const own = (await app.post('/auth/login/passkey', shown)).body.data.token
    const begun = (await app.post('/auth/totp', {}, own)).body.data
    const generator = new TOTP({ secret: Secret.fromBase32(begun.secret) })
    const code = generator.generate({ timestamp: app.now() })
    await app.post('/auth/totp/confirm', { ticket: begun.ticket, code }, own)
    expect(app.notices()).toEqual([`factorAdded to ${email}`])
    for (const path of ['/auth/totp', `/auth/passkeys/${id}`]) {
      expect((await app.call('DELETE', path, undefined, own)).status).toBe(200)
      expect(app.notices()).toEqual([`factorRemoved to ${email}`])
    }
  })

  it('when the proof of its mailbox unlinks a provider', async () => {
    const app = await world()
    const { token, user } = await app.register(email)
    await app.users.update(user._id, { boltId: 'old' })
    const { code } = app.mails.at(-1) as Mail
    await app.post('/auth/email/verify', { identifier: email, code }, token)
    expect(app.notices()).toEqual([`providerUnlinked to ${email}`])
  })

  it('when a client signs in that it did not know, once', async () => {
    const app = await world()
    await ann(app)
    const login = () => app.post('/auth/login', { identifier: email, password })
    expect((await login()).status).toBe(200)
    expect(app.notices()).toEqual([])
    app.from('elsewhere')
    expect((await login()).status).toBe(200)
    expect(app.notices()).toEqual([`newClient to ${email}`])
    expect((app.mails.at(-1) as Mail).text).toContain('From: elsewhere')
    expect((await login()).status).toBe(200)
    app.from(undefined)
    expect((await login()).status).toBe(200)
    expect(app.notices()).toEqual([])
    app.from('third')
    await Promise.all([login(), login(), login()])
    expect(app.notices()).toEqual([`newClient to ${email}`])
  })

  it('when its address changes: the old one', async () => {
    const app = await world({ updateFields: ['email', 'phone'] })
    const token = await ann(app)
    const { user } = (await app.post('/auth/login', { identifier: email, password })).body.data
    await app.call(
      'PATCH',
      `/auth/users/${user._id}`,
      { email: 'new@example.com', currentPassword: password },
      token,
    )
    expect(app.notices()).toEqual([`identifierChanged to ${email}`])
  })
})

describe('No notice is sent', () => {
  it('of what happens to an account without a proven address, or to a disabled one', async () => {
    const app = await world(
      { fields: { disabled: 'banned' } },
      { fields: { banned: z.boolean().optional() } },
    )
    const { token } = await app.register('new@example.com')
    const change = { currentPassword: password, newPassword: other }
    expect((await app.post('/auth/password/change', change, token)).status).toBe(200)
    app.from('elsewhere')
    await app.post('/auth/login', { identifier: 'new@example.com', password: other })
    expect(app.notices()).toEqual([])
    await ann(app)
    const [user] = await app.users.find({ email })
    await app.users.update(String(user?._id), { banned: true })
    await app.post('/auth/password/forgot', { identifier: email })
    const { code } = app.mails.at(-1) as Mail
    const answer = await app.post('/auth/password/reset', {
      identifier: email,
      code,
      newPassword: other,
    })
    expect(answer.status).toBe(200)
    expect(app.notices()).toEqual([])
  })

  it('of failed tries: wrong passwords, wrong codes', async () => {
    const app = await world()
    const token = await ann(app)
    app.from('elsewhere')
    await app.post('/auth/login', { identifier: email, password: 'wrong' })
    await app.post('/auth/password/change', { currentPassword: 'x', newPassword: other }, token)
    await app.post('/auth/password/reset', { identifier: email, code: '0', newPassword: other })
    expect(app.notices()).toEqual([])
  })

  it.each([
    [false, []],
    [[], []],
    [['newClient'], ['newClient']],
    [['password', 'factor'], ['passwordChanged']],
    [true, ['newClient', 'passwordChanged']],
  ])('of what `notices: %j` leaves out', async (notices, told) => {
    const app = await world({ notices })
    await ann(app)
    app.from('elsewhere')
    await app.post('/auth/login', { identifier: email, password })
    await reset(app)
    expect(app.notices()).toEqual(told.map((purpose) => `${purpose} to ${email}`))
  })

  it('by `otp.deliver`, which may know codes alone, unless `notices` says so', async () => {
    for (const notices of [undefined, true]) {
      const purposes: string[] = []
      const deliver = ({ purpose, code }: { purpose: string; code: string }) => {
        purposes.push(`${purpose} ${code === '' ? 'told' : 'code'}`)
        codes.push(code)
      }
      const codes: string[] = []
      const auth = { mail: undefined, sms: undefined, otp: { deliver, resendSeconds: 0 } }
      const app = await service({ auth: { ...auth, ...(notices && { notices }) } as never })
      await app.register(email)
      await app.post('/auth/password/forgot', { identifier: email })
      const body = { identifier: email, code: codes.at(-1), newPassword: other }
      expect((await app.post('/auth/password/reset', body)).status).toBe(200)
      expect(purposes).toEqual(
        notices ? ['passwordReset code', 'passwordChanged told'] : ['passwordReset code'],
      )
    }
  })
})

describe('A notice', () => {
  it('that fails changes nothing but the log, and closes no channel', async () => {
    const app = await world({
      mail: {
        sender: ({ to, code }: Mail) => {
          if (code === '') throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
          codes.push({ to, code })
        },
      },
    })
    const codes: { to: string; code: string }[] = []
    await app.register(email)
    await app.post('/auth/password/forgot', { identifier: email })
    const { code } = codes.at(-1) ?? {}
    const body = { identifier: email, code, newPassword: other }
    expect((await app.post('/auth/password/reset', body)).status).toBe(200)
    expect(app.log.join()).toContain('a notice could not be sent by email')
    expect((await app.post('/auth/password/forgot', { identifier: email })).status).toBe(200)
  })

  it('is sent after the response, through waitUntil', async () => {
    const app = await world()
    const token = await ann(app)
    const later: Promise<unknown>[] = []
    const request = new Request('http://localhost/auth/password/change', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ currentPassword: password, newPassword: other }),
    })
    const response = await app.app.handle(request, undefined, {
      waitUntil: (work) => later.push(work),
    })
    expect([response.status, app.notices(), later.length]).toEqual([200, [], 1])
    await Promise.all(later)
    expect(app.notices()).toEqual([`passwordChanged to ${email}`])
  })

  it('has texts of your own, with its values', async () => {
    const app = await world({
      mail: {
        sender: (mail: Mail) => sent.push(mail),
        templates: {
          newClient: { subject: 'Hello', text: '{{time}} {{client}} {{provider}}{{user.email}}' },
        },
      },
    })
    const sent: Mail[] = []
    await app.register(email)
    const { code } = sent.at(-1) ?? {}
    await app.post('/auth/email/verify', { identifier: email, code, password })
    app.from('two\r\nlines')
    await app.post('/auth/login', { identifier: email, password })
    expect(sent.at(-1)).toMatchObject({
      purpose: 'newClient',
      subject: 'Hello',
      text: `2030-01-01 00:00 UTC two lines ${email}`,
    })
  })

  it.each([['sometimes'], [['passwords']], ['password'], [1], [null]])(
    'is refused at the start for `notices: %j`',
    (notices) => {
      const User = userModel()
      expect(() => createAuthRouter(authOptions(User, [], { notices } as never))).toThrow(
        "Auth: 'notices' must be true, false or a list of 'password', 'provider', 'factor', 'newClient', 'address'",
      )
    },
  )

  it('needs mail, if it is asked for', async () => {
    const auth = { mail: undefined, sms: undefined }
    await expect(service({ auth: { ...auth, notices: true } as never })).rejects.toThrow(
      "Auth: 'notices' needs 'mail'",
    )
    await expect(service({ auth: { ...auth } as never })).resolves.toBeDefined()
  })
})
