import { scryptSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Fields } from '../../src/index.ts'
import { HttpError, SecondStepRequired, type SignInStep } from '../../src/index.ts'
import { password } from './accounts.ts'
import { raced } from './raced.ts'
import { parallel, type Service, type ServiceOptions, service, statuses } from './service.ts'

const email = 'ann@example.com'
const first = { identifier: email, password }

/** An app whose `onLogin` asks for a second step and accepts one answer. */
async function guarded(
  auth: Fields = {},
  more: Partial<ServiceOptions> = {},
): Promise<Service & { answers: unknown[] }> {
  const answers: unknown[] = []
  const onLogin = (_: unknown, __: Request, { answer }: SignInStep) => {
    if (!answer) throw new SecondStepRequired('Enter the code of your app.')
    answers.push(answer.factor)
    if (answer.factor !== '123456') throw new HttpError(401, 'Wrong code.')
  }
  const client = (request: Request) => request.headers.get('x-client') ?? undefined
  const lockout = { maxAttempts: 3, lockSeconds: 60 }
  const app = await service({ ...more, auth: { lockout, client, onLogin, ...auth } })
  await app.register(email)
  return Object.assign(app, { answers })
}

const ticketOf = async (app: Service): Promise<string> =>
  (await app.post('/auth/login', first)).body.ticket
const answer = (app: Service, ticket: unknown, factor = '123456') =>
  app.post('/auth/login', { ticket, factor })

describe('A second step that onLogin asks for', () => {
  it('is asked for with a ticket, and opens the session with the answer', async () => {
    const app = await guarded()
    const asked = await app.post('/auth/login', first)
    expect(asked.status).toBe(401)
    expect(asked.body).toEqual({
      success: false,
      error: 'Enter the code of your app.',
      ticket: expect.any(String),
      expiresIn: 300,
      requestId: asked.headers.get('x-request-id'),
    })
    expect(asked.headers.get('cache-control')).toContain('no-store')
    const { status, body } = await answer(app, asked.body.ticket)
    expect(status).toBe(200)
    expect((await app.call('GET', '/auth/me', undefined, body.data.token)).status).toBe(200)
  })

  it('opens one session with one ticket', async () => {
    const app = await guarded({ lockout: { maxAttempts: 100, lockSeconds: 60 } })
    const ticket = await ticketOf(app)
    const answers = await parallel(10, () => answer(app, ticket))
    expect(statuses(answers)).toEqual({ 200: 1, 401: 9 })
    expect((await answer(app, ticket)).body.error).toBe('This sign-in has expired. Start again.')
  })

  it('expires after five minutes', async () => {
    const app = await guarded()
    const ticket = await ticketOf(app)
    app.later(301)
    expect((await answer(app, ticket)).status).toBe(401)
    expect(app.answers).toEqual([])
  })

  it('can be guessed at as often as a password, with however many tickets', async () => {
    const app = await guarded()
    for (let guess = 0; guess < 10; guess += 1) {
      const ticket = await ticketOf(app)
      if (ticket) await answer(app, ticket, String(guess))
    }
    expect(app.answers).toEqual(['0', '1', '2'])
    app.later(61)
    expect((await answer(app, await ticketOf(app))).status).toBe(200)
  })

  it('waits twice as long after each lock, up to a day, until an answer is right', async () => {
    const app = await guarded()
    const refusedAfter = async (seconds: number) => {
      for (let guess = 0; guess < 3; guess += 1) await answer(app, await ticketOf(app), 'wrong')
      app.later(seconds - 1)
      const known = app.answers.length
      expect((await answer(app, await ticketOf(app))).status).toBe(401)
      expect(app.answers.length).toBe(known)
      app.later(1)
    }
    for (const minutes of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]) {
      await refusedAfter(minutes * 60)
    }
    for (const _ of [1, 2]) await refusedAfter(86_400)
    expect((await answer(app, await ticketOf(app))).status).toBe(200)
    await refusedAfter(60)
  })

  it('cannot be guessed at faster in parallel', async () => {
    const app = await guarded()
    const tickets = [await ticketOf(app), await ticketOf(app)]
    await parallel(40, (guess) => answer(app, tickets[guess % 2], String(guess)))
    expect(app.answers.length).toBeLessThanOrEqual(3)
    expect((await answer(app, tickets[0])).status).toBe(401)
  })

  it('leaves no count when it was asked for and answered', async () => {
    const app = await guarded()
    for (let round = 0; round < 8; round += 1) {
      expect((await answer(app, await ticketOf(app))).status).toBe(200)
    }
  })

  it('is bound to the password, to the client, and to an account that is active', async () => {
    const other = await guarded(
      { fields: { disabled: 'banned' } },
      { fields: { banned: z.boolean().optional() } },
    )
    const ticket = await ticketOf(other)
    await other.post('/auth/password/forgot', { identifier: email })
    const { code } = other.sent.at(-1) ?? {}
    const newPassword = 'staple battery horse'
    await other.post('/auth/password/reset', { identifier: email, code, newPassword })
    expect((await answer(other, ticket)).status).toBe(401)
    const asked = await other.post('/auth/login', { identifier: email, password: newPassword })
    const elsewhere = await other.app.handle(
      new Request('http://localhost/auth/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-client': 'another' },
        body: JSON.stringify({ ticket: asked.body.ticket, factor: '123456' }),
      }),
    )
    expect(elsewhere.status).toBe(401)
    const { user } = (await answer(other, asked.body.ticket)).body.data
    const again = await other.post('/auth/login', { identifier: email, password: newPassword })
    await other.users.update(user._id, { banned: true })
    expect((await answer(other, again.body.ticket)).status).toBe(403)
  })

  it('takes no ticket that it did not give', async () => {
    const app = await guarded()
    const ticket = await ticketOf(app)
    const [payload = '', seal = ''] = ticket.split('~')
    const later = Buffer.from(payload, 'base64url')
      .toString()
      .replace(/"expiresAt":\d/, '"expiresAt":9')
    const forged = [
      '',
      'x',
      '~',
      `${payload}~`,
      `${payload}~${seal}x`,
      `${payload}~${seal}~`,
      `${Buffer.from(later).toString('base64url')}~${seal}`,
      ticket.repeat(20),
      7,
      null,
      true,
    ]
    for (const one of forged) expect((await answer(app, one)).status, String(one)).toBe(401)
    for (const one of [{}, [ticket], { $ne: null }])
      expect((await answer(app, one)).status).toBe(400)
    expect(app.answers).toEqual([])
    expect((await answer(app, ticket)).status).toBe(200)
  })

  it('may ask again, for a third step', async () => {
    const onLogin = (_: unknown, __: Request, { answer: given }: SignInStep) => {
      if (given?.third === true) return
      throw new SecondStepRequired(given?.second === true ? 'The third.' : 'The second.')
    }
    const app = await guarded({ onLogin })
    const second = await app.post('/auth/login', first)
    const third = await app.post('/auth/login', { ticket: second.body.ticket, second: true })
    expect(third.body.error).toBe('The third.')
    const end = await app.post('/auth/login', { ticket: third.body.ticket, third: true })
    expect(end.status).toBe(200)
  })

  it('that asks again for a wrong answer takes no more of them', async () => {
    let evaluated = 0
    const onLogin = (_: unknown, __: Request, { answer: given }: SignInStep) => {
      if (given) evaluated += 1
      if (given?.factor !== '123456') throw new SecondStepRequired('Try again.')
    }
    const app = await guarded({ onLogin })
    let ticket = await ticketOf(app)
    for (let guess = 0; guess < 8; guess += 1) {
      const { body } = await answer(app, ticket, '000000')
      ticket = body.ticket ?? ticket
    }
    expect(evaluated).toBe(3)
    expect((await answer(app, ticket)).status).toBe(401)
  })

  it('is asked for after a provider has vouched, and ends as that sign-in would', async () => {
    const verify = ({ key }: { key: string }) => ({ id: key, email, emailVerified: true })
    const app = await guarded({ social: { house: { verify } } }, { unique: ['houseId'] })
    const asked = await app.post('/auth/social/house', { key: 'ann' })
    expect([asked.status, asked.body.error]).toEqual([401, 'Enter the code of your app.'])
    const { status, body } = await answer(app, asked.body.ticket)
    expect([status, body.data.provider]).toEqual([200, 'house'])
  })

  it('may ask again after a provider has vouched, and holds while that is linked', async () => {
    const onLogin = async ({ _id }: Fields, __: Request, { answer: given }: SignInStep) => {
      if (!given?.third) throw new SecondStepRequired('Next.')
      if (given.unlinks) await app.users.update(String(_id), { houseId: undefined })
    }
    const verify = ({ key }: { key: string }) => ({ id: key, email, emailVerified: true })
    const app = await guarded({ onLogin, social: { house: { verify } } }, { unique: ['houseId'] })
    const steps = async (last: Fields) => {
      const second = await app.post('/auth/social/house', { key: 'ann' })
      const third = await app.post('/auth/login', { ticket: second.body.ticket, second: true })
      return app.post('/auth/login', { ticket: third.body.ticket, third: true, ...last })
    }
    expect((await steps({})).body.data.provider).toBe('house')
    expect((await steps({ unlinks: true })).status).toBe(401)
  })

  it('gives no answers back for a new password', async () => {
    const app = await guarded()
    for (let minute = 0; minute < 4; minute += 1) {
      await app.post('/auth/password/forgot', { identifier: email })
      const { code } = app.sent.at(-1) ?? {}
      const reset = { identifier: email, code, newPassword: password }
      expect((await app.post('/auth/password/reset', reset)).status).toBe(200)
      for (let at = 0; at < 4; at += 1) await answer(app, await ticketOf(app), '000000')
      app.later(1)
    }
    expect(app.answers).toHaveLength(3)
  })

  it('takes no ticket whose password changes while it is looked at', async () => {
    let armed = false
    const store = raced(async (collection, filter) => {
      if (!armed) return
      armed = false
      const set = {
        password: 'cheap:99:a new one',
        passwordChangedAt: new Date(Date.UTC(2030, 0, 2)),
      }
      await collection.update(filter, { set })
    })
    const app = await guarded({}, { store })
    const ticket = await ticketOf(app)
    armed = true
    expect((await answer(app, ticket)).status).toBe(401)
  })

  it('leaves passwords that were hashed in an older way to the first step, which renews them', async () => {
    const app = await guarded({ password: {} })
    const salt = Buffer.alloc(16, 1)
    const hash = scryptSync(password, salt, 32, { N: 2048, r: 8, p: 1 })
    const old = ['scrypt', 2048, 8, 1, salt.toString('base64url'), hash.toString('base64url')].join(
      '$',
    )
    const { _id } = (await app.users.findOne({ email })) ?? {}
    await app.users.update(String(_id), { password: old })
    expect((await answer(app, await ticketOf(app))).status).toBe(200)
    expect((await app.stored(String(_id))).password).toMatch(/^scrypt\$16384\$/)
  })

  it('is no failure to those who watch, but a wrong answer is', async () => {
    const seen: string[] = []
    const app = await guarded({ onSecurityEvent: ({ type }: { type: string }) => seen.push(type) })
    seen.length = 0
    const ticket = await ticketOf(app)
    expect(seen).toEqual([])
    await answer(app, ticket, '000000')
    await answer(app, ticket)
    expect(seen).toEqual(['sign-in-failed', 'signed-in'])
  })
})
