/** What docs/account-protection.md says of counts, times and events, as far as no other test here shows it. */

import { describe, expect, it, vi } from 'vitest'
import type * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { FairQueue } from '../../src/auth/keys/hashing.ts'
import { defineModel, HttpError, SecondStepRequired, type SecurityEvent } from '../../src/index.ts'
import { password, userModel } from './accounts.ts'
import { type Service, service } from './service.ts'

const email = 'ann@example.com'

/** Signs in from `client`, by default one that no account knows. */
let client: string | undefined
const from = { client: () => client }
const statusOf = async (app: Service, plain = password, who?: string) => {
  client = who
  return (await app.post('/auth/login', { identifier: email, password: plain })).status
}
const wrong = async (app: Service, count: number, who?: string) => {
  for (let guess = 0; guess < count; guess += 1) await statusOf(app, 'a wrong guess', who)
}

/** An app with an account that knows the client 'home'. */
async function guarded(auth: object = {}, more: object = {}): Promise<Service & { id: string }> {
  client = 'home'
  const app = await service({ ...more, auth: { ...from, ...auth } } as never)
  const { user } = await app.register(email)
  return Object.assign(app, { id: user._id })
}

describe('the lock of an account', () => {
  it('comes by default with the tenth wrong password in a row, for 15 minutes', async () => {
    const app = await guarded()
    await wrong(app, 9)
    expect(await statusOf(app)).toBe(200)
    client = undefined
    const other = await guarded()
    await wrong(other, 10)
    expect(await statusOf(other)).toBe(401)
    other.later(899)
    expect(await statusOf(other)).toBe(401)
    other.later(1)
    expect(await statusOf(other)).toBe(200)
  })

  it.each([{ maxAttempts: 1 }, { maxAttempts: 1_000_000 }, { lockSeconds: 30 * 86_400 }])(
    'may be as short and as long as %j',
    async (lockout) => {
      await expect(service({ auth: { lockout } })).resolves.toBeDefined()
    },
  )

  it('is set by hand for every client, also while guesses have locked it, and taken away by hand', async () => {
    const app = await guarded({ lockout: { maxAttempts: 3 } })
    await wrong(app, 3)
    await wrong(app, 3, 'home')
    const lockedUntil = new Date(app.now() + 60_000)
    await app.users.update(app.id, { lockedUntil, failedLoginAttempts: 0 })
    expect([await statusOf(app), await statusOf(app, password, 'home')]).toEqual([401, 401])
    await app.users.update(app.id, {
      failedLoginAttempts: 0,
      lockedUntil: undefined,
      wrongPasswords: undefined,
      knownClients: undefined,
    })
    expect([await statusOf(app), await statusOf(app, password, 'home')]).toEqual([200, 200])
  })

  it('is one for all clients in a model without known clients', async () => {
    const {
      knownClients: _,
      knownTries: __,
      ...fields
    } = userModel().fields as Record<string, z.ZodType>
    const model = defineModel('User', { fields, unique: ['email', 'phone'] })
    const app = await guarded({}, { model })
    expect(await statusOf(app, password, 'home')).toBe(200)
    await wrong(app, 10)
    expect(await statusOf(app, password, 'home')).toBe(401)
  })
})

describe('a hundred wrong passwords in a row', () => {
  it('leave the sign-in with a provider as it was, and the password opens again once they are removed by hand', async () => {
    const verify = () => ({ id: '1', email, emailVerified: true })
    const social = { own: { verify }, linking: 'keep' }
    const app = await guarded({ social }, { unique: ['ownId'] })
    client = undefined
    await app.users.update(app.id, { wrongPasswords: 100 })
    expect(await statusOf(app)).toBe(401)
    expect((await app.post('/auth/social/own', { id: '1' })).status).toBe(200)
    expect(await statusOf(app)).toBe(401)
    await app.users.update(app.id, { wrongPasswords: undefined })
    expect(await statusOf(app)).toBe(200)
  })
})

describe('what is written for accounts that do not exist', () => {
  it('is in a collection that has the name of the users', async () => {
    const store = sqliteStore()
    const names: string[] = []
    const watched = {
      ...store,
      collection: (schema: Parameters<typeof store.collection>[0]) => {
        names.push(schema.name)
        return store.collection(schema)
      },
    }
    await guarded({}, { store: watched })
    expect(names).toContain('fieldgate_decoys_users')
  })
})

describe('a request that waits to be hashed', () => {
  it('waits for at most 20 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const queue = new FairQueue()
      let turn: unknown = 'none yet'
      void queue.take({ client: 'a', account: 'a' }).then((given) => {
        turn = given
      })
      await vi.advanceTimersByTimeAsync(19_999)
      expect(turn).toBe('none yet')
      await vi.advanceTimersByTimeAsync(2)
      expect(turn).toBeUndefined()
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('an error of onLogin', () => {
  /** An app with one wrong password before the lock, whose `onLogin` throws `error` once the account is made. */
  async function failing(error: () => unknown) {
    const app = await guarded({
      lockout: { maxAttempts: 2 },
      onLogin: () => {
        throw error()
      },
    })
    await statusOf(app)
    return { app, guesses: (await app.stored(app.id)).failedLoginAttempts }
  }

  it('counts as a wrong password if it is an HttpError below 500, in the first step too', async () => {
    const { guesses, app } = await failing(() => new HttpError(403, 'No.'))
    expect(guesses).toBe(1)
    expect(await statusOf(app)).toBe(403)
    expect(await statusOf(app)).toBe(401)
  })

  it.each([
    ['an Error', 500, () => new Error('broken')],
    ['an HttpError of 503', 503, () => new HttpError(503, 'Later.')],
  ])('is not counted if it is %s', async (_, status, error) => {
    const { guesses, app } = await failing(error)
    expect(guesses).toBe(0)
    expect(await statusOf(app)).toBe(status)
  })

  it('is not counted as an answer either, if it is no refusal', async () => {
    let answered = 0
    const app = await guarded({
      lockout: { maxAttempts: 2 },
      onLogin: (_: unknown, __: unknown, { answer }: { answer?: unknown }) => {
        if (!answer) throw new SecondStepRequired('Code?')
        answered += 1
        if (answered < 5) throw new Error('the service of codes is out')
      },
    })
    const login = { identifier: email, password }
    const { ticket } = (await app.post('/auth/login', login)).body
    const answers: number[] = []
    for (let tries = 0; tries < 5; tries += 1) {
      answers.push((await app.post('/auth/login', { ticket, code: '1' })).status)
    }
    expect(answers).toEqual([500, 500, 500, 500, 200])
  })
})

describe('a security event', () => {
  it('has a type, a time, a route and the ids of user, client and request, and nothing else', async () => {
    const events: SecurityEvent[] = []
    const app = await guarded({
      onSecurityEvent: (event: SecurityEvent) => void events.push(event),
    })
    client = 'elsewhere'
    const { headers } = await app.post('/auth/login', { identifier: 'no@example.com', password })
    expect(events[0]).toEqual({
      type: 'signed-up',
      at: new Date(app.now()),
      userId: app.id,
      client: 'home',
      requestId: expect.any(String),
      route: 'register',
    })
    expect(events.at(-1)).toEqual({
      type: 'sign-in-failed',
      at: new Date(app.now()),
      client: 'elsewhere',
      requestId: headers.get('x-request-id'),
      route: 'login',
    })
  })

  it('tells of the lock with the wrong password that locked the account', async () => {
    const types: string[] = []
    const app = await guarded({
      lockout: { maxAttempts: 2 },
      onSecurityEvent: ({ type }: SecurityEvent) => void types.push(type),
    })
    types.length = 0
    await wrong(app, 3)
    expect(types).toEqual(['sign-in-failed', 'sign-in-failed', 'locked', 'sign-in-failed'])
  })

  it('whose hook never ends is logged after ten seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const log: string[] = []
      const line = (message: string) => void log.push(message)
      const app = await service({
        app: { logger: { debug: line, info: line, warn: line, error: line } },
        auth: { ...from, onSecurityEvent: () => new Promise<never>(() => {}) } as never,
      })
      const request = new Request('http://localhost/auth/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ identifier: email, password }),
      })
      expect((await app.app.handle(request)).status).toBe(401)
      await vi.advanceTimersByTimeAsync(9000)
      expect(log).not.toContain('onSecurityEvent failed')
      await vi.advanceTimersByTimeAsync(1100)
      expect(log).toContain('onSecurityEvent failed')
    } finally {
      vi.useRealTimers()
    }
  })
})
