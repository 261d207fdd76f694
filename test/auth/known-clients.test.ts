import { describe, expect, it } from 'vitest'
import { password } from './accounts.ts'
import { parallel, type Service, service } from './service.ts'

const email = 'ann@example.com'
const home = '192.0.2.1'
const stranger = '203.0.113.9'
const wrong = { identifier: email, password: 'a wrong password' }
const right = { identifier: email, password }

type From = (client: string | undefined, path: string, body: object) => Promise<number>

/** An app whose requests come from the client that a test names, with an account that has signed in at home. */
async function homely(auth: object = {}): Promise<{ app: Service; from: From; id: string }> {
  const client = (request: Request) => request.headers.get('x-client') ?? undefined
  const app = await service({
    auth: { lockout: { maxAttempts: 3, lockSeconds: 900 }, client, ...auth },
  })
  const { user } = await app.register(email)
  const from: From = async (who, path, body) => {
    const headers = {
      'content-type': 'application/json',
      ...(who !== undefined && { 'x-client': who }),
    }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const later: Promise<unknown>[] = []
    const platform = { waitUntil: (work: Promise<unknown>) => later.push(work) }
    const request = new Request(`http://localhost/auth/${path}`, init)
    const { status } = await app.app.handle(request, undefined, platform)
    await Promise.all(later)
    return status
  }
  expect(await from(home, 'login', right)).toBe(200)
  return { app, from, id: user._id }
}

const times = async (count: number, work: () => Promise<number>) => {
  const statuses: number[] = []
  for (let at = 0; at < count; at += 1) statuses.push(await work())
  return statuses
}

describe('A7: a stranger who guesses', () => {
  it('does not keep the owner out of a client that has signed in', async () => {
    const { from, app } = await homely()
    await times(10, () => from(stranger, 'login', wrong))
    // Locked for whoever is not known, with the right password too.
    expect(await from(stranger, 'login', right)).toBe(401)
    expect(await from('198.51.100.7', 'login', right)).toBe(401)
    expect(await from(undefined, 'login', right)).toBe(401)
    expect(await from(home, 'login', right)).toBe(200)
    // The sign-in at home gives the strangers nothing back.
    expect(await from(stranger, 'login', right)).toBe(401)
    app.later(901)
    expect(await from(stranger, 'login', right)).toBe(200)
  })

  it('for hours, at passwords and codes, leaves the owner signing in and resetting', async () => {
    const { from, app } = await homely()
    for (let round = 0; round < 24; round += 1) {
      await times(10, () => from(stranger, 'login', wrong))
      await from(stranger, 'password/forgot', { identifier: email })
      const guess = { identifier: email, code: '000000', newPassword: 'staple battery horse' }
      await times(5, () => from(stranger, 'password/reset', guess))
      expect(await from(home, 'login', right)).toBe(200)
      const { code } = app.sent.at(-1) ?? {}
      expect(
        await from(home, 'password/reset', { identifier: email, code, newPassword: password }),
      ).toBe(200)
      expect(await from(home, 'login', right)).toBe(200)
      app.later(601)
    }
  })

  it('shares one number of guesses with all other strangers', async () => {
    const { from } = await homely()
    const clients = ['203.0.113.1', '203.0.113.2', '203.0.113.3', '203.0.113.4']
    for (const client of clients) expect(await from(client, 'login', wrong)).toBe(401)
    expect(await from('203.0.113.5', 'login', right)).toBe(401)
  })
})

describe('A7: a client that has signed in', () => {
  it('has as many guesses as strangers have, and no more', async () => {
    const { from, app } = await homely()
    expect(await times(3, () => from(home, 'login', wrong))).toEqual([401, 401, 401])
    expect(await from(home, 'login', right)).toBe(401)
    // Others are not locked out by it.
    expect(await from(stranger, 'login', right)).toBe(200)
    app.later(899)
    expect(await from(home, 'login', right)).toBe(401)
    app.later(2)
    expect(await from(home, 'login', right)).toBe(200)
  })

  it('loses its count by a right guess, not by that of another', async () => {
    const { from } = await homely()
    await times(2, () => from(home, 'login', wrong))
    expect(await from(home, 'login', right)).toBe(200)
    await times(2, () => from(home, 'login', wrong))
    expect(await from(stranger, 'login', right)).toBe(200)
    expect(await from(home, 'login', wrong)).toBe(401)
    expect(await from(home, 'login', right)).toBe(401)
  })

  it('cannot outrun its count in parallel', async () => {
    const { from, id, app } = await homely()
    await parallel(40, () => from(home, 'login', wrong))
    const { knownClients } = await app.stored(id)
    expect(knownClients).toMatchObject([{ guesses: 3 }])
    expect(await from(home, 'login', right)).toBe(401)
  })

  it('has tries of its own at a code, as many in each window as strangers have', async () => {
    const { from, app } = await homely({ otp: { maxAttempts: 3, resendSeconds: 0 } })
    const reset = (who: string, code: string | undefined) =>
      from(who, 'password/reset', { identifier: email, code, newPassword: 'staple battery horse' })
    await from(stranger, 'password/forgot', { identifier: email })
    const code = app.sent.at(-1)?.code
    await times(5, () => reset(stranger, '000000'))
    expect(await reset(stranger, code)).toBe(400)
    await times(3, () => reset(home, '000000'))
    expect(await reset(home, code)).toBe(400)
    // The next window.
    app.later(601)
    await from(stranger, 'password/forgot', { identifier: email })
    await times(5, () => reset(stranger, '000000'))
    await times(2, () => reset(home, '000000'))
    expect(await reset(home, app.sent.at(-1)?.code)).toBe(200)
  })

  it('is forgotten when the password is reset elsewhere', async () => {
    const { from, app } = await homely()
    await from(stranger, 'password/forgot', { identifier: email })
    const { code } = app.sent.at(-1) ?? {}
    const newPassword = 'staple battery horse'
    expect(await from(stranger, 'password/reset', { identifier: email, code, newPassword })).toBe(
      200,
    )
    await times(3, () => from('198.51.100.7', 'login', wrong))
    expect(await from(home, 'login', { identifier: email, password: newPassword })).toBe(401)
    expect(await from(stranger, 'login', { identifier: email, password: newPassword })).toBe(200)
  })

  it('stays out while a deployer has locked the account', async () => {
    const { from, app, id } = await homely()
    await app.users.update(id, { lockedUntil: new Date(app.now() + 60_000) })
    expect(await from(home, 'login', right)).toBe(401)
    app.later(61)
    expect(await from(home, 'login', right)).toBe(200)
  })

  it('is one of five: the first makes room', async () => {
    const { from, app, id } = await homely()
    for (let at = 0; at < 5; at += 1) expect(await from(`192.0.2.1${at}`, 'login', right)).toBe(200)
    expect((await app.stored(id)).knownClients).toHaveLength(5)
    await times(3, () => from(stranger, 'login', wrong))
    expect(await from(home, 'login', right)).toBe(401)
    expect(await from('192.0.2.14', 'login', right)).toBe(200)
  })

  it('stands in no response, and under no name that tells where it is', async () => {
    const { app, id } = await homely()
    const { token } = await app.admin()
    for (const path of ['/auth/me', `/auth/users/${id}`, '/auth/users'])
      expect((await app.call('GET', path, undefined, token)).text).not.toContain('knownClients')
    expect(JSON.stringify(await app.stored(id))).not.toContain(home)
  })
})

describe('A7: by default', () => {
  it('clients are told apart by their addresses', async () => {
    const app = await service({ auth: { lockout: { maxAttempts: 3, lockSeconds: 900 } } })
    await app.register(email)
    const from = async (clientAddress: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const request = new Request('http://localhost/auth/login', init)
      return (await app.app.handle(request, undefined, { clientAddress })).status
    }
    expect(await from('2001:db8::1', right)).toBe(200)
    await times(5, () => from(stranger, wrong))
    expect(await from(stranger, right)).toBe(401)
    // Of the same network.
    expect(await from('2001:db8::2', right)).toBe(200)
    expect(await from('2001:db8:0:1::2', right)).toBe(401)
  })
})
