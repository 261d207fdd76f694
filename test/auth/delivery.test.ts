import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { createTransport } from 'nodemailer'
import { SMTPServer } from 'smtp-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BadRecipient } from '../../src/index.ts'
import { type Service, service } from './service.ts'

const forgot = ({ post }: Service, identifier: string) =>
  post('/auth/password/forgot', { identifier })
const sentText = { success: true, message: 'If that account exists, a code has been sent.' }
const down = [503, 'Could not send the code. Try again shortly.']
const told = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]
/** The client of the next request: each has one of its own, unless a test says otherwise. */
let client: string | undefined
let clients = 0
const nextClient = () => {
  clients += 1
  return `client ${clients}`
}
const withSender = (send: (to: string) => unknown) =>
  service({
    auth: {
      mail: { sender: ({ to }: { to: string }) => send(to) },
      sms: undefined,
      client: () => client ?? nextClient(),
    } as never,
  })
/** What Nodemailer says of a recipient that the server refused. */
const refused = { code: 'EENVELOPE', command: 'RCPT TO' }
const names = (count: number) => Array.from({ length: count }, (_, at) => `user${at}@example.com`)

/** An app in which `count` accounts have asked for a code. */
async function asked(app: Service, count: number): Promise<Service> {
  for (const email of names(count)) await app.register(email)
  for (const email of names(count)) expect((await forgot(app, email)).status).toBe(200)
  return app
}

describe('a failure for one recipient', () => {
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

describe('a sender that is down', () => {
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
    app.later(9)
    expect((await forgot(app, 'nobody@example.com')).headers.get('retry-after')).toBe('1')
    app.later(21)
    for (let tries = 0; tries < 3; tries += 1) {
      expect((await forgot(app, 'nobody@example.com')).body).toEqual(sentText)
    }
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

describe('The channels', () => {
  /** Accounts with numbers and addresses; `fail` decides what the senders throw. */
  async function both(fail: { email?: unknown; sms?: unknown }) {
    const sent: string[] = []
    const sender =
      (channel: 'email' | 'sms') =>
      ({ to }: { to: string }) => {
        if (fail[channel] !== undefined) throw fail[channel]
        sent.push(`${channel} ${to}`)
      }
    const auth = { mail: { sender: sender('email') }, sms: { sender: sender('sms') } }
    const app = await service({ auth: { ...auth, client: () => nextClient() } as never })
    await app.register('ann@example.com', { phone: '+4930111' })
    for (let at = 0; at < 6; at += 1) {
      await app.post('/auth/register', {
        phone: `+49301000${at}`,
        password: 'correct horse battery',
      })
    }
    const junk = async () => {
      for (let at = 0; at < 6; at += 1) await forgot(app, `+49301000${at}`)
    }
    const by = (channel?: string, identifier = 'ann@example.com') =>
      app.post('/auth/password/forgot', { identifier, ...(channel && { channel }) })
    return { app, sent, junk, by }
  }

  it('are apart: numbers that fail do not switch off mail', async () => {
    const { sent, junk, by } = await both({ sms: new Error('no') })
    await junk()
    expect(told(await by('sms'))).toEqual(down)
    expect((await by('email')).body).toEqual(sentText)
    expect((await by()).body).toEqual(sentText)
    expect(sent).toEqual(['email ann@example.com', 'email ann@example.com'])
  })

  it('are apart: mail that is down does not switch off numbers, nor is it waited for', async () => {
    const email = Object.assign(new Error('x'), { code: 'ECONNREFUSED' })
    const { sent, by } = await both({ email })
    expect((await by('email')).status).toBe(200)
    expect(told(await by('email'))).toEqual(down)
    expect(told(await by())).toEqual(down)
    expect((await by('sms')).body).toEqual(sentText)
    expect((await by(undefined, '+4930111')).body).toEqual(sentText)
    expect(sent).toEqual(['sms +4930111', 'sms +4930111'])
  })

  it.each([
    new BadRecipient(),
    new Error('wrapped', { cause: new BadRecipient('blocked') }),
    Object.assign(new Error('invalid To'), { status: 400, code: 21211 }),
    Object.assign(new Error('opted out'), { code: 21610 }),
    Object.assign(new Error('inactive'), { statusCode: 422, code: 406 }),
    Object.assign(new Error('bad'), { code: 400, response: { statusCode: 400 } }),
    Object.assign(new Error('bad'), {
      name: 'InvalidParameter',
      $metadata: { httpStatusCode: 400 },
    }),
    Object.assign(new Error('mailbox'), { code: 'EMESSAGE', responseCode: 550 }),
    Object.assign(new Error('greylisted'), { ...refused, response: '451 4.7.1 Greylisted' }),
    Object.assign(new Error('unverified'), { ...refused, response: '450 4.1.1 Not verified' }),
    Object.assign(new Error('full'), { ...refused, response: '452 4.2.2 Over quota' }),
    Object.assign(new Error('deferred'), { ...refused, response: '451 Could not complete' }),
  ])('stay open to others when the number itself is refused: %s', async (error) => {
    const fail: { sms?: unknown } = { sms: error }
    const { sent, junk, by } = await both(fail)
    await junk()
    fail.sms = undefined
    expect((await by('sms')).body).toEqual(sentText)
    expect(sent).toEqual(['sms +4930111'])
  })

  it.each([
    Object.assign(new Error('credentials'), { status: 401 }),
    Object.assign(new Error('credit'), { status: 402 }),
    Object.assign(new Error('forbidden'), { statusCode: 403 }),
    Object.assign(new Error('limit'), { status: 429 }),
    Object.assign(new Error('slow'), { status: 408 }),
    Object.assign(new Error('down'), { status: 503 }),
    // A status of gRPC is none of HTTP.
    Object.assign(new Error('unavailable'), { code: 14 }),
    Object.assign(new Error('x'), { name: 'Throttling', $metadata: { httpStatusCode: 400 } }),
    Object.assign(new Error('from'), {
      code: 'EENVELOPE',
      command: 'MAIL FROM',
      responseCode: 550,
    }),
    Object.assign(new Error('too many connections'), { ...refused, responseCode: 421 }),
    Object.assign(new Error('no process'), { ...refused, response: '451 4.3.0 Try later' }),
    Object.assign(new Error('no room'), { ...refused, response: '452-4.3.1 No room\n452 Bye' }),
    // Gmail and Outlook, of the account that sends.
    Object.assign(new Error('quota'), {
      code: 'EMESSAGE',
      responseCode: 550,
      response: '550-5.4.5 Daily user sending limit exceeded.\n550 5.4.5 gsmtp',
    }),
    Object.assign(new Error('sender'), {
      ...{ code: 'EMESSAGE', responseCode: 550 },
      response: '550 5.7.60 SMTP; Client does not have permissions to send as this sender',
    }),
    Object.assign(new Error('spam'), { ...refused, response: '550 5.1.8 Bad outbound sender' }),
    'a text',
    undefined,
  ])('close when the account at the service is refused: %s', async (error) => {
    const { junk, by } = await both({ sms: error ?? null })
    await junk()
    expect(told(await by('sms'))).toEqual(down)
  })

  it('stay open when fewer than three clients ask for any number of bad addresses', async () => {
    const app = await withSender((to) => {
      if (to.startsWith('user')) throw new Error('no')
    })
    for (const email of [...names(12), 'ann@example.com']) await app.register(email)
    for (const [at, email] of names(12).entries()) {
      client = `mallory ${at % 2}`
      expect((await forgot(app, email)).status).toBe(200)
      client = undefined
      expect((await forgot(app, 'nobody@example.com')).status).toBe(200)
    }
  })

  it('are tried by one request at a time, and opened by the first that is sent', async () => {
    let broken = true
    const app = await withSender(() => {
      if (broken) throw new Error('no')
    })
    await asked(app, 3)
    broken = false
    const statusesOf = async (count: number) => {
      const answers = []
      for (let at = 0; at < count; at += 1)
        answers.push((await forgot(app, 'nobody@example.com')).status)
      return answers
    }
    app.later(10)
    expect(await statusesOf(4)).toEqual([200, 503, 503, 503])
    app.later(10)
    expect((await forgot(app, 'user0@example.com')).status).toBe(200)
    expect(await statusesOf(4)).toEqual([200, 200, 200, 200])
  })
})

describe('the answer', () => {
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
