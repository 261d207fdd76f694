import { describe, expect, it, onTestFinished } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createAuthRouter } from '../../src/index.ts'
import { authOptions, password, userModel } from './accounts.ts'

interface Sent {
  readonly to: string
  readonly code: string
  readonly purpose: string
  readonly request: Request
}

/** A served app whose senders write every message down as JSON, as an HTTP API would get it. */
async function served(auth: (sender: (message: Sent) => void) => object) {
  const messages: Sent[] = []
  const written: string[] = []
  const sender = (message: Sent) => {
    written.push(JSON.stringify(message))
    messages.push(message)
  }
  const User = userModel()
  const store = sqliteStore()
  const app = createApp({
    store,
    env: {},
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  app.mount('/auth', createAuthRouter(authOptions(User, [], auth(sender) as never)).router)
  const { url, close } = await serve(app, { hostname: '127.0.0.1', port: 0 })
  onTestFinished(close)
  const post = async (path: string, body: object) => {
    const response = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return response.status
  }
  return { messages, written, post }
}

describe('What a sender gets on a real server', () => {
  it.each([
    ['mail', (sender: unknown) => ({ mail: { sender } }), 'email'],
    ['sms', (sender: unknown) => ({ sms: { sender } }), 'sms'],
    [
      'otp.deliver',
      (deliver: unknown) => ({ otp: { deliver, resendSeconds: 0 }, notices: true }),
      'email',
    ],
  ])('can be written as JSON, and still has the request: %s', async (_, auth, channel) => {
    const { messages, written, post } = await served(auth)
    const identifier = 'ann@example.com'
    expect(await post('/auth/register', { email: identifier, phone: '+4930111', password })).toBe(
      201,
    )
    expect(await post('/auth/password/forgot', { identifier, channel })).toBe(200)
    await expect.poll(() => written.length).toBe(1)
    const [message] = messages
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ to: message?.to, code: message?.code })
    expect(Object.keys(message ?? {})).not.toContain('request')
    expect(new URL(message?.request.url ?? '').pathname).toBe('/auth/password/forgot')
    const body = { identifier, code: message?.code, newPassword: 'staple battery horse' }
    expect(await post('/auth/password/reset', body)).toBe(200)
    if (channel === 'sms') return
    await expect.poll(() => messages.at(-1)?.purpose).toBe('passwordChanged')
    expect(JSON.parse(written.at(-1) ?? '')).toMatchObject({ purpose: 'passwordChanged', code: '' })
  })
})
