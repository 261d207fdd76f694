import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { runDue } from '../../src/background/webhooks/index.ts'
import { rateLimit } from '../../src/guards/index.ts'
import {
  type App,
  createAuthRouter,
  createRouter,
  defineModel,
  HttpError,
  userFields,
} from '../../src/index.ts'
import { apps } from './apps.ts'
import { received, SECRET, sending, Task, tasks } from './sending.ts'

const DAY = 86_400_000

describe('the data of a webhook', () => {
  const User = defineModel('User', {
    fields: { ...userFields(), disabled: z.boolean().optional() },
    unique: ['email'],
  })
  const auth = createAuthRouter({
    model: User,
    token: { secret: 'a-secret-for-tests-0123456789-abcdefgh' },
    roles: { list: ['member', 'admin'] },
    password: { common: false },
    fields: { disabled: 'disabled' },
  })
  /** Tasks of which members see their own without the note, and admins all. */
  const guarded = (app: App) => {
    app.mount('/auth', auth.router)
    app.use(rateLimit({ limit: 1, windowSeconds: 60 }))
    app.mount(
      '/tasks',
      createRouter({
        model: Task,
        middlewares: [auth.requireAuth],
        allowedFields: ['title'],
        scope: ({ auth: by }) => (by?.role === 'admin' ? undefined : { owner: String(by?.userId) }),
        fieldsFor: ({ auth: by }) => (by?.role === 'admin' ? undefined : ['title', 'owner']),
      }),
    )
  }

  it('is what the one may see for whom it is sent; what they may not see is not sent', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const own = await received(SECRET)
    let who: string | undefined
    const app = await sending(
      it,
      {
        endpoints: [{ url: own.url, secret: SECRET, models: ['Task'] }],
        as: () => (who ? { userId: who } : null),
      },
      guarded,
    )
    const users = app.store.collection(User)
    const ann = await users.insert({ email: 'ann@example.com', role: 'member' } as never)
    const bob = await users.insert({ email: 'bob@example.com', role: 'member' } as never)
    const boss = await users.insert({ email: 'boss@example.com', role: 'admin' } as never)
    const sent = async (as: string | undefined) => {
      own.received.length = 0
      who = as
      await tasks(app).insert({ title: 'a', owner: ann._id, note: 'n', secret: 'x' })
      await runDue(app)
      return own.received.map(({ body: { data } }) => Object.keys(data).toSorted().join(' '))
    }
    expect(await sent(undefined)).toEqual([])
    expect(await sent(bob._id)).toEqual([])
    expect(await sent(ann._id)).toEqual(['_id owner title'])
    expect(await sent(boss._id)).toEqual(['_id note owner title'])
    expect(await sent('000000000000000000000000')).toEqual([])
    await users.update(boss._id, { role: 'member' } as never)
    expect(await sent(boss._id)).toEqual([])
    await users.update(ann._id, { disabled: true } as never)
    expect(await sent(ann._id)).toEqual([])
    expect(await app.background[0]?.status()).toMatchObject({ waiting: 0, aside: 0 })
  })

  it('is decided by your own guards too, by headers or by who it is', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const own = await received(SECRET)
    const app = await sending(
      it,
      {
        endpoints: [{ url: own.url, secret: SECRET }],
        as: ({ after }) =>
          after?.title === 'by key'
            ? { headers: { 'X-Key': 'right' } }
            : { userId: '1', role: 'robot' },
      },
      (its) => {
        const onlyKey = (request: Request) => {
          if (request.headers.get('x-key') !== 'right') throw new HttpError(401, 'No.')
        }
        const onlyRobot = (request: { readonly auth?: { readonly role?: unknown } }) => {
          if (request.auth?.role !== 'robot') throw new HttpError(403, 'No.')
        }
        its.mount(
          '/keyed',
          createRouter({ model: Task, middlewares: [onlyKey], allowedFields: ['title'] }),
        )
        its.mount(
          '/robots',
          createRouter({
            model: Task,
            middlewares: [onlyRobot],
            access: { read: false },
            fieldsFor: () => ['owner'],
            allowedFields: ['title'],
          }),
        )
      },
    )
    await tasks(app).insert({ title: 'by key' })
    await tasks(app).insert({ title: 'by role', owner: 'me' })
    await runDue(app)
    expect(own.received.map(({ body: { data } }) => [data.title, data.owner])).toEqual([
      ['by key', undefined],
      [undefined, 'me'],
    ])
  })

  it('is told only if the one sees something of what has changed', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const own = await received(SECRET)
    const app = await sending(it, { endpoints: [{ url: own.url, secret: SECRET }] }, (its) => {
      its.mount(
        '/tasks',
        createRouter({
          ...{ model: Task, middlewares: [], allowedFields: ['title'] },
          ...{ fieldsFor: () => ['title'], scope: () => ({ owner: 'all' }) },
        }),
      )
    })
    const { _id } = await tasks(app).insert({ title: 'a', owner: 'all', note: 'n' })
    await tasks(app).update(_id, { note: 'of others', secret: 'x' })
    await tasks(app).update(_id, { title: 'b' })
    await tasks(app).update(_id, { owner: 'me' })
    await tasks(app).update(_id, { owner: 'all' })
    await tasks(app).delete(_id)
    await runDue(app)
    expect(own.received.map(({ body: { type, data } }) => [type, data.title])).toEqual([
      ['task.created', 'a'],
      ['task.updated', 'b'],
      // It comes back.
      ['task.updated', 'b'],
      ['task.removed', 'b'],
    ])
  })

  it('is what a GET shows: a scope goes by what is stored, without defaults', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const own = await received(SECRET)
    const changes = true
    const Old = defineModel('Paper', { fields: { title: z.string() }, changes })
    const before = it.app()
    const { _id } = await before.store.collection(Old).insert({ title: 'a' })
    await before.close()
    const status = z.enum(['draft', 'public']).default('public')
    const Paper = defineModel('Paper', { fields: { title: z.string(), status }, changes })
    const app = await sending(it, { endpoints: [{ url: own.url, secret: SECRET }] }, (its) => {
      const scope = () => ({ status: 'public' }) as const
      its.mount(
        '/papers',
        createRouter({ model: Paper, middlewares: [], allowedFields: ['title'], scope }),
      )
    })
    const read = () => app.handle(new Request(`http://localhost/papers/${_id}`))
    await app.store.collection(Paper).update(_id, { title: 'b' })
    expect((await read()).status).toBe(404)
    await runDue(app)
    expect(own.received).toEqual([])
    await app.store.collection(Paper).update(_id, { status: 'public' })
    expect((await read()).status).toBe(200)
    await runDue(app)
    expect(own.received.map(({ body }) => body.data.title)).toEqual(['b'])
  })

  it.each(['a route of your own', 'a router'])(
    'is not what a route would show that is behind %s',
    async (before) => {
      const it = apps('2026-11-26T12:00:00Z')
      const own = await received(SECRET)
      const refuse = () => {
        throw new HttpError(403, 'No.')
      }
      const app = await sending(it, { endpoints: [{ url: own.url, secret: SECRET }] }, (its) => {
        const options = { model: Task, allowedFields: ['title'] } as const
        const open = createRouter({ ...options, middlewares: [], access: { list: refuse } })
        if (before === 'a router') {
          its.mount('/tasks', createRouter({ ...options, middlewares: [refuse] }))
        } else open.get('/:id', refuse, () => ({}))
        its.mount('/tasks', open)
      })
      const { _id } = await tasks(app).insert({ title: 'a' })
      expect((await app.handle(new Request(`http://localhost/tasks/${_id}`))).status).toBe(403)
      await runDue(app)
      expect(own.received).toEqual([])
    },
  )

  it('is tried again when a guard fails', async () => {
    const it = apps('2026-11-26T12:00:00Z')
    const own = await received(SECRET)
    let isBroken = true
    const app = await sending(it, { endpoints: [{ url: own.url, secret: SECRET }] }, (its) => {
      const guard = () => {
        if (isBroken) throw new Error('the directory is down')
      }
      its.mount(
        '/tasks',
        createRouter({ model: Task, middlewares: [guard], allowedFields: ['title'] }),
      )
    })
    await tasks(app).insert({ title: 'a' })
    await runDue(app)
    expect(own.received).toEqual([])
    isBroken = false
    it.clock.at += DAY
    await runDue(app)
    expect(own.received).toHaveLength(1)
  })
})
