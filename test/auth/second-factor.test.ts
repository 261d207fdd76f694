import { describe, expect, it } from 'vitest'
import { HttpError } from '../../src/index.ts'
import { password } from './accounts.ts'
import { parallel, type Service, service } from './service.ts'

const email = 'ann@example.com'
const login = ({ post }: Service, factor?: string) =>
  post('/auth/login', { email, password, factor })

/** An app whose `onLogin` asks for a second factor, and counts how often it was asked. */
async function guarded(maxAttempts: number) {
  let asked = 0
  const onLogin = async (_: unknown, request: Request) => {
    asked += 1
    if (request.headers.get('x-factor') !== '123456') {
      throw new HttpError(401, 'A second factor is needed.')
    }
  }
  const app = await service({ auth: { lockout: { maxAttempts, lockSeconds: 60 }, onLogin } })
  await app.register(email)
  const withFactor = (factor: string) =>
    app.app.handle(
      new Request('http://localhost/auth/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-factor': factor },
        body: JSON.stringify({ email, password }),
      }),
    )
  return { app, withFactor, asked: () => asked }
}

describe('a second factor in onLogin', () => {
  it('can be guessed at as often as a password', async () => {
    const { app, withFactor, asked } = await guarded(5)
    for (let guess = 0; guess < 20; guess += 1) {
      expect((await withFactor(String(guess))).status).toBe(401)
    }
    expect(asked()).toBe(5)
    // Then the right one is refused too, as while any account is locked.
    expect((await withFactor('123456')).status).toBe(401)
    app.later(61)
    expect((await withFactor('123456')).status).toBe(200)
  })

  it('cannot be guessed at faster in parallel', async () => {
    const { withFactor, asked } = await guarded(5)
    await parallel(50, (guess) => withFactor(String(guess)))
    expect(asked()).toBeLessThanOrEqual(5)
  })

  it('that was asked for and then given leaves no count', async () => {
    const { app, withFactor } = await guarded(3)
    for (let round = 0; round < 5; round += 1) {
      expect((await login(app)).body.error).toBe('A second factor is needed.')
      expect((await withFactor('123456')).status).toBe(200)
    }
  })
})
