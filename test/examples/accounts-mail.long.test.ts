import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { expect, it, onTestFinished } from 'vitest'
import { started } from './run.ts'

/** A mail server, and the code of the latest mail to an address. */
async function mailbox(): Promise<{ url: string; code(to: string): Promise<string> }> {
  const mails = new Map<string, string>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope }, done) {
      let text = ''
      stream.on('data', (chunk) => (text += chunk))
      stream.on('end', () => {
        for (const { address } of envelope.rcptTo) mails.set(address, text)
        done()
      })
    },
  })
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = listening.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    async code(to) {
      await expect.poll(() => mails.get(to)).toBeDefined()
      return /Enter (\d{6}) to confirm/.exec(mails.get(to) ?? '')?.[1] ?? ''
    },
  }
}

it('examples/accounts-mail.ts confirms addresses by mail and keeps notes apart', async () => {
  const { url, code } = await mailbox()
  const send = await started('accounts-mail', 'node', { SMTP_URL: url })
  const password = 'correct horse battery'

  async function signedIn(email: string): Promise<{ Authorization: string }> {
    expect((await send('POST', '/auth/register', { email, password })).status).toBe(201)
    const early = await send('POST', '/auth/login', { identifier: email, password })
    expect([early.status, early.body.error]).toEqual([403, 'Confirm your email address first.'])
    const proof = { identifier: email, otp: await code(email), password }
    expect((await send('POST', '/auth/email/verify', proof)).status).toBe(200)
    const { status, body } = await send('POST', '/auth/login', { identifier: email, password })
    expect(status).toBe(200)
    return { Authorization: `Bearer ${body.data.token}` }
  }

  const ann = await signedIn('ann@example.com')
  const bob = await signedIn('bob@example.com')
  expect((await send('GET', '/notes')).status).toBe(401)
  const made = await send('POST', '/notes', { text: 'Buy milk' }, ann)
  expect(made.status).toBe(201)
  expect((await send('GET', '/notes?s=milk', undefined, ann)).body.data).toMatchObject([
    { text: 'Buy milk' },
  ])
  expect((await send('GET', '/notes', undefined, bob)).body.data).toEqual([])
  expect((await send('GET', `/notes/${made.body.data._id}`, undefined, bob)).status).toBe(404)
})
