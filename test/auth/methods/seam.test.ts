import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { magicLink } from '../../../examples/magic-link/magic-link.ts'
import { audit } from '../../../src/audit/index.ts'
import type { ApiRequest } from '../../../src/http/request/request.ts'
import { SecondStepRequired, type SignInStep } from '../../../src/index.ts'
import { type Accounts, defineMethod } from '../../../src/methods/index.ts'
import { document } from '../../../src/openapi/index.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { checkRecords } from '../../../src/upkeep/check/check.ts'
import { password } from '../accounts.ts'
import { parallel, service, statuses } from '../service.ts'

const email = 'ann@example.com'

async function linked(auth = {}) {
  const app = await service({ auth: { methods: [magicLink()], ...auth } })
  const ann = await app.register(email)
  const link = async () => {
    await app.post('/auth/login/link', { identifier: email })
    return app.sent.at(-1)?.code
  }
  return { ...app, ann, link }
}

describe('A method of your own', () => {
  it('signs in by what it has mailed, once', async () => {
    const app = await linked()
    const link = await app.link()
    const tried = await parallel(5, () => app.post('/auth/login', { link }))
    expect(statuses(tried)).toEqual({ 200: 1, 401: 4 })
    const { body } = tried.find(({ status }) => status === 200) as (typeof tried)[number]
    expect((await app.call('GET', '/auth/me', undefined, body.data.token)).body.data.email).toBe(
      email,
    )
    expect((await app.post('/auth/login', { link: 7 })).status).toBe(400)
  })

  it('takes an account over by the first proof: nothing from before opens it', async () => {
    const app = await linked()
    expect((await app.post('/auth/login', { link: await app.link() })).status).toBe(200)
    expect((await app.post('/auth/login', { email, password })).status).toBe(401)
    expect((await app.call('GET', '/auth/me', undefined, app.ann.token)).status).toBe(401)
  })

  it('proves only the address that the link went to, and ends with another one', async () => {
    const app = await linked({ updateFields: ['email'] })
    const link = await app.link()
    const move = { email: 'victim@example.com', currentPassword: password }
    await app.call('PATCH', `/auth/users/${app.ann.user._id}`, move, app.ann.token)
    expect((await app.post('/auth/login', { link })).status).toBe(401)
    expect((await app.stored(app.ann.user._id)).provenEmail).toBeUndefined()
  })

  it('mails no second link within the pause, so that a stranger ends none', async () => {
    const app = await linked({ otp: { resendSeconds: 60 } })
    await parallel(5, () => app.post('/auth/login/link', { identifier: email }))
    expect(app.sent).toHaveLength(1)
    const link = await app.link()
    expect(app.sent).toHaveLength(1)
    expect(app.log.filter((line) => line.includes('failed'))).toEqual([])
    expect((await app.post('/auth/login', { link })).status).toBe(200)
    await app.link()
    app.later(61)
    await app.link()
    expect(app.sent).toHaveLength(3)
  })

  it('leaves a proven account as it is, but for the new session', async () => {
    const app = await linked()
    await app.post('/auth/login', { link: await app.link() })
    const { body } = await app.post('/auth/login', { link: await app.link() })
    const stored = await app.stored(app.ann.user._id)
    expect(stored.refreshTokens).toHaveLength(2)
    expect((await app.call('GET', '/auth/me', undefined, body.data.token)).status).toBe(200)
  })

  it('has what it relies on hold until the session opens, also after a second step', async () => {
    const named = defineMethod({
      name: 'named',
      routes: [],
      open: (accounts) => ({
        handlers: {},
        signIn: {
          takes: (body) => Object.hasOwn(body, 'named'),
          async respond({ named }, request) {
            const user = (await accounts.byId(named)) ?? {}
            return accounts.signIn(user, request, { expect: { name: user.name } })
          },
        },
      }),
    })
    const onLogin = (_: unknown, __: Request, { answer }: SignInStep) => {
      if (answer?.word !== 'x') throw new SecondStepRequired()
    }
    const app = await linked({ methods: [named], onLogin })
    const id = app.ann.user._id
    const ask = async () => (await app.post('/auth/login', { named: id })).body.ticket
    // Asked again, it relies on the same.
    const again = async (ticket: string) =>
      (await app.post('/auth/login', { ticket, word: 'y' })).body.ticket
    const answer = (ticket: string) => app.post('/auth/login', { ticket, word: 'x' })
    const tickets = [await ask(), await again(await ask())]
    await app.users.update(id, { name: 'Ann B.' })
    for (const ticket of tickets) expect((await answer(ticket)).status).toBe(401)
    expect((await answer(await again(await ask()))).status).toBe(200)
  })

  it('confirms the present session, and none of another account', async () => {
    const app = await linked()
    const bob = await app.register('bob@example.com')
    const link = await app.link()
    expect((await app.post('/auth/login/confirm', { link }, bob.token)).status).toBe(401)
    const { body } = await app.post('/auth/login', { link: await app.link() })
    const again = await app.post('/auth/login/confirm', { link: await app.link() }, body.data.token)
    expect([again.status, again.body]).toEqual([200, { success: true, message: 'Confirmed.' }])
    expect((await app.post('/auth/login/confirm', { link })).status).toBe(401)
  })

  it('tells no one who has an account', async () => {
    const app = await linked()
    const known = await app.post('/auth/login/link', { identifier: email })
    const unknown = await app.post('/auth/login/link', { identifier: 'eve@example.com' })
    expect(unknown.body).toEqual(known.body)
    expect(app.sent).toHaveLength(1)
  })

  it('is refused to a disabled and to a locked account', async () => {
    const fields = { disabled: z.boolean().default(false) }
    const auth = {
      methods: [magicLink()],
      fields: { disabled: 'disabled' },
      lockout: { maxAttempts: 2 },
      client: (request: Request) => request.headers.get('x-client') ?? undefined,
    }
    const app = await service({ auth, fields })
    const { user } = await app.register(email)
    await app.post('/auth/login/link', { identifier: email })
    await app.post('/auth/login', { link: app.sent.at(-1)?.code })
    await app.post('/auth/login/link', { identifier: email })
    await app.users.update(user._id, { disabled: true })
    expect((await app.post('/auth/login', { link: app.sent.at(-1)?.code })).status).toBe(401)
    const sent = app.sent.length
    await app.post('/auth/login/link', { identifier: email })
    expect(app.sent).toHaveLength(sent)
    await app.users.update(user._id, { disabled: false })
    await parallel(3, () => app.post('/auth/login', { email, password: 'wrong password' }))
    await app.post('/auth/login/link', { identifier: email })
    const locked = await app.post('/auth/login', { link: app.sent.at(-1)?.code })
    expect([locked.status, locked.body.error]).toEqual([401, 'Invalid credentials.'])
  })

  it('is in the list of routes, the document, the audit and the check of records', async () => {
    const app = await linked()
    await app.link()
    expect(app.auth.router.urls.slice(-2)).toEqual([
      { name: 'confirmLogin', method: 'POST', path: '/login/confirm', access: 'signed in' },
      { name: 'sendLink', method: 'POST', path: '/login/link', access: 'anyone' },
    ])
    const row = audit(app.app).find(({ path }) => path === '/auth/login/link')
    expect(row).toMatchObject({ method: 'POST', model: 'User', who: 'anyone', read: [], write: [] })
    const { paths } = document(app.app, { title: 'x', version: '1' })
    const operation = paths['/auth/login/link']?.post
    expect(operation).toMatchObject({ operationId: 'sendLink', tags: ['/auth'] })
    const { database, known } = hostOf(app.app.store)
    const models = [...known()]
    expect(models.map(({ name }) => name)).toContain('UserMagicLink')
    expect(await checkRecords(database, models)).toMatchObject({ ok: true, records: 2 })
  })

  it('is served where the list of routes says', async () => {
    const app = await linked({ routes: { sendLink: '/link' } as object })
    const row = app.auth.router.urls.find(({ name }) => name === 'sendLink')
    expect(row?.path).toBe('/link')
    const identifier = 'ann@example.com'
    const [moved, usual] = [
      await app.post('/auth/link', { identifier }),
      await app.post('/auth/login/link', { identifier }),
    ]
    expect([moved.status, usual.status]).toEqual([200, 404])
  })

  it('forgets an account that is deleted', async () => {
    const app = await linked({ routes: { deleteUser: true } })
    await app.link()
    const { _id } = app.ann.user
    const link = app.sent.at(-1)?.code
    const body = { currentPassword: password }
    expect((await app.call('DELETE', `/auth/users/${_id}`, body, app.ann.token)).status).toBe(200)
    expect((await app.post('/auth/login', { link })).status).toBe(401)
  })

  it('has its guards under the name of its route', async () => {
    let asked = 0
    const count = () => {
      asked += 1
    }
    const app = await linked({ middlewares: { sendLink: count } })
    await app.link()
    expect(asked).toBe(1)
  })

  it.each([
    ['no list', { methods: magicLink() }, /'methods' must be a list/],
    ['no method', { methods: [{}] }, /'methods' must be a list/],
    [
      'one that defineMethod has not made',
      { methods: [{ ...magicLink(), machinery: undefined }] },
      /'methods' must be a list/,
    ],
    ['one method twice', { methods: [magicLink(), magicLink()] }, /has 'magicLink' twice/],
    [
      'a factor that nothing brings',
      { methods: [magicLink()], secondFactor: { requiredFor: ['admin'] } },
      /needs a second factor/,
    ],
    [
      'a factor for a role that is not there',
      { secondFactor: { requiredFor: ['boss'] }, roles: { list: ['user'] } },
      /'roles.list' has no such role/,
    ],
  ])('refuses %s at start-up', async (_, auth, message) => {
    await expect(service({ auth: auth as never })).rejects.toThrow(message)
  })

  it('reads the body and the user of requests to other routes, too', async () => {
    let own: Accounts | undefined
    const signed = defineMethod({
      name: 'signed',
      routes: [],
      open(accounts) {
        own = accounts
        const read = async (token: string, request: ApiRequest) => {
          const user = await accounts.byId((await accounts.body(request)).by)
          return user && token === 'signed' ? { user, claims: {} } : undefined
        }
        return { handlers: {}, bearer: { takes: (token) => token === 'signed', read } }
      },
    })
    const app = await service({ auth: { methods: [signed] } })
    const { requireAuth } = app.auth
    app.app
      .post('/things', requireAuth, ({ auth }) => auth?.userId)
      .post('/pay', requireAuth, async (request) => [
        (await own?.recent(request))?.email,
        (await own?.strong(request))?.email,
      ])
    const ann = await app.register(email)
    const made = await app.post('/things', { by: ann.user._id }, 'signed')
    expect([made.status, made.body.data]).toEqual([200, ann.user._id])
    expect((await app.post('/pay', {}, ann.token)).body.data).toEqual([email, email])
  })

  it('without its handler is refused at start-up', async () => {
    const broken = defineMethod({ ...magicLink(), open: () => ({ handlers: {} }) })
    await expect(service({ auth: { methods: [broken] } })).rejects.toThrow(
      /'sendLink' without a handler/,
    )
  })
})
