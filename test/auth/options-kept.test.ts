/** What docs/accounts.md says of options, hooks and passwords, as far as no other test here shows it. */

import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { commonPasswords } from '../../adapters/passwords/common.ts'
import { SECRETS } from '../../src/auth/setup/field-names.ts'
import { createAuthRouter, createRouter, defineModel, type Guard } from '../../src/index.ts'
import { cheap, password, secret, userModel } from './accounts.ts'
import { type Service, service } from './service.ts'

const email = 'ann@example.com'
const page = readFileSync(new URL('../../docs/accounts.md', import.meta.url), 'utf8')

const register = (app: Service, plain: string, more: object = {}) =>
  app.post('/auth/register', { email, password: plain, ...more })

describe('createAuthRouter', () => {
  it('returns the router and the guards that the page lists', () => {
    const auth = createAuthRouter({
      model: userModel({ auth: { identifiers: ['email'] } }),
      token: { secret },
    })
    expect(Object.keys(auth).sort()).toEqual([
      'mail',
      'model',
      'optionalAuth',
      'requireAuth',
      'requireRole',
      'requireSecondFactor',
      'requireSession',
      'router',
    ])
  })

  it('makes guards that are a 500 in an app that does not mount its router', async () => {
    const elsewhere = createAuthRouter({
      model: userModel({ auth: { identifiers: ['email'] } }),
      token: { secret },
    })
    const app = await service()
    const Note = defineModel('KeptNote', { fields: { text: z.string() } })
    const middlewares = [elsewhere.requireAuth]
    app.app.mount('/notes', createRouter({ model: Note, middlewares, allowedFields: ['text'] }))
    expect((await app.call('GET', '/notes')).status).toBe(500)
  })

  it('hides the fields that the page says are not shown', () => {
    const rows = page.match(/^\| `.*\| no \|$/gm) ?? []
    const named = rows.flatMap(
      (row) => (row.split('|')[1] ?? '').match(/\w+/g)?.filter((word) => word !== 'and') ?? [],
    )
    expect(named.sort()).toEqual([...SECRETS].sort())
  })
})

describe('behind requireAuth', () => {
  it('request.auth says who asks, and request.user is their record without secrets and hidden fields', async () => {
    const fields = { ...userModel().fields, note: z.string().optional() }
    const unique = ['email', 'phone']
    const model = defineModel('User', { fields, unique, hidden: ['note'] } as never) as never
    const app = await service({ model })
    const seen: { auth?: unknown; user?: unknown }[] = []
    const look: Guard = ({ auth, user }) => void seen.push({ auth, user })
    const Note = defineModel('GuardedNote', { fields: { text: z.string() } })
    const middlewares = [app.auth.requireAuth, look]
    app.app.mount('/notes', createRouter({ model: Note, middlewares, allowedFields: ['text'] }))
    const { token, user } = await app.register(email)
    await app.users.update(user._id, { note: 'for admins', role: 'admin' })
    expect((await app.call('GET', '/notes')).status).toBe(401)
    expect((await app.call('GET', '/notes', undefined, token)).status).toBe(200)
    expect(seen).toEqual([
      {
        auth: {
          userId: user._id,
          role: 'admin',
          claims: expect.objectContaining({ sub: user._id }),
        },
        user: { _id: user._id, email, role: 'admin' },
      },
    ])
  })
})

describe('without a look at the user on each request', () => {
  it('request.user is not set, and the role is that of the token', async () => {
    const app = await service({
      auth: { token: { secret, invalidateOnPasswordChange: false } },
    })
    const seen: unknown[] = []
    const look: Guard = (request) => void seen.push(request.auth?.role, request.user)
    const Note = defineModel('TokenNote', { fields: { text: z.string() } })
    app.app.mount(
      '/notes',
      createRouter({
        model: Note,
        middlewares: [app.auth.requireAuth, look],
        allowedFields: ['text'],
      }),
    )
    const { token, user } = await app.register(email)
    await app.users.update(user._id, { role: 'admin' })
    expect((await app.call('GET', '/notes', undefined, token)).status).toBe(200)
    expect(seen).toEqual(['user', undefined])
  })
})

describe('the defaults of one-time codes', () => {
  it('are six digits, and another one after a minute', async () => {
    const app = await service({ auth: { otp: { resendSeconds: undefined } as never } })
    await app.register(email)
    const ask = () => app.post('/auth/password/forgot', { identifier: email, channel: 'email' })
    await ask()
    expect(app.sent.map(({ code }) => /^\d{6}$/.test(code))).toEqual([true])
    app.later(59)
    await ask()
    expect(app.sent).toHaveLength(1)
    app.later(1)
    await ask()
    expect(app.sent).toHaveLength(2)
  })

  it('call the app App, if nothing else is named', async () => {
    const subjects: string[] = []
    const sender = ({ subject }: { subject: string }) => void subjects.push(subject)
    const app = await service({ auth: { mail: { sender } } as never })
    await app.register(email)
    await app.post('/auth/password/forgot', { identifier: email, channel: 'email' })
    expect(subjects).toEqual(['Your App password reset code'])
  })
})

describe('a new password', () => {
  it('is compared with 49,000 common ones', async () => {
    const list = await commonPasswords(1)
    expect(Math.round(list.size / 1000)).toBe(49)
  })

  it.each([
    [5, false],
    [6, true],
    [64, true],
    [65, false],
  ])('may need at least %i characters: %s', async (minLength, isTaken) => {
    const made = service({ auth: { password: { ...cheap, minLength } } })
    if (isTaken) await expect(made).resolves.toBeDefined()
    else await expect(made).rejects.toThrow("'password.minLength' must be")
  })

  it.each([
    ['ann.lee@example.com', 'ann.lee', 400],
    ['ann.lee@example.com', 'ann.lee-five', 400],
    ['ann.lee@example.com', 'ann.lee-sixth', 201],
    ['ann.lee@example.com', 'example.com1', 400],
    ['lee@example.com', 'lee-five', 201],
    ['ann.lee@example.com', 'fieldnotes12345', 400],
    ['ann.lee@example.com', 'fieldnotes123456', 201],
  ])('for %s of Fieldnotes, %s is a %i', async (address, plain, status) => {
    const auth = { appName: 'Fieldnotes', password: { ...cheap, minLength: 6, common: false } }
    const app = await service({ auth: auth as never })
    const answer = await register(app, plain, { email: address })
    expect(answer.status).toBe(status)
    if (status === 400) {
      expect(answer.body.error).toBe('Password must not be built from your own details.')
    }
  })

  it('is a 503 if your check takes longer than five seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const check = () => new Promise<never>(() => {})
      const app = await service({ auth: { password: { ...cheap, check } } })
      await app.app.ready()
      let status: number | undefined
      const answer = register(app, password).then((given) => {
        status = given.status
      })
      await vi.advanceTimersByTimeAsync(4900)
      expect(status).toBeUndefined()
      await vi.advanceTimersByTimeAsync(200)
      await answer
      expect(status).toBe(503)
      expect(await app.users.count()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('hooks', () => {
  it('onRegister that fails without an HttpError is a 500, and the account is removed', async () => {
    const onRegister = () => {
      throw new Error('the mailing list is out')
    }
    const app = await service({ auth: { onRegister } })
    const { status, body } = await register(app, password)
    expect([status, body.error, await app.users.count()]).toEqual([500, 'Internal Server Error', 0])
  })

  it('onLogin is not asked at a sign-up', async () => {
    let asked = 0
    const onLogin = () => {
      asked += 1
    }
    const app = await service({ auth: { onLogin } })
    await app.register(email)
    expect(asked).toBe(0)
    await app.post('/auth/login', { identifier: email, password })
    expect(asked).toBe(1)
  })

  it('onRegister and then onLogin are asked at a first sign-in with a provider, which gives the name', async () => {
    const asked: string[] = []
    const verify = () => ({ id: '1', email, emailVerified: true, name: 'Ann' })
    const app = await service({
      unique: ['ownId'],
      auth: {
        social: { own: { verify } } as never,
        onRegister: () => void asked.push('onRegister'),
        onLogin: () => void asked.push('onLogin'),
      },
    })
    const { body } = await app.post('/auth/social/own', { id: '1' })
    expect(body.data.user.name).toBe('Ann')
    expect(asked).toEqual(['onRegister', 'onLogin'])
    await app.post('/auth/social/own', { id: '1' })
    expect(asked).toEqual(['onRegister', 'onLogin', 'onLogin'])
  })

  it('get a user without secrets and hidden fields', async () => {
    const seen: object[] = []
    const see = (user: object) => void seen.push(user)
    const fields = { ...userModel().fields, note: z.string().optional() }
    const model = defineModel('User', {
      fields: fields as never,
      unique: ['email', 'phone'] as never,
      hidden: ['note'] as never,
    })
    const app = await service({
      model: model as never,
      auth: { onRegister: see, onLogin: see, onDelete: see, routes: { deleteUser: true } },
    })
    const { user } = await app.register(email)
    await app.users.update(user._id, { note: 'for admins' })
    const { body } = await app.post('/auth/login', { identifier: email, password })
    const path = `/auth/users/${user._id}`
    await app.call('DELETE', path, { currentPassword: password }, body.data.token)
    expect(seen).toHaveLength(3)
    for (const each of seen) {
      expect(
        Object.keys(each).filter((name) => name === 'note' || SECRETS.includes(name as never)),
      ).toEqual([])
    }
  })
})

describe('an account without a password', () => {
  it('shows a sign-in of less than ten minutes to change its address', async () => {
    const verify = () => ({ id: '1', email, emailVerified: true })
    const social = { own: { verify } } as never
    const auth = { social, updateFields: ['email'] } as never
    const app = await service({ auth, unique: ['ownId'] })
    const { token, user } = (await app.post('/auth/social/own', { id: '1' })).body.data
    const change = (to: string) =>
      app.call('PATCH', `/auth/users/${user._id}`, { email: to }, token)
    app.later(599)
    expect((await change('b@example.com')).status).toBe(200)
    app.later(1)
    const late = await change('c@example.com')
    expect([late.status, late.body.error]).toEqual([403, 'Sign in again to do this.'])
  })
})
