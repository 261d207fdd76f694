import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type Fields } from '../../src/index.ts'
import { withId } from '../../src/ports/store/filter.ts'
import { hostOf } from '../../src/records/engine/host.ts'
import { password, secret } from './accounts.ts'
import { raced } from './raced.ts'
import { type Service, type ServiceOptions, service } from './service.ts'

interface SignedIn {
  readonly token: string
  readonly refreshToken: string
}

const me = async ({ call }: Service, { token }: SignedIn): Promise<string> => {
  const { status, body } = await call('GET', '/auth/me', undefined, token)
  return status === 200 ? '200' : `${status} ${body.error}`
}
const refresh = async ({ post }: Service, { refreshToken }: SignedIn): Promise<SignedIn> =>
  (await post('/auth/token/refresh', { refreshToken })).body.data
const signIn = async ({ post }: Service, email = 'ann@example.com'): Promise<SignedIn> =>
  (await post('/auth/login', { email, password })).body.data

const ended = '401 Session ended. Sign in again.'

describe('3.1 an access token ends with its session', () => {
  it('at a sign-out, that session alone', async () => {
    const app = await service()
    const first = await app.register('ann@example.com')
    const second = await signIn(app)
    await app.post('/auth/logout', { refreshToken: first.refreshToken })
    expect([await me(app, first), await me(app, second)]).toEqual([ended, '200'])
  })

  it('at a sign-in with its token, which opens another; a token of somebody else ends nothing', async () => {
    const app = await service()
    const first = await app.register('ann@example.com')
    const bob = await app.register('bob@example.com')
    const body = { email: 'ann@example.com', password }
    const second = (await app.post('/auth/login', body, first.token)).body.data
    expect([await me(app, first), await me(app, second)]).toEqual([ended, '200'])
    expect(await refresh(app, first)).toBeUndefined()
    const third = (await app.post('/auth/login', body, bob.token)).body.data
    const all = [await me(app, second), await me(app, third), await me(app, bob)]
    expect(all).toEqual(['200', '200', '200'])
    // One that failed ends nothing.
    await app.post('/auth/login', { ...body, password: 'a wrong password' }, third.token)
    expect(await me(app, third)).toBe('200')
  })

  it('at a sign-out everywhere, every session of that user', async () => {
    const app = await service()
    const first = await app.register('ann@example.com')
    const second = await signIn(app)
    const bob = await app.register('bob@example.com')
    await app.post('/auth/logout/all', {}, first.token)
    const after = [await me(app, first), await me(app, second), await me(app, bob)]
    expect(after).toEqual([ended, ended, '200'])
    expect(await me(app, await signIn(app))).toBe('200')
  })

  it.each([
    [true, ended],
    [false, '200'],
  ])('at a detected reuse (revokeAllOnReuse: %s)', async (revokeAllOnReuse, others) => {
    const app = await service({ auth: { refresh: { enabled: true, revokeAllOnReuse } } })
    const first = await app.register('ann@example.com')
    const other = await signIn(app)
    const next = await refresh(app, first)
    app.later(11)
    await refresh(app, first)
    expect([await me(app, first), await me(app, next)]).toEqual([ended, ended])
    expect(await me(app, other)).toBe(others)
  })

  it('when later sign-ins have taken its place', async () => {
    const app = await service({ auth: { refresh: { enabled: true, maxSessions: 2 } } })
    const first = await app.register('ann@example.com')
    const second = await signIn(app)
    const third = await signIn(app)
    const after = [await me(app, first), await me(app, second), await me(app, third)]
    expect(after).toEqual([ended, '200', '200'])
  })

  it.each([{ expiresIn: 60 }, { expiresIn: '1d', maxLifetime: 60 }] as const)(
    'when the time of the session is over: %o',
    async (lifetime) => {
      const app = await service({ auth: { refresh: { enabled: true, ...lifetime } } })
      const first = await app.register('ann@example.com')
      app.later(59)
      expect(await me(app, first)).toBe('200')
      app.later(1)
      expect(await me(app, first)).toBe(ended)
    },
  )

  it('lives on when the session is refreshed, which keeps its id', async () => {
    const app = await service()
    const first = await app.register('ann@example.com')
    const next = await refresh(app, first)
    expect([await me(app, first), await me(app, next)]).toEqual(['200', '200'])
    expect(typeof decodeJwt(first.token).sid).toBe('string')
    expect(decodeJwt(next.token).sid).toBe(decodeJwt(first.token).sid)
    await app.post('/auth/logout', { refreshToken: next.refreshToken })
    expect([await me(app, first), await me(app, next)]).toEqual([ended, ended])
  })

  it('on every guarded route, with optionalAuth too', async () => {
    const app = await service()
    const Note = defineModel('Note', { fields: { text: z.string() } })
    const { requireAuth, optionalAuth } = app.auth
    for (const [path, guard] of [
      ['/notes', requireAuth],
      ['/open', optionalAuth],
    ] as const) {
      const middlewares = [guard] as never[]
      app.app.mount(path, createRouter({ model: Note, allowedFields: ['text'], middlewares }))
    }
    const first = await app.register('ann@example.com')
    await app.post('/auth/logout', { refreshToken: first.refreshToken })
    for (const path of ['/notes', '/open']) {
      const answer = await app.call('GET', path, undefined, first.token)
      expect(`${answer.status} ${answer.body.error}`).toBe(ended)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  it('of no session: opens nothing once refresh tokens are switched on', async () => {
    const store = sqliteStore()
    const off = await service({ store, auth: { refresh: { enabled: false } } })
    const first = await off.register('ann@example.com')
    expect(decodeJwt(first.token)).not.toHaveProperty('sid')
    const on = await service({ store })
    expect(await me(on, first)).toBe(ended)
  })

  it('is read off nothing with invalidateOnPasswordChange: false, as is documented', async () => {
    const app = await service({ auth: { token: { secret, invalidateOnPasswordChange: false } } })
    const first = await app.register('ann@example.com')
    await app.post('/auth/logout', { refreshToken: first.refreshToken })
    expect(await me(app, first)).toBe('200')
    app.later(906)
    expect(await me(app, first)).toBe('401 Invalid or expired token.')
  })
})

describe('3.1 the sessions of an account that was disabled', () => {
  const inactive = '403 This account is not active.'
  const banned = (options: ServiceOptions = {}) =>
    service({
      ...options,
      auth: { fields: { disabled: 'banned' }, ...options.auth },
      fields: { banned: z.boolean().optional() },
    })

  /** What disables an account through the kit. */
  const ways: Record<string, (app: Service, id: string) => Promise<unknown>> = {
    'a resource router': (app, id) => app.call('PATCH', `/people/${id}`, { banned: true }),
    'app.store': (app, id) => app.users.update(id, { banned: true }),
    'app.store, many at once': (app) => app.users.updateWhere({}, { banned: true }),
  }

  it.each(Object.keys(ways))('stay ended when it is enabled again: %s', async (way) => {
    const app = await banned()
    app.app.mount('/people', createRouter({ model: app.User, allowedFields: ['banned'] }))
    const ann = await app.register('ann@example.com')
    const other = await signIn(app)
    await ways[way]?.(app, ann.user._id)
    await app.users.update(ann.user._id, { banned: false })
    for (const session of [ann, other]) {
      expect(await me(app, session)).toBe(ended)
      expect(await refresh(app, session)).toBe(undefined)
    }
    expect(await me(app, await signIn(app))).toBe('200')
  })

  it('outlive no sign-in that meets the disabling', async () => {
    let meanwhile: (() => Promise<unknown>) | undefined
    const app = await banned({
      store: raced(async () => {
        const work = meanwhile
        meanwhile = undefined
        await work?.()
      }),
    })
    const { user } = await app.register('ann@example.com')
    meanwhile = () => app.users.update(user._id, { banned: true })
    expect((await app.post('/auth/login', { email: 'ann@example.com', password })).status).toBe(403)
    let during: SignedIn | undefined
    await app.users.update(user._id, { banned: false })
    meanwhile = async () => {
      during = await signIn(app)
    }
    await app.users.update(user._id, { banned: true })
    await app.users.update(user._id, { banned: false })
    expect(during && (await me(app, during))).toBe(ended)
  })

  /** What is refused while something else than the kit has disabled the account. */
  const refusals: Record<string, (app: Service, session: SignedIn) => Promise<unknown>> = {
    'a guarded route': async (app, session) => expect(await me(app, session)).toBe(inactive),
    'a refresh': async (app, session) => expect(await refresh(app, session)).toBe(undefined),
    'a sign-in': async (app) => expect(await signIn(app)).toBe(undefined),
  }

  it.each(Object.keys(refusals))('end with the first refusal: %s', async (refusal) => {
    const app = await banned()
    const ann = await app.register('ann@example.com')
    const other = await signIn(app)
    const write = await outside(app, ann.user._id)
    await write({ banned: true })
    await refusals[refusal]?.(app, ann)
    await write({ banned: false })
    expect([await me(app, ann), await me(app, other)]).toEqual([ended, ended])
    expect(await me(app, await signIn(app))).toBe('200')
  })

  it('end too when the account is enabled during that refusal', async () => {
    let meanwhile: (() => Promise<unknown>) | undefined
    const store = raced(async () => {
      const work = meanwhile
      meanwhile = undefined
      await work?.()
    })
    const app = await banned({ store })
    const ann = await app.register('ann@example.com')
    const write = await outside(app, ann.user._id)
    await write({ banned: true })
    let during: SignedIn | undefined
    meanwhile = async () => {
      await app.users.update(ann.user._id, { banned: false })
      during = await signIn(app)
    }
    expect(await me(app, ann)).toBe(inactive)
    expect(await me(app, ann)).toBe(ended)
    expect(during && (await me(app, during))).toBe('200')
  })

  it.each([true, false])(
    'access tokens end without refresh tokens too (through the kit: %s)',
    async (kit) => {
      const app = await banned({ auth: { refresh: { enabled: false } } })
      const ann = await app.register('ann@example.com')
      const write = kit
        ? (changes: Fields) => app.users.update(ann.user._id, changes)
        : await outside(app, ann.user._id)
      await write({ banned: true })
      expect(await me(app, ann)).toBe(inactive)
      expect(await me(app, ann)).toBe(inactive)
      await write({ banned: false })
      expect(await me(app, ann)).toBe(ended)
      expect(await me(app, await signIn(app))).toBe('200')
    },
  )
})

/** Writes to the record as a program does that knows nothing of the kit. */
async function outside(
  { app, User }: Service,
  id: string,
): Promise<(changes: Fields) => Promise<unknown>> {
  await app.ready()
  const stored = hostOf(app.store).engine(User).stored
  return (changes) => stored.update(withId(id), { set: changes })
}
