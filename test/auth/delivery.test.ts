import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { createTransport } from 'nodemailer'
import { SMTPServer } from 'smtp-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Service, service } from './service.ts'

const forgot = ({ post }: Service, identifier: string) =>
  post('/auth/password/forgot', { identifier })
const sentText = { success: true, message: 'If that account exists, a code has been sent.' }
const down = [503, 'Could not send the code. Try again shortly.']
const told = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]
const withSender = (send: (to: string) => unknown) =>
  service({
    auth: { mail: { sender: ({ to }: { to: string }) => send(to) }, sms: undefined } as never,
  })
const names = (count: number) => Array.from({ length: count }, (_, at) => `user${at}@example.com`)

/** An app in which `count` accounts have asked for a code. */
async function asked(app: Service, count: number): Promise<Service> {
  for (const email of names(count)) await app.register(email)
  for (const email of names(count)) expect((await forgot(app, email)).status).toBe(200)
  return app
}

describe('A3: a failure for one recipient', () => {
  it.each([
    ['any error', new Error('550 no such user')],
    [
      'of an SMTP server',
      Object.assign(new Error('no'), { code: 'EENVELOPE', responseCode: 550, command: 'RCPT TO' }),
    ],
  ])('says nothing about others, however often: %s', async (_, error) => {
    const sent: string[] = []
    const app = await withSender((to) => {
      if (to.startsWith('bad')) throw error
      sent.push(to)
    })
    await app.register('ann@example.com')
    await app.register('bad@example.com')
    for (let hour = 0; hour < 5; hour += 1) {
      for (let tries = 0; tries < 10; tries += 1) {
        expect((await forgot(app, 'bad@example.com')).body).toEqual(sentText)
        app.later(29)
      }
      expect((await forgot(app, 'ann@example.com')).body).toEqual(sentText)
      expect((await forgot(app, 'nobody@example.com')).body).toEqual(sentText)
    }
    expect(sent).toHaveLength(5)
  })

  it('is not one for several that the SMTP server refuses', async () => {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: (_, __, done) => done(new Error('no such user')),
    })
    const listening = server.listen(0, '127.0.0.1')
    await once(listening, 'listening')
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
    const { port } = listening.address() as AddressInfo
    const transporter = createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
    const app = await asked(
      await service({ auth: { mail: { transporter, from: 'a@b.example' } } }),
      4,
    )
    expect(app.log.join()).toContain('a code could not be sent')
    expect((await forgot(app, 'nobody@example.com')).body).toEqual(sentText)
  })

  it('of a few cannot open the breaker again and again', async () => {
    const app = await withSender((to) => {
      if (to.startsWith('user')) throw new Error('no')
    })
    await asked(app, 3)
    expect(told(await forgot(app, 'nobody@example.com'))).toEqual(down)
    for (let minutes = 0; minutes < 50; minutes += 1) {
      app.later(60)
      for (const email of names(3)) await forgot(app, email)
      expect((await forgot(app, 'nobody@example.com')).status).toBe(200)
    }
  })
})

describe('A3 · W4: a sender that is down', () => {
  it('is a 503 for everybody after failures for three recipients, for 30 seconds', async () => {
    let broken = true
    const app = await withSender(() => {
      if (broken) throw new Error('no')
    })
    await asked(app, 3)
    broken = false
    for (const email of ['user0@example.com', 'nobody@example.com']) {
      expect(told(await forgot(app, email))).toEqual(down)
    }
    app.later(29)
    expect((await forgot(app, 'nobody@example.com')).headers.get('retry-after')).toBe('1')
    app.later(1)
    expect((await forgot(app, 'user0@example.com')).body).toEqual(sentText)
  })

  it('is not told by failures with successes between them, nor by ones far apart', async () => {
    const app = await withSender((to) => {
      if (!to.startsWith('user')) return
      throw new Error('no')
    })
    await app.register('ann@example.com')
    for (const email of names(6)) {
      await app.register(email)
      await forgot(app, email)
      await forgot(app, 'ann@example.com')
    }
    const slow = await withSender(() => {
      throw new Error('no')
    })
    for (const email of names(6)) {
      await slow.register(email)
      await forgot(slow, email)
      slow.later(40)
    }
    expect((await forgot(app, 'nobody@example.com')).status).toBe(200)
    expect((await forgot(slow, 'nobody@example.com')).status).toBe(200)
  })

  it.each([
    Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('slow'), { code: 'ETIMEDOUT', command: 'CONN' }),
    Object.assign(new Error('name'), { code: 'ENOTFOUND' }),
    Object.assign(new Error('login'), { code: 'EAUTH', responseCode: 535 }),
    new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }) }),
    new AggregateError([Object.assign(new Error('x'), { code: 'EHOSTUNREACH' })]),
  ])('is told by one connection error: %s', async (error) => {
    const app = await withSender(() => {
      throw error
    })
    await asked(app, 1)
    expect(told(await forgot(app, 'nobody@example.com'))).toEqual(down)
  })

  it('is found out by requests for accounts that are not there, too', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const transporter = createTransport({ host: '127.0.0.1', port })
    const app = await service({ auth: { mail: { transporter, from: 'a@b.example' } } })
    expect((await forgot(app, 'nobody@example.com')).status).toBe(200)
    expect(told(await forgot(app, 'nobody@example.com'))).toEqual(down)
  })
})

describe('A11 · C8: the answer', () => {
  const request = (identifier: string) =>
    new Request('http://localhost/auth/password/forgot', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identifier }),
    })

  it('comes before the account is looked for, and is sent through waitUntil', async () => {
    const events: string[] = []
    let release = () => {}
    const app = await withSender(async (to) => {
      events.push(`sending to ${to}`)
      await new Promise<void>((resolve) => {
        release = resolve
      })
      events.push('sent')
    })
    await app.register('ann@example.com')
    const later: Promise<unknown>[] = []
    const platform = { waitUntil: (work: Promise<unknown>) => later.push(work) }
    const response = await app.app.handle(request('ann@example.com'), undefined, platform)
    expect([response.status, await response.json()]).toEqual([200, sentText])
    expect([events, later.length]).toEqual([[], 1])
    await expect.poll(() => events).toEqual(['sending to ann@example.com'])
    release()
    await Promise.all(later)
    expect(events).toEqual(['sending to ann@example.com', 'sent'])
  })

  it('is a failure where the store cannot be reached, whoever is asked for', async () => {
    const app = await service()
    await app.register('ann@example.com')
    await app.app.close()
    for (const email of ['ann@example.com', 'nobody@example.com']) {
      expect((await forgot(app, email)).status).toBeGreaterThanOrEqual(500)
    }
  })
})
