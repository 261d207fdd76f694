import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import type { Fields } from '../../src/index.ts'
import { password } from './accounts.ts'
import { parallel, service, statuses } from './service.ts'

const told = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]
const unknown = '0123456789abcdef01234567'

describe('4.5 GET /users', () => {
  it('is for admins: newest first, filtered by identifier and role, paginated', async () => {
    const app = await service()
    const { token } = await app.admin()
    for (const name of ['ann', 'bob', 'cid']) {
      app.later(1)
      await app.register(`${name}@example.com`)
    }
    const list = async (query = '') => app.call('GET', `/auth/users${query}`, undefined, token)
    const emails = async (query = '') =>
      ((await list(query)).body.data as { email: string }[]).map(({ email }) => email.split('@')[0])
    expect(await emails()).toEqual(['cid', 'bob', 'ann', 'admin'])
    expect(await emails('?email=BOB@example.com')).toEqual(['bob'])
    expect(await emails('?role=admin')).toEqual(['admin'])
    const page = (await list('?page=2&pageSize=3')).body
    expect(page.pagination).toEqual({ currentPage: 2, pageSize: 3, totalPages: 2, totalRecords: 4 })
    expect(page.data).toHaveLength(1)
  })

  it('reads them in the order of their ids, which are there in order', async () => {
    const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
    onTestFinished(() => prepare.mockRestore())
    const app = await service()
    const { token } = await app.admin()
    await app.call('GET', '/auth/users', undefined, token)
    const orders = prepare.mock.calls.map(([sql]) =>
      / FROM "users".* ORDER BY (.*?) LIMIT/s.exec(sql),
    )
    const found = new Set(orders.flatMap((match) => match?.[1] ?? []))
    expect(found).toEqual(new Set(['_id DESC']))
  })

  it('finds several users by their identifiers, however these are typed', async () => {
    const app = await service()
    const { token } = await app.admin()
    for (const name of ['ann', 'bob', 'cid']) await app.register(`${name}@example.com`)
    const query = 'email=BOB@example.com&email=%20Ann@Example.com'
    const { body } = await app.call('GET', `/auth/users?${query}`, undefined, token)
    const emails = (body.data as { email: string }[]).map(({ email }) => email)
    expect(emails.sort()).toEqual(['ann@example.com', 'bob@example.com'])
  })

  it('refuses others', async () => {
    const app = await service()
    const { token } = await app.register('ann@example.com')
    expect(told(await app.call('GET', '/auth/users'))).toEqual([401, 'Authentication required.'])
    expect(told(await app.call('GET', '/auth/users', undefined, token))).toEqual([
      403,
      'You do not have access to this resource.',
    ])
  })

  it('no secret can be asked for', async () => {
    const app = await service()
    const { token } = await app.admin()
    await app.register('ann@example.com')
    const whole = (await app.call('GET', '/auth/users', undefined, token)).body.data
    expect(JSON.stringify(whole)).not.toMatch(
      /cheap:|refreshTokens|otp|failedLogin|passwordChangedAt/,
    )
    for (const query of [
      'password=x',
      'password[$ne]=',
      'sort=password',
      'sort=-otpHash',
      'rangeField=failedLoginAttempts&range=0-5',
      'compareField=password&compareOperator=gt&compareValue=a',
      'refreshTokens.hash=x',
      'role[$ne]=user',
      's=cheap',
      'email[$regex]=a',
      'cursor=x',
    ]) {
      const answer = await app.call('GET', `/auth/users?${query}`, undefined, token)
      if (answer.status === 200) expect(answer.body.data).toEqual(whole)
      else expect([query, answer.status]).toEqual([query, 400])
    }
  })

  it('keeps to the limits of its options', async () => {
    const app = await service({ auth: { maxLimit: 2, defaultPageSize: 1, countStrategy: 'none' } })
    const { token } = await app.admin()
    for (const name of ['ann', 'bob']) await app.register(`${name}@example.com`)
    const list = async (query = '') =>
      (await app.call('GET', `/auth/users${query}`, undefined, token)).body
    expect((await list()).data).toHaveLength(2)
    expect((await list('?page=1')).pagination).toEqual({
      currentPage: 1,
      pageSize: 1,
      hasMore: true,
    })
  })
})

describe('4.5 GET /users/:id', () => {
  it('shows any signed-in user a user without secrets', async () => {
    const app = await service()
    const { token } = await app.register('ann@example.com')
    const bob = await app.register('bob@example.com', { name: 'Bob' })
    const answer = await app.call('GET', `/auth/users/${bob.user._id}`, undefined, token)
    expect(Object.keys(answer.body.data).sort()).toEqual([
      '_id',
      'createdAt',
      'email',
      'name',
      'role',
      'updatedAt',
    ])
    expect(told(await app.call('GET', '/auth/users/nonsense', undefined, token))).toEqual([
      400,
      'Invalid ID format.',
    ])
    expect(told(await app.call('GET', `/auth/users/${unknown}`, undefined, token))).toEqual([
      404,
      'Entry not found.',
    ])
    expect((await app.call('GET', `/auth/users/${bob.user._id}`)).status).toBe(401)
  })

  it('visibleFields limits what others than self and admin see', async () => {
    const app = await service({ auth: { visibleFields: ['name'] } })
    const ann = await app.register('ann@example.com', { name: 'Ann' })
    const bob = await app.register('bob@example.com')
    const admin = await app.admin()
    const seen = async (token: string) =>
      Object.keys(
        (await app.call('GET', `/auth/users/${ann.user._id}`, undefined, token)).body.data,
      ).sort()
    expect(await seen(bob.token)).toEqual(['_id', 'name'])
    expect(await seen(ann.token)).toContain('email')
    expect(await seen(admin.token)).toContain('email')
  })
})

describe('4.5 PATCH /users/:id', () => {
  it('lets a user change what updateFields names, on himself', async () => {
    const app = await service()
    const { token, user } = await app.register('ann@example.com')
    const answer = await app.call(
      'PATCH',
      `/auth/users/${user._id}`,
      { name: 'Ann', role: 'admin', password: 'x' },
      token,
    )
    expect(answer.body.data).toMatchObject({ name: 'Ann', role: 'user', email: 'ann@example.com' })
    expect((await app.post('/auth/login', { email: 'ann@example.com', password })).status).toBe(200)
  })

  it('refuses others before it looks whether they exist; admins may', async () => {
    const app = await service()
    const { token } = await app.register('ann@example.com')
    const bob = await app.register('bob@example.com')
    const admin = await app.admin()
    const patch = (id: string, as: string, body: object = { name: 'X' }) =>
      app.call('PATCH', `/auth/users/${id}`, body, as)
    for (const id of [bob.user._id, unknown]) {
      expect(told(await patch(id, token))).toEqual([403, 'You may only update your own account.'])
    }
    expect(told(await patch('nonsense', token))).toEqual([400, 'Invalid ID format.'])
    expect((await patch(bob.user._id, admin.token)).body.data.name).toBe('X')
    expect(told(await patch(unknown, admin.token))).toEqual([404, 'Entry not found.'])
    for (const body of [{}, [], { role: 'admin' }]) {
      expect(told(await patch(bob.user._id, bob.token, body))).toEqual([
        400,
        'Request body contains no writable fields.',
      ])
    }
  })

  it('changes nothing else, whatever the body holds', async () => {
    const app = await service()
    const { token, user } = await app.register('ann@example.com')
    const before = await app.stored(user._id)
    const body =
      JSON.parse(`{"name":"N","role":"admin","roles":["admin"],"_id":"${unknown}","password":"x","googleId":"g",
      "otpHash":"x","lockedUntil":"2040-01-01","failedLoginAttempts":-1,"refreshTokens":[],"passwordChangedAt":"2040-01-01",
      "ROLE":"admin","role.0":"admin","__proto__":{"role":"admin"},"email":"x@example.com"}`)
    expect((await app.call('PATCH', `/auth/users/${user._id}`, body, token)).status).toBe(200)
    const { name, updatedAt, ...after } = await app.stored(user._id)
    const { updatedAt: then, ...untouched } = before
    expect([name, after, updatedAt instanceof Date, then instanceof Date]).toEqual([
      'N',
      untouched,
      true,
      true,
    ])
  })

  it('changes identifiers where updateFields names them: one form, one account', async () => {
    const app = await service({ auth: { updateFields: ['email'] } })
    const { token, user } = await app.register('ann@example.com')
    await app.register('bob@example.com')
    const patch = (email: unknown) =>
      app.call('PATCH', `/auth/users/${user._id}`, { email, currentPassword: password }, token)
    expect((await patch(' New@Example.com')).body.data.email).toBe('new@example.com')
    const taken = await patch('BOB@example.com')
    expect(told(taken)).toEqual([409, 'Duplicate value for: email.'])
    expect(taken.body.fields).toEqual({ email: 'Already exists.' })
    expect((await patch('nonsense')).status).toBe(400)
    expect(told(await patch({ $ne: 1 }))).toEqual([400, 'Invalid credentials format.'])
  })

  it('null clears a field of the profile, and no identifier', async () => {
    const app = await service({
      auth: { updateFields: ['email', 'phone', 'nickname'] } as never,
      fields: { nickname: z.string().optional() },
    })
    const { token, user } = await app.register('ann@example.com', { phone: '+31612345678' })
    const patch = (json: Fields) => app.call('PATCH', `/auth/users/${user._id}`, json, token)
    expect((await patch({ nickname: 'Annie' })).body.data.nickname).toBe('Annie')
    expect((await patch({ nickname: null })).body.data).not.toHaveProperty('nickname')
    for (const field of ['email', 'phone']) {
      const refused = await patch({ [field]: null, nickname: 'x' })
      expect(told(refused)).toEqual([400, 'Check the submitted values.'])
      expect(refused.body.fields).toEqual({ [field]: 'Invalid value.' })
    }
    expect(await app.users.findById(user._id)).toMatchObject({
      email: 'ann@example.com',
      phone: '+31612345678',
    })
  })
})

describe('4.5 PATCH /users/:id/roles', () => {
  const roles = { list: ['user', 'editor', 'admin'] } as const

  it('is for admins, and takes roles of the list', async () => {
    const app = await service({ auth: { roles } })
    const { token } = await app.admin()
    const ann = await app.register('ann@example.com')
    const set = (body: object, as = token, id = ann.user._id) =>
      app.call('PATCH', `/auth/users/${id}/roles`, body, as)
    expect((await set({ role: 'editor' })).body.data.role).toBe('editor')
    expect((await set({ roles: ['user', 'user'] })).body.data.role).toBe('user')
    expect((await set({ role: 'editor' }, ann.token)).status).toBe(403)
    for (const body of [{}, { role: '' }, { roles: [] }, { role: null }]) {
      expect(told(await set(body))).toEqual([400, 'A role is required.'])
    }
    expect(told(await set({ role: 'root' }))).toEqual([
      400,
      'Unknown role: root. Allowed: user, editor, admin.',
    ])
    expect(told(await set({ roles: ['user', 'editor'] }))).toEqual([
      400,
      'This model holds one role per user.',
    ])
    for (const body of [
      { role: { $ne: 1 } },
      { role: ['admin'] },
      { roles: [{ a: 1 }] },
      { roles: { a: 1 } },
    ]) {
      expect(told(await set(body))).toEqual([400, 'Invalid credentials format.'])
    }
    expect((await set({ role: 'x'.repeat(900_000) })).text.length).toBeLessThan(400)
    expect(told(await set({ role: 'user' }, token, 'nonsense'))).toEqual([
      400,
      'Invalid ID format.',
    ])
    expect(told(await set({ role: 'user' }, token, unknown))).toEqual([404, 'Entry not found.'])
  })

  it('holds lists where roles.multiple says so', async () => {
    const app = await service({ auth: { roles: { ...roles, multiple: true } } })
    const root = await app.register('root@example.com')
    expect((root.user as unknown as { role: string[] }).role).toEqual(['user'])
    await app.users.update(root.user._id, { role: ['user', 'admin'] })
    const ann = await app.register('ann@example.com')
    const set = (body: object) =>
      app.call('PATCH', `/auth/users/${ann.user._id}/roles`, body, root.token)
    expect((await set({ roles: ['editor', 'admin'] })).body.data.role).toEqual(['editor', 'admin'])
    expect((await set({ role: 'editor' })).body.data.role).toEqual(['editor'])
    const own = { roles: ['admin', 'editor'] }
    const kept = await app.call('PATCH', `/auth/users/${root.user._id}/roles`, own, root.token)
    expect(kept.body.data.role).toEqual(own.roles)
  })

  it('nobody takes his own admin role', async () => {
    const app = await service()
    const { token, id } = await app.admin()
    expect(
      told(await app.call('PATCH', `/auth/users/${id}/roles`, { role: 'user' }, token)),
    ).toEqual([400, 'You cannot remove your own admin role.'])
  })

  it('of two admins who demote each other one remains', async () => {
    for (let round = 0; round < 20; round += 1) {
      const app = await service()
      const one = await app.admin('one@example.com')
      const two = await app.admin('two@example.com')
      const demote = (id: string, token: string) =>
        app.call('PATCH', `/auth/users/${id}/roles`, { role: 'user' }, token)
      const answers = await Promise.all([demote(two.id, one.token), demote(one.id, two.token)])
      expect(await app.users.count({ role: 'admin' })).toBe(1)
      expect(answers.map(told).toSorted()).toEqual([
        [200, undefined],
        [400, 'At least one admin must remain.'],
      ])
    }
  })

  it('no answer of a whole life shows a secret', async () => {
    const app = await service({ fields: { nickname: z.string().optional() } })
    const root = await app.admin()
    const ann = await app.register('ann@example.com')
    await app.post('/auth/password/forgot', { identifier: 'ann@example.com' })
    const { refreshTokens, password: hash, otpHash } = await app.stored(ann.user._id)
    const answers = await Promise.all([
      app.call('GET', '/auth/me', undefined, ann.token),
      app.call('GET', '/auth/users', undefined, root.token),
      app.call('GET', `/auth/users/${ann.user._id}`, undefined, root.token),
      app.call('PATCH', `/auth/users/${ann.user._id}`, { name: 'A' }, ann.token),
      app.call('PATCH', `/auth/users/${ann.user._id}/roles`, { role: 'admin' }, root.token),
      app.post('/auth/login', { email: 'ann@example.com', password }),
      app.post('/auth/token/refresh', { refreshToken: ann.refreshToken }),
    ])
    const secrets = [
      hash,
      otpHash,
      ...(refreshTokens as { hash: string; id: string }[]).map((entry) => entry.hash),
    ]
    for (const { text, status } of answers) {
      expect(status).toBe(200)
      for (const value of secrets) expect(text).not.toContain(String(value))
    }
    const log = app.log.join('\n')
    for (const value of [...secrets, password, ann.token, ann.refreshToken, app.sent[0]?.code]) {
      expect(log).not.toContain(String(value))
    }
  })
})

describe('4.5 routes and middlewares', () => {
  it('lists the routes that there are', async () => {
    const { auth } = await service({ auth: { routes: { login: '/sign-in', social: false } } })
    expect(auth.router.urls).toContainEqual({
      name: 'login',
      method: 'POST',
      path: '/sign-in',
      access: 'anyone',
    })
    expect(auth.router.urls).toContainEqual({
      name: 'updateUser',
      method: 'PATCH',
      path: '/users/:id',
      access: 'self or admin',
    })
    expect(auth.router.urls).toHaveLength(16)
  })

  it('serves renamed routes, and disabled ones not', async () => {
    const app = await service({ auth: { routes: { login: '/sign-in', me: false } } })
    const { token } = await app.register('ann@example.com')
    expect((await app.post('/auth/sign-in', { email: 'ann@example.com', password })).status).toBe(
      200,
    )
    expect((await app.post('/auth/login', { email: 'ann@example.com', password })).status).toBe(404)
    expect((await app.call('GET', '/auth/me', undefined, token)).status).toBe(404)
  })

  it('takes no path for the parameter of another', async () => {
    const verify = () => ({ id: '1' })
    const routes = { social: '/:provider', getUser: '/:id' }
    const app = await service({ auth: { social: { own: { verify } }, routes }, unique: ['ownId'] })
    const { token, refreshToken, user } = await app.register('ann@example.com')
    expect((await app.post('/auth/own')).status).toBe(200)
    expect((await app.call('GET', `/auth/${user._id}`, undefined, token)).status).toBe(200)
    expect((await app.call('GET', '/auth/me', undefined, token)).body.data._id).toBe(user._id)
    const { body } = await app.post('/auth/logout', { refreshToken })
    expect(body).toEqual({ success: true, message: 'Signed out.' })
    expect((await app.post('/auth/token/refresh', { refreshToken })).status).toBe(401)
  })

  it('runs middlewares before the guards, all first', async () => {
    const order: string[] = []
    const note = (name: string) => () => void order.push(name)
    const app = await service({
      auth: { middlewares: { all: [note('all')], me: note('me'), login: [note('login')] } },
    })
    expect((await app.call('GET', '/auth/me')).status).toBe(401)
    await app.post('/auth/login', {})
    expect(order).toEqual(['all', 'me', 'all', 'login'])
    expect(statuses(await parallel(2, () => app.call('GET', '/auth/me')))).toEqual({ 401: 2 })
  })
})
