import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { password } from './accounts.ts'
import { raced } from './raced.ts'
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

describe('a stranger who guesses', () => {
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

describe('a client that has signed in', () => {
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
    // Also where strangers have locked it before.
    await times(3, () => from(stranger, 'login', wrong))
    await app.users.update(id, { lockedUntil: new Date(app.now() + 86_400_000) })
    expect(await from(home, 'login', right)).toBe(401)
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

describe('whoever can sign in from many places', () => {
  const rotating = (at: number) => `198.51.100.${at % 6}`

  it('has no more tries of a code for it', async () => {
    const { from, app } = await homely({ otp: { maxAttempts: 5, resendSeconds: 60 } })
    await from(rotating(0), 'password/forgot', { identifier: email })
    const code = app.sent.at(-1)?.code
    const reset = (who: string, tried: string | undefined) =>
      from(who, 'password/reset', {
        identifier: email,
        code: tried,
        newPassword: 'staple battery horse',
      })
    for (let round = 0; round < 12; round += 1) {
      expect(await from(rotating(round), 'login', right)).toBe(200)
      await times(5, () => reset(rotating(round), '000000'))
    }
    // Strangers have tries of their own, once.
    await times(5, () => reset(stranger, '000000'))
    for (let at = 0; at < 6; at += 1) expect(await reset(rotating(at), code)).toBe(400)
  })

  it('gets none back by changing the password', async () => {
    const { from, app, id } = await homely({
      updateFields: ['email'],
      emailVerification: { enabled: true },
      otp: { maxAttempts: 5, resendSeconds: 60 },
    })
    const { token } = (await app.post('/auth/login', right)).body.data
    const move = { email: 'victim@example.com', currentPassword: password }
    expect((await app.call('PATCH', `/auth/users/${id}`, move, token)).status).toBe(200)
    const code = app.sent.at(-1)?.code
    let current = password
    for (let round = 0; round < 4; round += 1) {
      const next = current === password ? 'staple battery horse' : password
      const signedIn = await app.post('/auth/login', { identifier: email, password: current })
      const { token: own } = signedIn.body.data
      await times(5, () =>
        from(home, 'email/verify', { identifier: 'victim@example.com', otp: '000000' }),
      )
      const change = { currentPassword: current, newPassword: next }
      expect((await app.post('/auth/password/change', change, own)).status).toBe(200)
      expect(await from(home, 'login', { identifier: email, password: next })).toBe(200)
      current = next
    }
    expect(await from(home, 'email/verify', { identifier: 'victim@example.com', otp: code })).toBe(
      400,
    )
  })

  it('has no more guesses at the current password than five clients and strangers have', async () => {
    const verify = ({ key }: { key: string }) => ({ id: key, email, emailVerified: true })
    const seen: string[] = []
    const client = (request: Request) => request.headers.get('x-client') ?? undefined
    const app = await service({
      auth: {
        client,
        social: { house: { verify } },
        lockout: { maxAttempts: 3, lockSeconds: 900 },
        onSecurityEvent: ({ type }) => seen.push(type),
      },
      unique: ['houseId'],
    })
    await app.register(email)
    const call = async (who: string, path: string, body: object, token = '') => {
      const headers = {
        'content-type': 'application/json',
        'x-client': who,
        authorization: `Bearer ${token}`,
      }
      const request = new Request(`http://localhost/auth/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      return (await app.app.handle(request)).json() as Promise<{ data: { token: string } }>
    }
    await call(home, 'password/forgot', { identifier: email })
    await app.post('/auth/password/forgot', { identifier: email })
    await app.post('/auth/password/reset', {
      identifier: email,
      code: app.sent.at(-1)?.code,
      newPassword: password,
    })
    for (let round = 0; round < 20; round += 1) {
      const { data } = await call(rotating(round), 'social/house', { key: 'ann' })
      const guess = { currentPassword: 'a wrong password', newPassword: 'staple battery horse' }
      for (let at = 0; at < 4; at += 1)
        await call(rotating(round), 'password/change', guess, data.token)
    }
    expect(seen.filter((type) => type === 'locked').length).toBeLessThanOrEqual(6)
  })
})

describe('the list of clients', () => {
  it('has each once, also after many first sign-ins at once', async () => {
    const { from, app, id } = await homely({ lockout: { maxAttempts: 100, lockSeconds: 900 } })
    const statuses = await parallel(8, () => from('192.0.2.20', 'login', right))
    expect(statuses).toEqual(statuses.map(() => 200))
    const { knownClients } = await app.stored(id)
    expect(new Set((knownClients as { client: string }[]).map(({ client }) => client)).size).toBe(2)
    expect(knownClients).toHaveLength(2)
  })

  it('loses no right sign-in to one of another client at the same moment', async () => {
    const { from } = await homely({ lockout: { maxAttempts: 1, lockSeconds: 900 } })
    const other = '192.0.2.21'
    expect(await from(other, 'login', right)).toBe(200)
    for (let round = 0; round < 5; round += 1) {
      const both = await Promise.all([from(home, 'login', right), from(other, 'login', right)])
      expect(both).toEqual([200, 200])
    }
  })

  it('keeps no right guess counted, however often others join it at that moment', async () => {
    let others = 0
    const store = raced(async (users, filter, { set }) => {
      if (!Array.isArray(set?.knownClients)) return
      others += 1
      const other = { client: `other ${others}`, guesses: 0, at: new Date(0) }
      await users.update(filter, { push: { knownClients: { value: other, cap: 5 } } })
    })
    const app = await service({ store })
    const { user } = await app.register(email)
    await app.users.update(user._id, { knownClients: [] })
    others = 0
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(right) }
    const request = new Request('http://localhost/auth/login', init)
    const { status } = await app.app.handle(request, undefined, { clientAddress: stranger })
    expect([status, others]).toEqual([200, 2])
    const stored = await app.stored(user._id)
    expect([stored.failedLoginAttempts, stored.wrongPasswords]).toEqual([0, 0])
  })

  it('outlives the replacement of a secret', async () => {
    const first = 'the first secret of the tests, 32 characters'
    const next = 'the next secret of the tests, 32 characters!'
    const store = sqliteStore()
    const close = store.close.bind(store)
    store.close = async () => {}
    const lockout = { maxAttempts: 3, lockSeconds: 900 }
    const at = async (secret: string[]) => {
      const app = await service({ store, auth: { lockout, token: { secret: secret as [string] } } })
      return async (clientAddress: string, body: object, path = 'login') => {
        const headers = { 'content-type': 'application/json' }
        const init = { method: 'POST', headers, body: JSON.stringify(body) }
        const request = new Request(`http://localhost/auth/${path}`, init)
        return (await app.app.handle(request, undefined, { clientAddress })).status
      }
    }
    const one = await at([first])
    await one(home, { email, password }, 'register')
    const both = await at([next, first])
    expect(await both(home, right)).toBe(200)
    const two = await at([next])
    await times(4, () => two(stranger, wrong))
    expect(await two(stranger, right)).toBe(401)
    expect(await two(home, right)).toBe(200)
    await close()
  })

  it('has the client that signed up, where the mailbox is to be proven first', async () => {
    const client = (request: Request) => request.headers.get('x-client') ?? undefined
    const app = await service({
      auth: { client, emailVerification: { enabled: true, required: true } },
    })
    const call = async (who: string, path: string, body: object) => {
      const headers = { 'content-type': 'application/json', 'x-client': who }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const later: Promise<unknown>[] = []
      const platform = { waitUntil: (work: Promise<unknown>) => later.push(work) }
      const { status } = await app.app.handle(
        new Request(`http://localhost/auth/${path}`, init),
        undefined,
        platform,
      )
      await Promise.all(later)
      return status
    }
    expect(await call(home, 'register', { email, password })).toBe(201)
    await times(5, () => call(stranger, 'email/verify', { identifier: email, otp: '000000' }))
    const proof = { identifier: email, otp: app.sent.at(-1)?.code, password }
    expect(await call(home, 'email/verify', proof)).toBe(200)
  })
})

describe('by default', () => {
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
