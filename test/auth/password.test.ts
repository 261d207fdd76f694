import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createTransport } from 'nodemailer'
import { SMTPServer } from 'smtp-server'
import { describe, expect, it } from 'vitest'
import { smtpTransporter } from '../../adapters/mailers/smtp.ts'
import { password } from './accounts.ts'
import { parallel, type Service, service, statuses } from './service.ts'

const next = 'another password'
const forgot = ({ post }: Service, identifier: unknown, more: object = {}) =>
  post('/auth/password/forgot', { identifier, ...more })
const reset = ({ post }: Service, identifier: string, code: unknown, newPassword: unknown = next) =>
  post('/auth/password/reset', { identifier, code, newPassword })
const opens = async ({ post }: Service, guess: string, email = 'ann@example.com') =>
  (await post('/auth/login', { email, password: guess })).status === 200
const invalidCode = [400, 'That code is invalid or has expired.']
const sentText = { success: true, message: 'If that account exists, a code has been sent.' }
const told = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]

describe('4.5 POST /password/forgot', () => {
  it('tells known and unknown accounts alike, and sends to the stored address', async () => {
    const app = await service()
    await app.register('ann@example.com')
    for (const identifier of ['ANN@example.com ', 'nobody@example.com']) {
      const answer = await forgot(app, identifier)
      expect([answer.status, answer.body]).toEqual([200, sentText])
    }
    expect(app.sent).toEqual([
      { to: 'ann@example.com', code: expect.stringMatching(/^\d{6}$/), channel: 'email' },
    ])
  })

  it('takes the channel that the client names', async () => {
    const app = await service()
    await app.register('ann@example.com', { phone: '+4930123' })
    await forgot(app, 'ann@example.com')
    await forgot(app, 'ann@example.com', { channel: 'sms' })
    expect(app.sent.map(({ to }) => to)).toEqual(['ann@example.com', '+4930123'])
    for (const channel of ['fax', 5, ['email'], {}, '']) {
      expect(told(await forgot(app, 'ann@example.com', { channel }))).toEqual([
        400,
        "'channel' must be 'email' or 'sms'.",
      ])
    }
    const mailOnly = await service({ auth: { sms: undefined } as never })
    expect(told(await forgot(mailOnly, 'nobody@example.com', { channel: 'sms' }))).toEqual([
      400,
      'Codes cannot be sent by sms here.',
    ])
    const none = await service({ auth: { sms: undefined, mail: undefined } as never })
    expect(told(await forgot(none, 'nobody@example.com'))).toEqual([
      400,
      'Codes cannot be sent by email here.',
    ])
  })

  it('asks for an identifier', async () => {
    const app = await service()
    expect(told(await app.post('/auth/password/forgot', {}))).toEqual([
      400,
      'An identifier is required.',
    ])
  })

  it('a code that was not sent is not valid, and stands in no log', async () => {
    let code = ''
    const app = await service({
      auth: {
        otp: {
          deliver: (message) => {
            code = message.code
            throw new Error(`refused: Your code is ${code}`)
          },
        },
      },
    })
    await app.register('ann@example.com')
    // Nobody is told of it: it would tell that there is an account.
    expect((await forgot(app, 'ann@example.com')).body).toEqual(sentText)
    expect(code).toMatch(/^\d{6}$/)
    // M2: what a sender's error quotes does not get into the log.
    expect(app.log.join('\n')).toContain('refused: Your code is …')
    expect(app.log.join('\n')).not.toContain(code)
    expect(told(await reset(app, 'ann@example.com', code))).toEqual(invalidCode)
  })

  it('takes otp.deliver instead of mail and sms', async () => {
    const seen: unknown[] = []
    const app = await service({
      auth: {
        otp: {
          length: 8,
          deliver: ({ user, code, channel }) => seen.push([user.email, code.length, channel]),
        },
      },
    })
    await app.register('ann@example.com')
    await forgot(app, 'ann@example.com')
    expect(seen).toEqual([['ann@example.com', 8, 'email']])
  })
})

describe('5.3 messages', () => {
  it('arrive at a real SMTP server through nodemailer, filled in and escaped', async () => {
    const mails: string[] = []
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, session, done) {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          mails.push(
            `${session.envelope.rcptTo.map(({ address }: { address: string }) => address)}\n${Buffer.concat(chunks)}`,
          )
          done()
        })
      },
    })
    const listening = server.listen(0, '127.0.0.1')
    await once(listening, 'listening')
    const { port } = listening.address() as AddressInfo
    const transports = [
      createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true }),
      await smtpTransporter(`smtp://127.0.0.1:${port}/?ignoreTLS=true`),
    ]
    for (const transporter of transports) {
      const app = await service({
        auth: {
          appName: 'Atlas & Co',
          mail: {
            transporter,
            from: 'no-reply@example.com',
            templates: {
              passwordReset: {
                subject: 'For {{user.name}}: {{appName}}',
                text: 'Code {{code}} for {{ minutes }} minutes, {{user.password}}{{user.nothing}}{{user.constructor}}{{user.größe}}.',
                html: '<b>{{user.name}}</b> {{code}}',
              },
            },
          },
        },
      })
      await app.register('ann@example.com', { name: '<i>Ann</i>\r\nBcc: all@example.com' })
      expect((await forgot(app, 'ann@example.com')).status).toBe(200)
      const mail = mails.at(-1) ?? ''
      const code = /Code (\d{6}) for 10 minutes, \./.exec(mail)?.[1]
      expect(mail).toMatch(/^ann@example\.com\n/)
      expect(mail).toMatch(/^From: no-reply@example\.com/m)
      expect(mail).toMatch(/^Subject: For <i>Ann<\/i> Bcc: all@example.com: Atlas & Co/m)
      expect(mail).toContain('&lt;i&gt;Ann&lt;/i&gt;')
      expect((await reset(app, 'ann@example.com', code)).status).toBe(200)
    }
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })

  it('have texts of their own, and take functions', async () => {
    const mails: { subject: string; text: string; html?: string }[] = []
    const texts: string[] = []
    const app = await service({
      app: { env: { APP_NAME: 'Atlas' } },
      auth: {
        mail: { sender: (mail) => mails.push(mail) },
        sms: {
          sender: ({ text }) => texts.push(text),
          templates: { passwordReset: ({ code, appName }) => `${appName}:${code}:{{code}}` },
        },
      },
    })
    await app.register('ann@example.com', { phone: '+4930123' })
    await forgot(app, 'ann@example.com')
    await forgot(app, 'ann@example.com', { channel: 'sms' })
    expect(mails[0]?.subject).toBe('Your Atlas password reset code')
    expect(mails[0]?.text).toMatch(/\d{6}/)
    expect(mails[0]?.html).toMatch(/\d{6}/)
    expect(texts[0]).toMatch(/^Atlas:\d{6}:\{\{code\}\}$/)
  })

  it('wait for templates that are async functions', async () => {
    const texts: unknown[] = []
    const app = await service({
      auth: {
        mail: {
          sender: ({ subject, text }) => texts.push(subject, text),
          templates: { passwordReset: async ({ code }) => ({ subject: 'S', text: `M ${code}` }) },
        },
        sms: {
          sender: ({ text }) => texts.push(text),
          templates: { passwordReset: async ({ code }) => `T ${code}` },
        },
      },
    })
    await app.register('ann@example.com', { phone: '+4930123' })
    await forgot(app, 'ann@example.com')
    await forgot(app, 'ann@example.com', { channel: 'sms' })
    expect(texts).toEqual([
      'S',
      expect.stringMatching(/^M \d{6}$/),
      expect.stringMatching(/^T \d{6}$/),
    ])
  })
})

describe('4.5 POST /password/reset', () => {
  async function withCode(options = {}) {
    const app = await service(options)
    const signedIn = await app.register('ann@example.com')
    await forgot(app, 'ann@example.com')
    return { app, ...signedIn, code: app.sent.at(-1)?.code ?? '' }
  }

  it('sets the password and ends every session and token', async () => {
    const { app, code, token, refreshToken } = await withCode()
    const answer = await reset(app, 'ann@example.com', code)
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, message: 'Password reset. Sign in with your new password.' },
    ])
    expect([await opens(app, password), await opens(app, next)]).toEqual([false, true])
    expect((await app.post('/auth/token/refresh', { refreshToken })).status).toBe(401)
    expect((await app.call('GET', '/auth/me', undefined, token)).status).toBe(401)
  })

  it('refuses passwords with the texts of sign-up', async () => {
    const { app, code } = await withCode()
    const set = async (value: unknown) => told(await reset(app, 'ann@example.com', code, value))
    expect(await set(null)).toEqual([400, 'A password is required.'])
    expect(await set('short')).toEqual([400, 'Password must be at least 8 characters.'])
    expect(await set('x'.repeat(1025))).toEqual([400, 'Password must be at most 1024 bytes.'])
    expect((await reset(app, 'ann@example.com', code)).status).toBe(200)
  })

  it('every other code is the same 400', async () => {
    const { app, code } = await withCode()
    await app.register('bob@example.com')
    expect(told(await reset(app, 'bob@example.com', code))).toEqual(invalidCode)
    expect(told(await reset(app, 'nobody@example.com', code))).toEqual(invalidCode)
    expect(told(await reset(app, 'ann@example.com', undefined))).toEqual(invalidCode)
    app.later(600)
    expect(told(await reset(app, 'ann@example.com', code))).toEqual(invalidCode)
    await forgot(app, 'ann@example.com')
    const used = app.sent.at(-1)?.code
    expect((await reset(app, 'ann@example.com', used)).status).toBe(200)
    expect(told(await reset(app, 'ann@example.com', used))).toEqual(invalidCode)
    await forgot(app, 'ann@example.com')
    expect(app.sent.at(-1)?.code).not.toBe(used)
  })

  it('a password change makes a pending code invalid', async () => {
    const { app, code, token } = await withCode()
    await app.post('/auth/password/change', { currentPassword: password, newPassword: next }, token)
    expect(told(await reset(app, 'ann@example.com', code, 'a third password'))).toEqual(invalidCode)
  })

  it('a code is its digits, as text', async () => {
    const { app, code } = await withCode()
    const fullWidth = [...code]
      .map((digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0))
      .join('')
    for (const other of [Number(code), fullWidth, `${code}0`]) {
      expect(told(await reset(app, 'ann@example.com', other))).toEqual(invalidCode)
    }
    expect((await reset(app, 'ann@example.com', ` ${code} `)).status).toBe(200)
  })

  it('the try after the last is refused, right or not', async () => {
    const { app, code } = await withCode({ auth: { otp: { maxAttempts: 2 } } })
    await reset(app, 'ann@example.com', 'x')
    await reset(app, 'ann@example.com', 'x')
    expect(told(await reset(app, 'ann@example.com', code))).toEqual(invalidCode)
  })

  it('two right codes in parallel change the password once', async () => {
    const { app, code } = await withCode()
    const answers = await parallel(4, (index) =>
      reset(app, 'ann@example.com', code, `password number ${index}`),
    )
    expect(statuses(answers)).toEqual({ 200: 1, 400: 3 })
  })

  it('codes have as many digits as asked for, zeros in front kept', async () => {
    const { app, code } = await withCode({ auth: { otp: { length: 4 } } })
    expect(code).toMatch(/^\d{4}$/)
    const seen = new Set<string>()
    for (let round = 0; round < 60; round += 1) {
      app.later(601)
      await forgot(app, 'ann@example.com')
      seen.add(app.sent.at(-1)?.code ?? '')
    }
    expect([...seen].every((each) => /^\d{4}$/.test(each))).toBe(true)
    expect(seen.size).toBeGreaterThan(50)
  })
})

describe('4.5 POST /password/change', () => {
  it('changes the password and ends every session, this one too', async () => {
    const app = await service()
    const { token, refreshToken } = await app.register('ann@example.com')
    const answer = await app.post(
      '/auth/password/change',
      { currentPassword: password, newPassword: next },
      token,
    )
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, message: 'Password changed.' },
    ])
    expect([await opens(app, password), await opens(app, next)]).toEqual([false, true])
    expect((await app.post('/auth/token/refresh', { refreshToken })).status).toBe(401)
    expect(told(await app.call('GET', '/auth/me', undefined, token))).toEqual([
      401,
      'Session ended. Sign in again.',
    ])
  })

  it('needs a sign-in, the current password, and a new one', async () => {
    const app = await service()
    const { token } = await app.register('ann@example.com')
    const change = async (body: object, as?: string) =>
      told(await app.post('/auth/password/change', body, as))
    expect(await change({})).toEqual([401, 'Authentication required.'])
    expect(await change({ currentPassword: password }, token)).toEqual([
      400,
      'A password is required.',
    ])
    expect(await change({ newPassword: next }, token)).toEqual([
      401,
      'Current password is incorrect.',
    ])
    expect(await change({ currentPassword: 'wrong', newPassword: next }, token)).toEqual([
      401,
      'Current password is incorrect.',
    ])
    expect(await change({ currentPassword: { $ne: 1 }, newPassword: next }, token)).toEqual([
      400,
      'Invalid credentials format.',
    ])
    expect(
      (
        await app.post(
          '/auth/password/change',
          { currentPassword: password, newPassword: next },
          token,
        )
      ).status,
    ).toBe(200)
  })

  it('two changes in parallel: one of them', async () => {
    const app = await service()
    const { token } = await app.register('ann@example.com')
    const answers = await parallel(4, (index) =>
      app.post(
        '/auth/password/change',
        { currentPassword: password, newPassword: `password number ${index}` },
        token,
      ),
    )
    expect(statuses(answers)[200]).toBe(1)
  })
})
