import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { password, secret } from '../accounts.ts'
import { credentials, email, factored } from './factored.ts'

describe('A session with both factors', () => {
  it('passes requireSecondFactor, still after a refresh', async () => {
    const app = await factored()
    const guards = [app.auth.requireAuth, app.auth.requireSecondFactor]
    const Safe = defineModel('Safe', { fields: { text: z.string() } })
    app.app.mount('/safe', createRouter({ model: Safe, middlewares: guards }))
    const get = (token: string) => app.call('GET', '/safe', undefined, token)
    const { secret } = await app.enrol()
    const refused = await get(app.ann.token)
    expect([refused.status, refused.body.error]).toEqual([403, 'Sign in with a second factor.'])
    app.later(30)
    const { token, refreshToken } = (await app.answer({ totp: app.codeOf(secret) })).body.data
    expect((await get(token)).status).toBe(200)
    const next = await app.post('/auth/token/refresh', { refreshToken })
    expect((await get(next.body.data.token)).status).toBe(200)
    const { key } = (await app.makeKey(token)).body.data
    expect((await get(key)).body.error).toBe('Sign in with a second factor.')
    const alone = createRouter({ model: Safe, middlewares: [app.auth.requireSecondFactor] })
    app.app.mount('/alone', alone)
    const nobody = await app.call('GET', '/alone')
    expect([nobody.status, nobody.body.error]).toEqual([401, 'Authentication required.'])
  })

  it('removes the factor, and is told by mail', async () => {
    const app = await factored()
    await app.post('/auth/login/link', { identifier: email })
    const { token } = (await app.post('/auth/login', { link: app.sent.at(-1)?.code })).body.data
    const { secret } = await app.enrol(token)
    await app.post('/auth/login/link', { identifier: email })
    const { ticket } = (await app.post('/auth/login', { link: app.sent.at(-1)?.code })).body
    app.later(30)
    const strong = (await app.post('/auth/login', { ticket, totp: app.codeOf(secret) })).body.data
      .token
    expect((await app.call('DELETE', '/auth/totp', undefined, strong)).status).toBe(200)
    expect((await app.call('DELETE', '/auth/totp', undefined, strong)).status).toBe(404)
    await app.post('/auth/login/link', { identifier: email })
    expect((await app.post('/auth/login', { link: app.sent.at(-1)?.code })).status).toBe(200)
    const told = app.log.filter((line) => line.includes('auth: factor-'))
    expect(told.map((line) => JSON.parse(line)[0])).toEqual([
      'auth: factor-added',
      'auth: factor-removed',
    ])
  })

  it('is what it takes to change the address, or to delete the account', async () => {
    const app = await factored({
      auth: { updateFields: ['email'], routes: { deleteUser: true } } as never,
    })
    const path = `/auth/users/${app.ann.user._id}`
    const body = { currentPassword: password }
    const change = (token: string) =>
      app.call('PATCH', path, { ...body, email: 'new@example.com' }, token)
    const end = (token: string) => app.call('DELETE', path, body, token)
    const { secret } = await app.enrol()
    const refused = { status: 403, body: { error: 'Sign in again to do this.' } }
    // From before the factor.
    expect(await change(app.ann.token)).toMatchObject(refused)
    expect(await end(app.ann.token)).toMatchObject(refused)
    const token = await app.strong(secret)
    app.later(11 * 60)
    expect(await change(token)).toMatchObject(refused)
    const recent = await app.strong(secret)
    expect((await change(recent)).status).toBe(200)
    expect((await end(recent)).status).toBe(200)
  })

  it('replaces the recovery codes: those before no longer work', async () => {
    const app = await factored()
    expect((await app.post('/auth/recovery-codes', {}, app.ann.token)).status).toBe(404)
    const { secret, codes } = await app.enrol()
    const token = await app.strong(secret)
    const { body } = await app.post('/auth/recovery-codes', {}, token)
    expect(body.data.recoveryCodes).toHaveLength(10)
    expect((await app.answer({ recoveryCode: codes[0] })).status).toBe(401)
    expect((await app.answer({ recoveryCode: body.data.recoveryCodes[0] })).status).toBe(200)
  })

  it('stays recent for ten minutes, and is made recent by both factors alone', async () => {
    const app = await factored()
    const { secret } = await app.enrol()
    const token = await app.strong(secret)
    expect((await app.makeKey(token)).status).toBe(201)
    app.later(601)
    expect((await app.makeKey(token)).status).toBe(403)
    const { body } = await app.answer({ totp: app.codeOf(secret) })
    const other = await app.strong(secret)
    app.later(601)
    const next = await app.post('/auth/token/refresh', { refreshToken: body.data.refreshToken })
    const { token: fresh } = next.body.data
    expect((await app.makeKey(fresh)).status).toBe(403)
    const asked = await app.post('/auth/login/confirm', { password }, fresh)
    expect([asked.status, asked.body.secondStep]).toEqual([401, ['totp', 'recovery-code']])
    expect((await app.makeKey(fresh)).status).toBe(403)
    const { ticket } = asked.body
    const confirmed = await app.post(
      '/auth/login/confirm',
      { ticket, totp: app.codeOf(secret) },
      fresh,
    )
    expect(confirmed.status).toBe(200)
    expect((await app.makeKey(fresh)).status).toBe(201)
    expect((await app.makeKey(other)).status).toBe(403)
  })

  it('is not confirmed if it ends meanwhile', async () => {
    let meanwhile = async (): Promise<unknown> => undefined
    const app = await factored({
      auth: {
        password: {
          hash: (plain: string) => plain,
          verify: async (plain: string, stored: string) => {
            await meanwhile()
            return plain === stored
          },
        },
      } as never,
    })
    const { token, refreshToken } = app.ann
    const confirm = async () => (await app.post('/auth/login/confirm', { password }, token)).status
    expect(await confirm()).toBe(200)
    meanwhile = () => app.post('/auth/logout', { refreshToken }, token)
    expect(await confirm()).toBe(401)
  })

  it('is confirmed by nothing of another account', async () => {
    const app = await factored()
    const bob = await app.register('bob@example.com')
    const wrong = { identifier: email, password }
    expect((await app.post('/auth/login/confirm', wrong, bob.token)).status).toBe(401)
    const { secret } = await app.enrol()
    const ticket = await app.ticketOf()
    app.later(30)
    const other = await app.post(
      '/auth/login/confirm',
      { ticket, totp: app.codeOf(secret) },
      bob.token,
    )
    expect(other.status).toBe(401)
    expect((await app.post('/auth/login', { ticket, totp: app.codeOf(secret) })).status).toBe(200)
  })

  it('knows it from its token where there are no sessions', async () => {
    const app = await factored({ auth: { refresh: { enabled: false } } })
    const { secret } = await app.enrol()
    expect((await app.makeKey(app.ann.token)).status).toBe(403)
    const token = await app.strong(secret)
    expect((await app.makeKey(token)).status).toBe(201)
    app.later(601)
    expect((await app.makeKey(token)).status).toBe(403)
    const { ticket } = (await app.post('/auth/login/confirm', { password }, token)).body
    const { body } = await app.post(
      '/auth/login/confirm',
      { ticket, totp: app.codeOf(secret) },
      token,
    )
    expect(body.data).toEqual({ token: expect.any(String), expiresIn: expect.any(Number) })
    expect((await app.makeKey(body.data.token)).status).toBe(201)
  })
})

describe('What ends it', () => {
  it('a first proof ends the factor before a second step is asked for', async () => {
    const app = await factored()
    await app.enrol()
    await app.post('/auth/login/link', { identifier: email })
    const taken = await app.post('/auth/login', { link: app.sent.at(-1)?.code })
    expect(taken.status).toBe(200)
    // And makes room for the owner's own.
    const { answer, secret } = await app.enrol(taken.body.data.token)
    expect(answer.status).toBe(200)
    app.later(30)
    await app.post('/auth/login/link', { identifier: email })
    const { ticket } = (await app.post('/auth/login', { link: app.sent.at(-1)?.code })).body
    expect((await app.post('/auth/login', { ticket, totp: app.codeOf(secret) })).status).toBe(200)
  })

  it('a reset of a proven account does not', async () => {
    const app = await factored()
    await app.post('/auth/login/link', { identifier: email })
    const { token } = (await app.post('/auth/login', { link: app.sent.at(-1)?.code })).body.data
    await app.enrol(token)
    await app.post('/auth/password/forgot', { identifier: email })
    const reset = { identifier: email, code: app.sent.at(-1)?.code, newPassword: password }
    expect((await app.post('/auth/password/reset', reset)).status).toBe(200)
    expect((await app.post('/auth/login', credentials)).body.secondStep).toEqual([
      'totp',
      'recovery-code',
    ])
  })
})

describe('A role that needs a second factor', () => {
  const auth = { secondFactor: { requiredFor: ['admin'] } }

  it.each([
    ['', {}],
    [', also where tokens alone decide', { token: { secret, invalidateOnPasswordChange: false } }],
  ])('can do nothing but set one up, then everything, and cannot lose it%s', async (_, more) => {
    const app = await factored({ auth: { ...auth, ...more } })
    const { token, id } = await app.admin()
    const me = (bearer: string) => app.call('GET', '/auth/me', undefined, bearer)
    expect((await me(token)).body.error).toBe('Set up a second factor.')
    expect((await app.makeKey(token)).body.error).toBe('Set up a second factor.')
    const { secret } = await app.enrol(token)
    expect((await me(token)).body.error).toBe('Sign in with a second factor.')
    const login = { identifier: 'admin@example.com', password }
    const { ticket } = (await app.post('/auth/login', login)).body
    app.later(30)
    const strong = (await app.post('/auth/login', { ticket, totp: app.codeOf(secret) })).body.data
      .token
    expect((await me(strong)).status).toBe(200)
    const kept = await app.call('DELETE', '/auth/totp', undefined, strong)
    expect([kept.status, kept.body.error]).toEqual([
      409,
      'Your role needs a second factor. Set up another one first.',
    ])
    expect((await app.post('/auth/login', login)).body.secondStep).toEqual([
      'totp',
      'recovery-code',
    ])
    await app.users.update(id, { role: 'user' })
    expect((await app.call('DELETE', '/auth/totp', undefined, strong)).status).toBe(200)
  })

  it('holds for keys: one whose owner gets the role needs the factor', async () => {
    const app = await factored({ auth })
    const Thing = defineModel('Thing', { fields: { text: z.string() } })
    app.app.mount('/things', createRouter({ model: Thing, middlewares: [app.auth.requireAuth] }))
    const { key } = (await app.makeKey(app.ann.token)).body.data
    const get = () => app.call('GET', '/things', undefined, key)
    expect((await get()).status).toBe(200)
    await app.users.update(app.ann.user._id, { role: 'admin' })
    expect((await get()).body.error).toBe('Set up a second factor.')
    await app.enrol()
    expect((await get()).status).toBe(200)
  })
})
