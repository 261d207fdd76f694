import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { SecondStepRequired, type SignInStep } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { password } from '../accounts.ts'
import { Authenticator } from './authenticator.ts'
import { credentials, email, factored } from './factored.ts'

const banned = { fields: { disabled: 'banned' } }

/** Disables the account of `ann` and enables it again. */
async function blink({ users, ann }: Awaited<ReturnType<typeof factored>>): Promise<void> {
  await users.update(ann.user._id, { banned: true })
  await users.update(ann.user._id, { banned: false })
}

const fields = { banned: z.boolean().optional() }

describe('What is pending when an account is disabled opens nothing once it is enabled again', () => {
  it('a second step', async () => {
    const app = await factored({ auth: banned as never, fields })
    const { secret } = await app.enrol()
    const ticket = await app.ticketOf()
    await blink(app)
    app.later(30)
    expect((await app.post('/auth/login', { ticket, totp: app.codeOf(secret) })).status).toBe(401)
    expect((await app.answer({ totp: app.codeOf(secret) })).status).toBe(200)
  })

  it.each([true, false])('a second step of onLogin, sessions: %s', async (enabled) => {
    const onLogin = (_: unknown, __: Request, { answer }: SignInStep) => {
      if (!answer) throw new SecondStepRequired('What is the word?')
    }
    const auth = { ...banned, methods: [], onLogin, refresh: { enabled } }
    const app = await factored({ auth: auth as never, fields })
    const ticket = await app.ticketOf()
    await blink(app)
    expect((await app.post('/auth/login', { ticket, word: 'x' })).status).toBe(401)
    expect((await app.answer({ word: 'x' })).status).toBe(200)
  })

  it('a mailed code, of a sign-in or of a reset, and a link', async () => {
    const app = await factored({ auth: banned as never, fields })
    const mailed = async (path: string) => {
      await app.post(path, { identifier: email })
      return app.sent.at(-1)?.code
    }
    const code = await mailed('/auth/password/forgot')
    const link = await mailed('/auth/login/link')
    await blink(app)
    const reset = { identifier: email, code, newPassword: 'another password' }
    expect((await app.post('/auth/password/reset', reset)).status).toBe(400)
    expect((await app.post('/auth/login', { link })).status).toBe(401)

    const methods = [emailCode()]
    const other = await factored({ auth: { ...banned, methods } as never, fields })
    await other.post('/auth/login/code', { identifier: email })
    await blink(other)
    const otp = other.sent.at(-1)?.code
    expect((await other.post('/auth/login', { identifier: email, otp })).status).toBe(401)
  })

  it('an authenticator app that is half set up', async () => {
    const app = await factored({ auth: banned as never, fields })
    const { secret, ticket } = (await app.post('/auth/totp', {}, app.ann.token)).body.data
    await blink(app)
    const { token } = (await app.post('/auth/login', credentials)).body.data
    const confirm = { ticket, code: app.codeOf(secret) }
    expect((await app.post('/auth/totp/confirm', confirm, token)).status).toBe(400)
  })
})

describe('A second step that was asked for', () => {
  it('ends with the factor that it asked for, and another one does not answer it', async () => {
    const app = await factored()
    const { secret } = await app.enrol()
    const token = await app.strong(secret)
    const ticket = await app.ticketOf()
    expect((await app.call('DELETE', '/auth/totp', undefined, token)).status).toBe(200)
    expect((await app.post('/auth/login', { ticket })).status).toBe(401)
    const next = await app.enrol(token)
    app.later(30)
    const late = { ticket, totp: app.codeOf(next.secret) }
    expect((await app.post('/auth/login', late)).body.error).toBe(
      'This sign-in has expired. Start again.',
    )
    expect((await app.answer({ totp: app.codeOf(next.secret) })).status).toBe(200)
  })
})

describe('A second step after a second factor', () => {
  const onLogin = (_: unknown, __: Request, { answer }: SignInStep) => {
    if (answer?.word === undefined) throw new SecondStepRequired('What is the word?')
  }

  it('does not ask for the factor again, and leaves a session with both', async () => {
    let asks = false
    const app = await factored({
      auth: {
        onLogin: (...given: Parameters<typeof onLogin>) => asks && onLogin(...given),
      } as never,
    })
    const { secret } = await app.enrol()
    asks = true
    app.later(30)
    const asked = await app.answer({ totp: app.codeOf(secret) })
    expect([asked.status, asked.body.error]).toEqual([401, 'What is the word?'])
    expect(asked.body).not.toHaveProperty('secondStep')
    const { status, body } = await app.post('/auth/login', { ticket: asked.body.ticket, word: 'x' })
    expect(status).toBe(200)
    expect((await app.makeKey(body.data.token)).status).toBe(201)
  })

  it('is as strong after a passkey', async () => {
    let asks = false
    const methods = [
      passkeys({ rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }),
      totp({ issuer: 'Atlas' }),
      apiKeys(),
    ]
    const app = await factored({
      auth: {
        methods,
        onLogin: (_: unknown, __: Request, { answer }: SignInStep) => {
          if (asks && answer?.word !== 'x') throw new SecondStepRequired('What is the word?')
        },
      },
    })
    const key = new Authenticator()
    const begun = (await app.post('/auth/passkeys/options', {}, app.ann.token)).body.data
    const made = { ticket: begun.ticket, credential: await key.create(begun.publicKey) }
    expect((await app.post('/auth/passkeys', made, app.ann.token)).status).toBe(201)
    const signIn = async () => {
      const { publicKey, ticket } = (await app.post('/auth/login/passkey/options')).body.data
      return app.post('/auth/login/passkey', { ticket, credential: await key.get(publicKey) })
    }
    await app.enrol((await signIn()).body.data.token)
    asks = true
    const { ticket } = (await signIn()).body
    // Asked again after a wrong answer, it is as strong.
    const again = await app.post('/auth/login', { ticket, word: 'y' })
    expect([again.status, again.body.error]).toEqual([401, 'What is the word?'])
    const { status, body } = await app.post('/auth/login', { ticket: again.body.ticket, word: 'x' })
    expect(status).toBe(200)
    expect((await app.makeKey(body.data.token)).status).toBe(201)
  })
})

describe('A first proof', () => {
  it.each(['/auth/login/link', '/auth/password/forgot'])(
    'that ends a factor and keys is reported, the factor told by mail: %s',
    async (path) => {
      const purposes: string[] = []
      const mail = {
        sender: ({ purpose, code }: { purpose: string; code: string }) => {
          purposes.push(purpose)
          app.sent.push({ to: email, code, channel: 'email' })
        },
      }
      const app = await factored({ auth: { mail } as never })
      expect((await app.makeKey(app.ann.token)).status).toBe(201)
      await app.enrol()
      await app.post(path, { identifier: email })
      const { code } = app.sent.at(-1) ?? {}
      const isReset = path.endsWith('forgot')
      const done = isReset
        ? await app.post('/auth/password/reset', { identifier: email, code, newPassword: password })
        : await app.post('/auth/login', { link: code })
      expect(done.status).toBe(200)
      for (const event of ['factor-removed', 'key-removed']) {
        expect(
          app.log.filter((line) => line.includes(`auth: ${event}`)),
          event,
        ).toHaveLength(1)
      }
      expect(purposes.filter((purpose) => purpose === 'factorRemoved')).toHaveLength(1)
    },
  )
})
