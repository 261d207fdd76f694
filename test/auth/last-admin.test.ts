import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type Fields, ref, type Store } from '../../src/index.ts'
import { password } from './accounts.ts'
import { raced } from './raced.ts'
import { type Service, service, statuses } from './service.ts'

const told = ({ status, body }: { status: number; body: { error?: string } }) => [
  status,
  body.error,
]
const refused = 'At least one admin must remain.'
const own = { currentPassword: password }
const routes = { deleteUser: true }

const demote = (it: Service, id: string, token: string) =>
  it.call('PATCH', `/auth/users/${id}/roles`, { role: 'user' }, token)
const remove = (it: Service, id: string, token: string) =>
  it.call('DELETE', `/auth/users/${id}`, own, token)

/** Makes `id` the only admin. */
async function crown({ users }: Service, id: string): Promise<void> {
  await users.update(id, { role: 'admin' })
  await users.updateWhere({ _id: { ne: id } }, { role: 'user' })
}

describe('the last admin', () => {
  it('stays one, who was none when their roles or their removal were asked for', async () => {
    let meanwhile: (() => Promise<void>) | undefined
    const once = async () => {
      const act = meanwhile
      meanwhile = undefined
      await act?.()
    }
    const app = await service({
      store: raced(async (_, __, { set }) => {
        if (set?.role === 'user') await once()
      }),
      auth: { routes, onDelete: once },
    })
    const [admin, ann] = [await app.admin(), await app.register('ann@example.com')]
    const { _id: id } = ann.user
    meanwhile = () => crown(app, id)
    expect(told(await demote(app, id, admin.token))).toEqual([400, refused])
    await crown(app, admin.id)
    meanwhile = () => crown(app, id)
    expect(told(await remove(app, id, ann.token))).toEqual([409, refused])
    expect(await app.stored(id)).toMatchObject({ role: 'admin' })
  })

  it('is not removed together with the admin whose removal relies on them', async () => {
    const invitedBy = ref('User', { onDelete: 'cascade' }).optional()
    const app = await service({ fields: { invitedBy } as never, auth: { routes } })
    const [one, two] = [await app.admin('one@example.com'), await app.admin('two@example.com')]
    await app.users.update(two.id, { invitedBy: one.id })
    await app.users.update(one.id, { invitedBy: one.id })
    expect(told(await remove(app, one.id, one.token))).toEqual([409, refused])
    expect(await app.users.count({ role: 'admin' })).toBe(2)
    const three = await app.admin('three@example.com')
    expect((await remove(app, one.id, one.token)).status).toBe(200)
    expect(await app.users.find()).toMatchObject([{ _id: three.id, role: 'admin' }])
  })

  it('is one who may sign in, whichever of several roles makes them an admin', async () => {
    const roles = { list: ['user', 'admin', 'owner'], admin: ['admin', 'owner'], multiple: true }
    const auth = { routes, roles, fields: { disabled: 'banned' } } as never
    const app = await service({ auth, fields: { banned: z.boolean().optional() } })
    const admin = async (email: string, role: readonly string[]) => {
      const { token, user } = await app.register(email)
      await app.users.update(user._id, { role })
      return { token, id: user._id }
    }
    const one = await admin('one@example.com', ['user', 'admin'])
    const two = await admin('two@example.com', ['owner'])
    await app.users.update(two.id, { banned: true })
    expect(told(await remove(app, one.id, one.token))).toEqual([409, refused])
    expect((await demote(app, two.id, one.token)).status).toBe(200)
    await app.users.update(two.id, { role: ['owner'], banned: false })
    expect((await remove(app, one.id, one.token)).status).toBe(200)
    expect(await app.users.find()).toMatchObject([{ _id: two.id, role: ['owner'] }])
  })
})

it.each([
  ['without any of several roles', true, []],
  ['without a role', false, ''],
])('a user %s is no admin', async (_, multiple, role) => {
  const app = await service({ auth: { routes, roles: { multiple } } as never })
  const [ann, bob] = [await app.register('ann@example.com'), await app.register('bob@example.com')]
  await app.users.update(ann.user._id, { role })
  expect((await remove(app, ann.user._id, ann.token)).status).toBe(200)
  expect(await app.users.find()).toMatchObject([{ _id: bob.user._id }])
})

/** Stores that write one record at a time. */
const single: Record<string, () => Store> = {
  'without write': () => {
    const { write: _, ...store } = sqliteStore()
    return store
  },
  'whose database cannot write several records in one step': () => ({
    ...sqliteStore(),
    write: async () => {
      throw new TypeError('not as it is set up')
    },
  }),
}

it('a store without write keeps an admin whom two processes remove', async () => {
  let [before, after] = [async () => {}, async () => {}]
  const { write: _, ...store } = sqliteStore()
  const watched: Store = {
    ...store,
    collection(schema) {
      const collection = store.collection(schema)
      return {
        ...collection,
        async update(filter, change, options) {
          if (change.set?.role !== '(taken)') return collection.update(filter, change, options)
          await before()
          const taken = await collection.update(filter, change, options)
          await after()
          return taken
        },
      }
    },
  }
  const app = await service({ store: watched, auth: { routes } })
  const other = await service({ store, auth: { routes } })
  const [one] = [await app.admin('one@example.com'), await app.admin('two@example.com')]
  before = () => crown(app, one.id)
  after = async () => {
    expect(told(await remove(other, one.id, one.token))).toEqual([409, refused])
  }
  expect(told(await remove(app, one.id, one.token))).toEqual([409, refused])
  expect(await app.stored(one.id)).toMatchObject({ role: 'admin' })
})

describe.each(Object.entries(single))('a store %s', (_, open) => {
  it('keeps one of the admins who end each other', async () => {
    for (let round = 0; round < 10; round += 1) {
      const app = await service({ store: open(), auth: { routes } })
      const [one, two] = [await app.admin('one@example.com'), await app.admin('two@example.com')]
      const answers = await Promise.all([
        demote(app, two.id, one.token),
        round % 2 === 0 ? demote(app, one.id, two.token) : remove(app, one.id, one.token),
      ])
      expect(await app.users.count({ role: 'admin' })).toBe(1)
      expect(statuses(answers)[500]).toBeUndefined()
    }
  })

  it('gives the role back to an admin who stays after all', async () => {
    let meanwhile = async (_: Fields) => {}
    const onDelete = (user: Fields) => meanwhile(user)
    const app = await service({ store: open(), auth: { routes, onDelete } as never })
    const [one] = [await app.admin('one@example.com'), await app.admin('two@example.com')]
    meanwhile = async ({ _id }) => {
      await app.users.update(String(_id), { passwordChangedAt: new Date(app.now() + 1) })
    }
    expect((await remove(app, one.id, one.token)).status).toBe(401)
    expect(await app.stored(one.id)).toMatchObject({ role: 'admin' })
  })
})
