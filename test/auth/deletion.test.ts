import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  createRouter,
  defineModel,
  type FileStore,
  HttpError,
  type Model,
  type OnDelete,
  ref,
} from '../../src/index.ts'
import { password } from './accounts.ts'
import { parallel, service, statuses } from './service.ts'

const told = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]
const routes = { deleteUser: true }
const unknown = '0123456789abcdef01234567'

async function app(auth: object = {}, more: object = {}) {
  const it = await service({ ...more, auth: { routes, ...auth } as never })
  const remove = (id: string, body: object | undefined, token: string) =>
    it.call('DELETE', `/auth/users/${id}`, body, token)
  return { it, remove }
}

describe('DELETE /users/:id', () => {
  it('is there only where routes names it', async () => {
    const it = await service()
    const { token, user } = await it.register('ann@example.com')
    const answer = await it.call('DELETE', `/auth/users/${user._id}`, {}, token)
    expect([404, 405]).toContain(answer.status)
    expect(it.auth.router.urls.map(({ name }) => name)).not.toContain('deleteUser')
  })

  it('removes the own account with the current password, and everything that opened it', async () => {
    const { it, remove } = await app()
    const { token, refreshToken, user } = await it.register('ann@example.com')
    expect(told(await remove(user._id, {}, token))).toEqual([403, 'Current password required.'])
    expect((await remove(user._id, { currentPassword: 'wrong' }, token)).status).toBe(401)
    expect(told(await remove(user._id, { currentPassword: 'x'.repeat(1025) }, token))).toEqual([
      400,
      'Password must be at most 1024 bytes.',
    ])
    expect(await it.stored(user._id)).toMatchObject({ failedLoginAttempts: 1 })
    const done = await remove(user._id, { currentPassword: password }, token)
    expect([done.status, done.body.message]).toEqual([200, 'Account deleted.'])
    expect(await it.users.count()).toBe(0)
    expect((await it.call('GET', '/auth/me', undefined, token)).status).toBe(401)
    expect((await it.post('/auth/token/refresh', { refreshToken })).status).toBe(401)
    expect((await it.post('/auth/login', { email: 'ann@example.com', password })).status).toBe(401)
    await it.register('ann@example.com')
  })

  it('is for the own account, and for admins without a password', async () => {
    const { it, remove } = await app()
    const ann = await it.register('ann@example.com')
    const bob = await it.register('bob@example.com')
    const admin = await it.admin()
    const body = { currentPassword: password }
    for (const id of [ann.user._id, unknown]) {
      expect((await remove(id, body, bob.token)).status).toBe(403)
    }
    expect((await remove('nonsense', body, bob.token)).status).toBe(400)
    expect((await remove(ann.user._id, undefined, admin.token)).status).toBe(200)
    expect(told(await remove(unknown, undefined, admin.token))).toEqual([404, 'Entry not found.'])
    expect(told(await remove(admin.id, {}, admin.token))).toEqual([
      403,
      'Current password required.',
    ])
  })

  it('leaves the last admin', async () => {
    const { it, remove } = await app()
    const one = await it.admin('one@example.com')
    const body = { currentPassword: password }
    expect(told(await remove(one.id, body, one.token))).toEqual([
      409,
      'At least one admin must remain.',
    ])
    expect(await it.stored(one.id)).toMatchObject({ role: 'admin' })
    const two = await it.admin('two@example.com')
    expect((await remove(one.id, body, one.token)).status).toBe(200)
    expect((await remove(two.id, body, two.token)).status).toBe(409)
  })

  it('leaves one of two admins who go at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { it, remove } = await app()
      const admins = [await it.admin('one@example.com'), await it.admin('two@example.com')]
      const body = { currentPassword: password }
      const answers = await parallel(2, (index) => {
        const { id, token } = admins[index] as (typeof admins)[number]
        return remove(id, body, token)
      })
      expect(await it.users.count({ role: 'admin' })).toBe(1)
      expect(statuses(answers)).toEqual({ 200: 1, 409: 1 })
    }
  })

  it('goes by onDelete of the references to the account, before its hook', async () => {
    const seen: unknown[] = []
    const { it, remove } = await app({
      onDelete: (user: { email: string }) => seen.push(user.email),
    })
    const of = (onDelete: OnDelete) => ref(it.User.name, { onDelete })
    const Order = defineModel('DeletionOrder', { fields: { by: of('restrict') } })
    const Draft = defineModel('DeletionDraft', { fields: { by: of('cascade') } })
    const Note = defineModel('DeletionNote', { fields: { by: of('unset').optional() } })
    const records = [Order, Draft, Note].map((model) => it.app.store.collection(model as Model))
    const ann = await it.register('ann@example.com')
    const admins = [await it.admin('one@example.com'), await it.admin('two@example.com')]
    const body = { currentPassword: password }
    for (const { id, token } of [{ id: ann.user._id, token: ann.token }, ...admins.slice(1)]) {
      const [order] = await Promise.all(records.map((model) => model.insert({ by: id })))
      const refused = await remove(id, body, token)
      expect(told(refused)).toEqual([409, 'Entry is still referenced by DeletionOrder.'])
      expect(seen).not.toContain((await it.stored(id)).email)
      await records[0]?.delete(order?._id ?? '')
      expect((await remove(id, body, token)).status).toBe(200)
    }
    expect(await it.users.count({ role: 'admin' })).toBe(1)
    expect(await Promise.all(records.map((model) => model.count()))).toEqual([0, 0, 2])
    expect(await records[2]?.find({ by: null } as never)).toHaveLength(2)
  })

  it('an admin whom a reference keeps after all stays an admin', async () => {
    let keep = async () => {}
    const { it, remove } = await app({ onDelete: () => keep() })
    const Order = defineModel('DeletionLateOrder', {
      fields: { by: ref(it.User.name, { onDelete: 'restrict' }) },
    })
    const orders = it.app.store.collection(Order)
    const [one] = [await it.admin('one@example.com'), await it.admin('two@example.com')]
    keep = async () => void (await orders.insert({ by: one.id }))
    const refused = await remove(one.id, { currentPassword: password }, one.token)
    expect(told(refused)).toEqual([409, 'Entry is still referenced by DeletionLateOrder.'])
    expect(await it.stored(one.id)).toMatchObject({ role: 'admin' })
  })

  it('an account without a password shows a recent sign-in', async () => {
    const social = { own: { verify: () => ({ id: '1' }) } }
    const { it, remove } = await app({ social }, { unique: ['ownId'] })
    const { token, user } = (await it.post('/auth/social/own')).body.data
    it.later(601)
    expect(told(await remove(user._id, {}, token))).toEqual([403, 'Sign in again to do this.'])
    const again = (await it.post('/auth/social/own')).body.data
    expect((await remove(user._id, {}, again.token)).status).toBe(200)
  })

  it('runs onDelete before, which may refuse', async () => {
    const seen: unknown[] = []
    const onDelete = (user: { email?: string; password?: string }) => {
      seen.push([user.email, user.password])
      if (seen.length === 1) throw new HttpError(409, 'Pay first.')
    }
    const { it, remove } = await app({ onDelete })
    const { token, user } = await it.register('ann@example.com')
    const body = { currentPassword: password }
    expect(told(await remove(user._id, body, token))).toEqual([409, 'Pay first.'])
    expect(await it.users.count()).toBe(1)
    expect((await remove(user._id, body, token)).status).toBe(200)
    expect(seen).toEqual([
      ['ann@example.com', undefined],
      ['ann@example.com', undefined],
    ])
  })

  it('removes the files that the app has stored for the account, and no others', async () => {
    const removed: string[] = []
    const files = {
      urlOf: (key: string) => `https://files.example/${key}`,
      keyOf: (url: string) => url.split('https://files.example/')[1],
      delete: async (key: string) => {
        removed.push(key)
      },
    } as unknown as FileStore
    const more = { app: { files }, fields: { avatar: z.string().optional() } }
    const { it, remove } = await app({}, more)
    const upload = { path: 'avatars', fields: [{ name: 'avatar' }] }
    const people = { model: it.User, allowedFields: ['avatar'], middlewares: [], upload }
    it.app.mount('/people', createRouter(people as never))
    const [ann, bob] = [await it.register('ann@example.com'), await it.register('bob@example.com')]
    const key = `avatars/1700000000000-${'a'.repeat(32)}.png`
    await it.users.update(ann.user._id, { avatar: `https://files.example/${key}` })
    await it.users.update(bob.user._id, { avatar: 'https://files.example/others/logo.png' })
    for (const { user, token } of [ann, bob]) {
      expect((await remove(user._id, { currentPassword: password }, token)).status).toBe(200)
    }
    expect(removed).toEqual([key])
  })
})
