import { describe, expect, it } from 'vitest'
import { password } from './accounts.ts'
import { type Service, service } from './service.ts'

const email = 'ann@example.com'
const other = 'staple battery horse'

/** A message that its sender has, and has not reported on yet. */
interface Message {
  readonly to: string
  readonly code: string
  sent(): void
  failed(): void
}

/** An app whose senders report when the test says so. */
async function slowSenders(resendSeconds = 0): Promise<Service & { messages: Message[] }> {
  const messages: Message[] = []
  const sender = ({ to, code }: { to: string; code: string }) =>
    new Promise<void>((resolve, reject) => {
      // A notice is sent at once: the app would wait for it when it closes.
      if (code === '') resolve()
      else messages.push({ to, code, sent: resolve, failed: () => reject(new Error('no')) })
    })
  const emailVerification = { enabled: true }
  const auth = { emailVerification, otp: { resendSeconds }, mail: { sender }, sms: { sender } }
  const app = await service({ auth: auth as never })
  return Object.assign(app, { messages })
}

/** Asks for a code without waiting for the sender; resolves once the sender has it. */
async function ask(app: Service & { messages: Message[] }, path: string, body: object, token = '') {
  const before = app.messages.length
  const done = app.post(path, body, token || undefined)
  await expect.poll(() => app.messages.length).toBeGreaterThan(before)
  return { message: app.messages.at(-1) as Message, done }
}

type Asked = Awaited<ReturnType<typeof ask>>

/** What each kind of code is for: how it is asked for and used. */
const kinds = {
  'a reset by mail': {
    ask: (app) => ask(app, '/auth/password/forgot', { identifier: email, channel: 'email' }),
    use: (app, code) =>
      app.post('/auth/password/reset', { identifier: email, code, newPassword: other }),
  },
  'a reset by SMS': {
    ask: (app) => ask(app, '/auth/password/forgot', { identifier: email, channel: 'sms' }),
    use: (app, code) =>
      app.post('/auth/password/reset', { identifier: email, code, newPassword: other }),
  },
  'the proof of a mailbox': {
    ask: (app) => ask(app, '/auth/email/code', { identifier: email }),
    use: (app, code) => app.post('/auth/email/verify', { identifier: email, code, password }),
  },
} satisfies Record<
  string,
  {
    ask: (app: Service & { messages: Message[] }) => Promise<Asked>
    use: (app: Service, code: string) => Promise<{ status: number }>
  }
>

/** An app with an account whose first code, of the sign-up, could not be sent. */
async function started(resendSeconds?: number) {
  const app = await slowSenders(resendSeconds)
  const { message, done } = await ask(app, '/auth/register', { email, phone: '+4930111', password })
  message.failed()
  await done
  return app
}

describe.each(Object.entries(kinds))('A code for %s', (_, kind) => {
  it('works as soon as the sender has it', async () => {
    const app = await started()
    const { message, done } = await kind.ask(app)
    expect((await kind.use(app, message.code)).status).toBe(200)
    message.sent()
    expect((await done).status).toBe(200)
  })

  it('is taken back when the sender fails, and can be asked for again at once', async () => {
    const app = await started(60)
    const { message, done } = await kind.ask(app)
    message.failed()
    await done
    expect((await kind.use(app, message.code)).status).toBe(400)
    const again = await kind.ask(app)
    again.message.sent()
    await again.done
    expect((await kind.use(app, again.message.code)).status).toBe(200)
  })

  it('has its tries counted while the sender is at work', async () => {
    const app = await started()
    const { message, done } = await kind.ask(app)
    const wrong = message.code === '000000' ? '000001' : '000000'
    for (let tries = 0; tries < 5; tries += 1) await kind.use(app, wrong)
    expect((await kind.use(app, message.code)).status).toBe(400)
    message.sent()
    await done
    expect((await kind.use(app, message.code)).status).toBe(400)
  })

  it.each([
    ['the first fails first', ['failed', 'sent'], [0, 1]],
    ['the first fails last', ['failed', 'sent'], [1, 0]],
    ['the second fails first', ['sent', 'failed'], [1, 0]],
    ['the second fails last', ['sent', 'failed'], [0, 1]],
  ] as const)('stays while one of two messages with it was sent: %s', async (__, ends, order) => {
    const app = await started()
    const both = [await kind.ask(app), await kind.ask(app)] as const
    expect(both[1].message.code).toBe(both[0].message.code)
    for (const at of order) {
      both[at].message[ends[at]]()
      await both[at].done
    }
    expect((await kind.use(app, both[0].message.code)).status).toBe(200)
  })

  it('is not taken from one that was sent before', async () => {
    const app = await started()
    const first = await kind.ask(app)
    first.message.sent()
    await first.done
    const second = await kind.ask(app)
    second.message.failed()
    await second.done
    expect((await kind.use(app, first.message.code)).status).toBe(200)
  })

  it('is not taken from the next window', async () => {
    const app = await started()
    const first = await kind.ask(app)
    app.later(601)
    const second = await kind.ask(app)
    second.message.sent()
    await second.done
    first.message.failed()
    await first.done
    expect((await kind.use(app, first.message.code)).status).toBe(400)
    expect((await kind.use(app, second.message.code)).status).toBe(200)
  })
})
