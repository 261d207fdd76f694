import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { expect, it, onTestFinished } from 'vitest'
import { service } from './service.ts'

it('SMTP_SECURE is read as the other switches of the environment', async () => {
  const mails: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _, done) {
      mails.push(address)
      done()
    },
  })
  // A client that begins with TLS is an error to a server without.
  server.on('error', () => {})
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = listening.address() as AddressInfo
  const common = { SMTP_HOST: '127.0.0.1', SMTP_PORT: String(port), MAIL_FROM: 'a@b.example' }
  for (const [secure, status] of [
    ['no', 200],
    ['0', 200],
    ['', 200],
    ['yes', 503],
    ['1', 503],
  ] as const) {
    const env = { ...common, SMTP_SECURE: secure }
    const app = await service({ auth: { mail: undefined } as never, app: { env } })
    await app.register('ann@example.com')
    const forgot = () => app.post('/auth/password/forgot', { identifier: 'ann@example.com' })
    expect((await forgot()).status).toBe(200)
    // The next one is told whether the server could be reached.
    expect([secure, (await forgot()).status]).toEqual([secure, status])
  }
  expect(mails).toHaveLength(6)
})
