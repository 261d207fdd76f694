import { afterAll, describe, expect, it } from 'vitest'
import { parallel } from './service.ts'
import { startWorker } from './workers.ts'

const workerd = await startWorker(new URL('worker.ts', import.meta.url))
afterAll(() => workerd.dispose())

const post = async (path: string, body: object) => {
  const answer = await workerd.dispatchFetch(`http://worker/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return {
    status: answer.status,
    body: (await answer.json()) as { data: { token: string; refreshToken: string } },
  }
}

describe('design, on workerd over D1', () => {
  const account = { email: 'ann@example.com', password: 'correct horse battery' }

  it('signs up, in, and refreshes; sign-ins at once all end', async () => {
    expect((await post('register', account)).status).toBe(201)
    const answers = await parallel(4, () => post('login', account))
    expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(200))
    const { token, refreshToken } = answers.at(-1)?.body.data ?? { token: '', refreshToken: '' }
    expect((await post('token/refresh', { refreshToken })).status).toBe(200)
    const me = await workerd.dispatchFetch('http://worker/auth/me', {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(me.status).toBe(200)
    expect((await post('login', { ...account, password: 'wrong' })).status).toBe(401)
    // scrypt in plain JavaScript, on a machine that may be busy.
  }, 300_000)
})
