import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { batch } from '../../../src/batch/index.ts'
import {
  createRouter,
  defineModel,
  type Fields,
  type Model,
  userFields,
} from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { withId } from '../../../src/ports/store/filter.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { password, secret } from '../accounts.ts'
import { parallel, type ServiceOptions, service, statuses } from '../service.ts'

const Task = defineModel('Task', {
  fields: { title: z.string(), owner: z.string().optional() },
  changes: true,
})
const Note = defineModel('Note', { fields: { text: z.string() } })

/** An app with two routers, an extra route, a batch, and a user who is signed in. */
async function keyed(
  options: Parameters<typeof apiKeys>[0] = {},
  { auth, ...more }: ServiceOptions = {},
) {
  const app = await service({ ...more, auth: { methods: [apiKeys(options)], ...auth } })
  const middlewares = [app.auth.requireAuth]
  const tasks = createRouter({ model: Task, middlewares, history: true, access: { restore: true } })
  tasks.post('/:id/done', (request) => Response.json({ done: request.auth?.userId }))
  app.app.mount('/tasks', tasks)
  app.app.mount('/notes', createRouter({ model: Note, middlewares: [app.auth.requireSession] }))
  app.app.mount('/batch', batch())
  const ann = await app.register('ann@example.com')
  const make = (allow: unknown, extra: Fields = {}, token = ann.token) =>
    app.post('/auth/keys', { name: 'CI', allow, ...extra }, token)
  const key = async (allow: unknown): Promise<string> => (await make(allow)).body.data.key
  return { ...app, ann, make, key }
}

const everything = [{ mount: '*', actions: ['list', 'read', 'create', 'update', 'remove'] }]

describe('POST /keys', () => {
  it('shows the key once, stores none of it, and lists the newest first', async () => {
    const app = await keyed()
    const { status, body } = await app.make([{ mount: '/tasks', actions: ['list', 'read'] }])
    expect(status).toBe(201)
    expect(body.data).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      name: 'CI',
      key: expect.stringMatching(/^fg_[0-9a-f]{24}_[\w-]{43}$/),
      createdAt: new Date(app.now()).toISOString(),
      expiresAt: null,
      lastUsedAt: null,
      allow: [{ mount: '/tasks', actions: ['list', 'read'] }],
    })
    const listed = await app.call('GET', '/auth/keys', undefined, app.ann.token)
    const { key, ...shown } = body.data
    expect(listed.body.data).toEqual([shown])
    expect(JSON.stringify(await app.stored(app.ann.user._id))).not.toContain('CI')
    expect(app.log.join()).not.toContain(key.slice(-43))
    for (const name of '12345') {
      app.later(1)
      await app.make(everything, { name })
    }
    const { data } = (await app.call('GET', '/auth/keys', undefined, app.ann.token)).body
    expect(data.map(({ name }: Fields) => name).join(' ')).toBe('5 4 3 2 1 CI')
  })

  it.each([
    ['no list', undefined],
    ['an empty list', []],
    ['no actions', [{ mount: '/tasks', actions: [] }]],
    ['an unknown mount', [{ mount: '/nowhere', actions: ['list'] }]],
    ['the mount of accounts', [{ mount: '/auth', actions: ['list'] }]],
    ['an unknown action', [{ mount: '/tasks', actions: ['burn'] }]],
    ['too many rules', Array.from({ length: 101 }, () => everything[0])],
    ['an operator', [{ mount: { $ne: '' }, actions: ['list'] }]],
  ])('refuses %s with a 400, and makes nothing', async (_, allow) => {
    const app = await keyed()
    const { status, body } = await app.make(allow)
    expect([status, Object.keys(body.fields)]).toEqual([400, ['allow']])
    expect((await app.call('GET', '/auth/keys', undefined, app.ann.token)).body.data).toEqual([])
  })

  it('refuses a date that has passed and a name that is none', async () => {
    const app = await keyed()
    for (const extra of [
      { expiresAt: '2020-01-01' },
      { expiresAt: 7 },
      { expiresAt: '+010000-01-01T00:00:00.000Z' },
      { expiresAt: '12026-01-01' },
      { expiresAt: 'Jan 1 12026' },
      { name: '' },
      { name: 1 },
      { name: 'half a pair: \ud83d' },
    ]) {
      expect((await app.make(everything, extra)).status).toBe(400)
    }
  })

  it('needs a recent sign-in', async () => {
    const app = await keyed()
    app.later(601)
    const { body } = await app.post('/auth/token/refresh', { refreshToken: app.ann.refreshToken })
    const refused = await app.make(everything, {}, body.data.token)
    expect([refused.status, refused.body.error]).toEqual([403, 'Sign in again to do this.'])
    const confirmed = await app.post(
      '/auth/login/confirm',
      { password: 'correct horse battery' },
      body.data.token,
    )
    expect(confirmed.status).toBe(200)
    expect((await app.make(everything, {}, body.data.token)).status).toBe(201)
  })

  it.each(['disabled', 'a new password', 'signed out'])(
    'takes no token of before where tokens alone decide: %s',
    async (end) => {
      const app = await keyed(
        {},
        {
          fields: { disabled: z.boolean().optional() },
          auth: {
            token: { secret, invalidateOnPasswordChange: false },
            fields: { disabled: 'disabled' },
            updateFields: ['email'],
          },
        },
      )
      const { _id } = app.ann.user
      const login = await app.post('/auth/login', { email: 'ann@example.com', password })
      const { token } = login.body.data
      const change = { currentPassword: password, newPassword: 'another horse battery' }
      if (end === 'disabled') await app.users.update(_id, { disabled: true })
      else if (end === 'signed out') await app.post('/auth/logout/all', {}, token)
      else await app.post('/auth/password/change', change, token)
      expect((await app.call('GET', '/auth/me', undefined, app.ann.token)).status).toBe(200)
      const status = end === 'disabled' ? 403 : 401
      expect((await app.make(everything)).status).toBe(status)
      const move = { email: 'eve@example.com', currentPassword: change.newPassword }
      const moved = await app.call('PATCH', `/auth/users/${_id}`, move, app.ann.token)
      expect(moved.status).toBe(status)
    },
  )

  it('gives a user so many keys and no more, also at once', async () => {
    const app = await keyed({ maxPerUser: 3 })
    const made = await parallel(12, () => app.make(everything))
    expect(statuses(made)).toEqual({ 201: 3, 409: 9 })
    const { body } = await app.call('GET', '/auth/keys', undefined, app.ann.token)
    expect(body.data).toHaveLength(3)
    await app.call('DELETE', `/auth/keys/${body.data[0].id}`, undefined, app.ann.token)
    expect((await app.make(everything)).status).toBe(201)
  })
})

describe('A key', () => {
  it('acts as its owner, less what it does not allow', async () => {
    const app = await keyed()
    const key = await app.key([{ mount: '/tasks', actions: ['list', 'create', 'POST /:id/done'] }])
    const made = await app.post('/tasks', { title: 'Tea' }, key)
    expect(made.status).toBe(201)
    const path = `/tasks/${made.body.data._id}`
    expect((await app.call('GET', '/tasks', undefined, key)).status).toBe(200)
    expect((await app.call('HEAD', '/tasks', undefined, key)).status).toBe(200)
    expect((await app.call('QUERY', '/tasks', {}, key)).status).toBe(200)
    expect((await app.post(`${path}/done`, {}, key)).body).toEqual({ done: app.ann.user._id })
    const refused = await app.call('GET', path, undefined, key)
    expect([refused.status, refused.body.error]).toEqual([
      403,
      'You do not have access to this resource.',
    ])
    expect((await app.call('DELETE', path, undefined, key)).status).toBe(403)
    expect((await app.call('PATCH', path, { title: 'Milk' }, key)).status).toBe(403)
  })

  it('reads the history and restores with the actions of these names alone', async () => {
    const app = await keyed()
    const others = ['list', 'read', 'create', 'update', 'remove']
    const key = await app.key([{ mount: '/tasks', actions: others }])
    const made = await app.post('/tasks', { title: 'Tea' }, key)
    const path = `/tasks/${made.body.data._id}`
    const own = await app.key([{ mount: '/tasks', actions: ['history', 'restore'] }])
    const history = (given: string) => app.call('GET', `${path}/history`, undefined, given)
    expect((await history(key)).status).toBe(403)
    const { status, body } = await history(own)
    expect(status).toBe(200)
    const restore = (given: string) =>
      app.post(`${path}/restore`, { changeId: body.data[0].id }, given)
    expect([(await restore(key)).status, (await restore(own)).status]).toEqual([403, 200])
  })

  it('opens no route of accounts, and none behind requireSession', async () => {
    const app = await keyed()
    const key = await app.key(everything)
    for (const [method, path] of [
      ['GET', '/auth/me'],
      ['GET', '/auth/keys'],
      ['POST', '/auth/keys'],
      ['POST', '/auth/login/confirm'],
      ['POST', '/auth/logout/all'],
      ['GET', '/notes'],
    ] as const) {
      const { status, body } = await app.call(method, path, method === 'POST' ? {} : undefined, key)
      expect([path, status, body.error]).toEqual([path, 401, 'Invalid or expired token.'])
    }
  })

  it('does in a batch what it may do alone', async () => {
    const app = await keyed()
    const key = await app.key([{ mount: '/tasks', actions: ['create'] }])
    const create = { method: 'POST', path: '/tasks', body: { title: 'Tea' } }
    const done = await app.post('/batch', { operations: [create] }, key)
    expect(done.status).toBe(200)
    const path = `/tasks/${done.body.data[0].body.data._id}`
    const refused = await app.post(
      '/batch',
      { operations: [create, { method: 'DELETE', path }] },
      key,
    )
    expect([refused.status, refused.body.operation]).toEqual([403, 1])
    expect((await app.call('GET', '/tasks', undefined, app.ann.token)).body.data.length).toBe(1)
  })

  it('is judged by guards of the whole app too', async () => {
    const app = await keyed()
    app.app.use(app.auth.requireAuth)
    const key = await app.key([{ mount: '/tasks', actions: ['list'] }])
    expect((await app.call('GET', '/tasks', undefined, key)).status).toBe(200)
    expect((await app.post('/tasks', { title: 'Tea' }, key)).status).toBe(403)
    expect((await app.call('GET', '/auth/me', undefined, key)).status).toBe(401)
    const operations = [{ method: 'POST', path: '/tasks', body: { title: 'Tea' } }]
    expect((await app.post('/batch', { operations }, key)).status).toBe(403)
    expect((await app.call('GET', '/nothing', undefined, key)).status).toBe(403)
    const whole = await app.key(everything)
    expect((await app.call('GET', '/nothing', undefined, whole)).status).toBe(404)
  })

  it('is dead at once when it is ended, expired or changed in any place', async () => {
    const app = await keyed()
    const { key, id } = (await app.make(everything, { expiresAt: new Date(app.now() + 60_000) }))
      .body.data
    const list = (token: string) => app.call('GET', '/tasks', undefined, token)
    expect((await list(key)).status).toBe(200)
    const other = key.at(-1) === 'A' ? 'B' : 'A'
    for (const wrong of [
      `${key.slice(0, -1)}${other}`,
      `${key}A`,
      key.slice(0, -1),
      'fg_',
      'fg__',
    ]) {
      expect((await list(wrong)).body.error).toBe('Invalid or expired token.')
    }
    app.later(60)
    expect((await list(key)).status).toBe(401)
    const next = (await app.make(everything)).body.data
    expect((await list(next.key)).status).toBe(200)
    expect(
      (await app.call('DELETE', `/auth/keys/${next.id}`, undefined, app.ann.token)).status,
    ).toBe(200)
    expect((await list(next.key)).status).toBe(401)
    expect((await app.call('DELETE', `/auth/keys/${id}`, undefined, app.ann.token)).status).toBe(
      404,
    )
  })

  it('of somebody else is a 404', async () => {
    const app = await keyed()
    const { id, key } = (await app.make(everything)).body.data
    const bob = await app.register('bob@example.com')
    expect((await app.call('DELETE', `/auth/keys/${id}`, undefined, bob.token)).status).toBe(404)
    expect((await app.call('DELETE', '/auth/keys/none', undefined, bob.token)).status).toBe(404)
    expect((await app.call('GET', '/auth/keys', undefined, bob.token)).body.data).toEqual([])
    expect((await app.call('GET', '/tasks', undefined, key)).status).toBe(200)
  })

  it('survives a password change', async () => {
    const app = await keyed()
    const key = await app.key(everything)
    const change = {
      currentPassword: 'correct horse battery',
      newPassword: 'another horse battery',
    }
    expect((await app.post('/auth/password/change', change, app.ann.token)).status).toBe(200)
    expect((await app.call('GET', '/tasks', undefined, key)).status).toBe(200)
  })

  it('ends with a later disable in the same millisecond, as access tokens do', async () => {
    const fields = { disabled: z.boolean().default(false) }
    const app = await keyed({}, { fields, auth: { fields: { disabled: 'disabled' } } })
    const { _id } = app.ann.user
    const disable = async () => {
      await app.users.update(_id, { disabled: true })
      await app.users.update(_id, { disabled: false })
    }
    await disable()
    const { token } = (await app.post('/auth/login', { identifier: 'ann@example.com', password }))
      .body.data
    const { key } = (await app.make(everything, {}, token)).body.data
    const list = async (by: string) => (await app.call('GET', '/tasks', undefined, by)).status
    expect([await list(key), await list(token)]).toEqual([200, 200])
    await disable()
    expect([await list(key), await list(token)]).toEqual([401, 401])
  })

  it('ends with its owner: disabled for good, and deleted', async () => {
    const fields = { disabled: z.boolean().default(false) }
    const auth = { fields: { disabled: 'disabled' }, routes: { deleteUser: true } }
    const app = await keyed({}, { auth, fields })
    const { _id } = app.ann.user
    const key = await app.key(everything)
    const list = () => app.call('GET', '/tasks', undefined, key)
    await app.users.update(_id, { disabled: true })
    expect((await list()).body.error).toBe('This account is not active.')
    await app.users.update(_id, { disabled: false })
    expect((await list()).status).toBe(401)
    // Something other than the app may disable an account.
    const back = await app.post('/auth/login', { identifier: 'ann@example.com', password })
    const again = (await app.make(everything, {}, back.body.data.token)).body.data.key
    const { stored } = hostOf(app.app.store).engine(app.auth.model)
    for (const [disabled, status] of [[true, 403] as const, [false, 401] as const]) {
      await stored.update(withId(String(_id)), { set: { disabled } })
      expect((await app.call('GET', '/tasks', undefined, again)).status).toBe(status)
    }

    const bob = await app.register('bob@example.com')
    const own = (await app.make(everything, {}, bob.token)).body.data.key
    const body = { currentPassword: 'correct horse battery' }
    expect((await app.call('DELETE', `/auth/users/${bob.user._id}`, body, bob.token)).status).toBe(
      200,
    )
    expect((await app.call('GET', '/tasks', undefined, own)).status).toBe(401)
  })

  it('stays dead when another account, or its owner’s restored record, gets the id', async () => {
    const own = userFields({ identifiers: ['email', 'phone'], refresh: {} })
    const model = defineModel('User', {
      fields: { ...own, name: z.string().optional() },
      unique: ['email', 'phone'],
      changes: true,
    }) as unknown as Model<Fields>
    const app = await keyed({}, { model })
    const people = { model, middlewares: [], allowedFields: ['name'], history: true }
    app.app.mount('/people', createRouter({ ...people, access: { restore: true } }))
    const id = app.ann.user._id
    const key = await app.key(everything)
    expect((await app.call('GET', '/tasks', undefined, key)).status).toBe(200)
    await app.users.update(id, { name: 'Ann' })
    await app.users.delete(id)
    const { body } = await app.call('GET', `/people/${id}/history`)
    const restored = await app.post(`/people/${id}/restore`, { changeId: body.data[1].id })
    expect([restored.status, restored.body.data]).toMatchObject([201, { _id: id, name: 'Ann' }])
    expect((await app.call('GET', '/tasks', undefined, key)).status).toBe(401)
  })

  it('ends with the first proof of its owner’s address', async () => {
    const app = await keyed()
    const key = await app.key(everything)
    await app.post('/auth/password/forgot', { email: 'ann@example.com' })
    const reset = {
      email: 'ann@example.com',
      code: app.sent[0]?.code,
      newPassword: 'the owner of the mailbox',
    }
    expect((await app.post('/auth/password/reset', reset)).status).toBe(200)
    expect((await app.call('GET', '/tasks', undefined, key)).status).toBe(401)
  })

  it('can be ended by an admin, with all of a user’s', async () => {
    const app = await keyed()
    const key = await app.key(everything)
    const { token } = await app.admin()
    const path = `/auth/users/${app.ann.user._id}/keys`
    expect((await app.call('DELETE', path, undefined, app.ann.token)).status).toBe(403)
    expect((await app.call('DELETE', path, undefined, token)).status).toBe(200)
    expect((await app.call('GET', '/tasks', undefined, key)).status).toBe(401)
    expect(
      (await app.call('DELETE', `/auth/users/${'0'.repeat(24)}/keys`, undefined, token)).status,
    ).toBe(404)
    expect((await app.call('DELETE', '/auth/users/x/keys', undefined, token)).status).toBe(400)
  })

  it('tells when it was last used, at most once a minute', async () => {
    const app = await keyed()
    const key = await app.key(everything)
    const used = async () =>
      (await app.call('GET', '/auth/keys', undefined, app.ann.token)).body.data[0].lastUsedAt
    await app.call('GET', '/tasks', undefined, key)
    const first = await used()
    expect(first).toBe(new Date(app.now()).toISOString())
    app.later(59)
    await app.call('GET', '/tasks', undefined, key)
    expect(await used()).toBe(first)
    app.later(1)
    await app.call('GET', '/tasks', undefined, key)
    expect(await used()).toBe(new Date(app.now()).toISOString())
  })

  it('is reported when it is made and ended, without the key', async () => {
    const app = await keyed()
    const { id, key } = (await app.make(everything)).body.data
    await app.call('DELETE', `/auth/keys/${id}`, undefined, app.ann.token)
    const { token } = await app.admin()
    await app.call('DELETE', `/auth/users/${app.ann.user._id}/keys`, undefined, token)
    const told = app.log.filter((line) => line.includes('auth: key-'))
    expect(told.map((line) => JSON.parse(line)[0])).toEqual([
      'auth: key-added',
      'auth: key-removed',
      'auth: key-removed',
    ])
    expect(told.join()).not.toContain(key)
  })

  it.each([
    { maxPerUser: 0 },
    { maxPerUser: 1001 },
    { prefix: 'a_b' },
    { prefix: '' },
    { other: 1 },
  ])('has no options such as %j', (options) => {
    expect(() => apiKeys(options as never)).toThrow(/^apiKeys: /)
  })
})
