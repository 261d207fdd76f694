import { describe, expect, it } from 'vitest'
import { service } from './service.ts'

const email = 'ann@example.com'

describe('The log', () => {
  it('the line of a refused request says whose it was', async () => {
    const app = await service()
    const { token, user } = await app.register(email)
    const headers = { authorization: `Bearer ${token}` }
    const request = new Request('http://localhost/auth/users', { headers })
    const { status } = await app.app.handle(request, undefined, { clientAddress: '192.0.2.1' })
    expect(status).toBe(403)
    const [message, details] = JSON.parse(app.log.at(-1) ?? '')
    expect([message, details]).toEqual([
      'request refused',
      expect.objectContaining({ status: 403, userId: user._id, client: '192.0.2.1' }),
    ])
  })

  it('tells of a code that was asked for too soon, and of neither address nor code', async () => {
    const app = await service({ auth: { otp: { resendSeconds: 60 } } })
    const { user } = await app.register(email)
    await app.post('/auth/password/forgot', { identifier: email })
    await app.post('/auth/password/forgot', { identifier: email })
    const lines = app.log.filter((line) => line.includes('too soon'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(user._id)
    const all = app.log.join('\n')
    expect(all).not.toContain(email)
    expect(all).not.toContain(app.sent[0]?.code)
  })
})
