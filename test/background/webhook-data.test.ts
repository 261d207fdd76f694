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
