import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createAuthRouter, type Store } from '../../src/index.ts'
import { authOptions, userModel } from './accounts.ts'
import { type Answer, parallel, type Service, service } from './service.ts'

const before = 'the secret of last year, 32 characters or more'
const after = 'quite another one, to be used from now on'

/** An app with these secrets on `store`, as one of several instances. */
const withSecrets = (store: Store, secret: string | readonly string[], more: object = {}) =>
  service({ store, auth: { token: { secret }, ...more } })
const me = async ({ call }: Service, token: string): Promise<string> => {
  const { status, body } = await call('GET', '/auth/me', undefined, token)
  return status === 200 ? '200' : `${status} ${body.error}`
}
const refresh = ({ post }: Service, refreshToken: string): Promise<Answer> =>
  post('/auth/token/refresh', { refreshToken })
const kidOf = (token: string) => decodeProtectedHeader(token).kid
const email = 'ann@example.com'
const invalid = '401 Invalid or expired token.'

describe('token.secret as a list', () => {
  it('the first signs, all verify: nobody is signed out by a rotation with overlap', async () => {
    const store = sqliteStore()
    const old = await withSecrets(store, before)
    const ann = await old.register(email)
    const both = await withSecrets(store, [after, before])
    expect(await me(both, ann.token)).toBe('200')
    const next = (await refresh(both, ann.refreshToken)).body.data
    expect([kidOf(next.token) === kidOf(ann.token), await me(both, next.token)]).toEqual([
      false,
      '200',
    ])
    const done = await withSecrets(store, after)
    expect(await me(done, next.token)).toBe('200')
    expect((await refresh(done, next.refreshToken)).status).toBe(200)
    expect(await me(done, ann.token)).toBe(invalid)
  })

  it('keeps refresh tokens that are never replaced', async () => {
    const store = sqliteStore()
    const fixed = { refresh: { enabled: true, rotate: false } }
    const { refreshToken } = await (await withSecrets(store, before, fixed)).register(email)
    const both = await withSecrets(store, [after, before], fixed)
    for (const _ of [1, 2]) {
      const answer = await refresh(both, refreshToken)
      expect([answer.status, answer.body.data?.refreshToken]).toEqual([200, refreshToken])
    }
    const gone = await refresh(await withSecrets(store, after, fixed), refreshToken)
    expect(gone.status).toBe(401)
  })

  it('keeps the grace: the token from before gets its one successor after the rotation', async () => {
    const store = sqliteStore()
    const old = await withSecrets(store, before)
    const { refreshToken } = await old.register(email)
    const next = (await refresh(old, refreshToken)).body.data.refreshToken
    const both = await withSecrets(store, [after, before])
    expect((await refresh(both, refreshToken)).body.data.refreshToken).toBe(next)
    expect((await refresh(both, next)).status).toBe(200)
  })

  it('still knows a token that is used again, and a sign-out', async () => {
    const store = sqliteStore()
    const old = await withSecrets(store, before)
    const ann = await old.register(email)
    const next = (await refresh(old, ann.refreshToken)).body.data
    const both = await withSecrets(store, [after, before])
    both.later(11)
    expect((await refresh(both, ann.refreshToken)).status).toBe(401)
    expect(await me(both, next.token)).toBe('401 Session ended. Sign in again.')
    const bob = await old.register('bob@example.com')
    await both.post('/auth/logout', { refreshToken: bob.refreshToken })
    expect(await me(both, bob.token)).toBe('401 Session ended. Sign in again.')
  })

  it('ends no session because an instance does not know the newest secret yet', async () => {
    const store = sqliteStore()
    const early = await withSecrets(store, [after, before])
    const late = await withSecrets(store, before)
    const { refreshToken } = await late.register(email)
    const next = (await refresh(early, refreshToken)).body.data.refreshToken
    for (const token of [refreshToken, next]) {
      expect((await refresh(late, token)).status).toBe(401)
      await late.post('/auth/logout', { refreshToken: token })
    }
    late.later(11)
    expect((await refresh(late, refreshToken)).status).toBe(401)
    expect((await refresh(early, next)).status).toBe(200)
  })

  it('of many refreshes during a rotation all get the one successor', async () => {
    const store = sqliteStore()
    const first = await withSecrets(store, [before, after])
    const second = await withSecrets(store, [after, before])
    const { refreshToken } = await first.register(email)
    const answers = await parallel(40, (index) => refresh(index % 2 ? first : second, refreshToken))
    const heirs = new Set(answers.map(({ body }) => body.data?.refreshToken))
    expect(heirs.size).toBe(1)
    for (const app of [first, second]) {
      expect((await refresh(app, [...heirs][0])).status).toBe(200)
    }
  })

  it('kills no pending code, and a repeated request sends the same one', async () => {
    const store = sqliteStore()
    const old = await withSecrets(store, before, { otp: {} })
    await old.register(email)
    await old.post('/auth/password/forgot', { identifier: email })
    const [{ code } = { code: '' }] = old.sent
    const both = await withSecrets(store, [after, before])
    both.later(61)
    await both.post('/auth/password/forgot', { identifier: email })
    expect(both.sent.map((sent) => sent.code)).toEqual([code])
    const reset = { identifier: email, code, newPassword: 'another password' }
    const unknown = await withSecrets(store, after)
    expect((await unknown.post('/auth/password/reset', reset)).status).toBe(400)
    expect((await both.post('/auth/password/reset', reset)).status).toBe(200)
  })

  it('what is signed names its key, and the name tells nothing of the secret', async () => {
    const app = await withSecrets(sqliteStore(), [after, before])
    const { token, refreshToken, user } = await app.register(email)
    await app.post('/auth/password/forgot', { identifier: email })
    const kid = String(kidOf(token))
    const [session] = (await app.stored(user._id)).refreshTokens as { hash: string }[]
    const { otpHash } = await app.stored(user._id)
    for (const text of [refreshToken, session?.hash, otpHash]) expect(text).toContain(`${kid}.`)
    expect(kid).toMatch(/^[\w-]{8,}$/)
    const same = await withSecrets(sqliteStore(), after)
    const other = await withSecrets(sqliteStore(), `${after}.`)
    expect(kidOf((await same.register(email)).token)).toBe(kid)
    expect(kidOf((await other.register(email)).token)).not.toBe(kid)
  })

  it('a kid chooses among the own keys, and nothing else', async () => {
    const app = await withSecrets(sqliteStore(), [after, before])
    const { token } = await app.register(email)
    const [header = '', body, signature] = token.split('.')
    const known = JSON.parse(atob(header))
    const kids = [
      undefined,
      null,
      '',
      0,
      ['x'],
      {},
      '__proto__',
      'constructor',
      '../../dev/null',
      before,
    ]
    for (const kid of kids) {
      const forged = btoa(JSON.stringify({ ...known, kid })).replace(/=+$/, '')
      expect([kid, await me(app, `${forged}.${body}.${signature}`)]).toEqual([kid, invalid])
    }
    expect(decodeJwt(token).sub).toBeTruthy()
    expect(await me(app, token)).toBe('200')
  })
})

describe('secrets that are refused at start-up', () => {
  const good = [after, before]
  const make = (secret: unknown) => () =>
    createAuthRouter(authOptions(userModel(), [], { token: { secret } } as never))

  it.each<[string, unknown, RegExp]>([
    ['no secret', [], /^Auth: 'token\.secret' must name at least one/],
    [
      'a short one in a list',
      [after, 'short'],
      /^Auth: 'token\.secret\[1\]' must have at least 32/,
    ],
    ['no text in a list', [after, 5], /^Auth: 'token\.secret\[1\]' must have at least 32/],
    ['a list in a list', [[after]], /^Auth: 'token\.secret\[0\]' must have at least 32/],
    ['one twice', [...good, after], /^Auth: 'token\.secret' names one secret twice/],
    ['an object', { 0: after }, /^Auth: 'token\.secret' must have at least 32/],
  ])('%s', (_, secret, message) => {
    expect(make(secret)).toThrow(TypeError)
    expect(make(secret)).toThrow(message)
  })

  it.each<[string, unknown, string]>([
    ['one letter', 'a'.repeat(32), 'token.secret'],
    ['two letters, long', 'ab'.repeat(500), 'token.secret'],
    ['seven characters', '1234567'.repeat(6), 'token.secret'],
    ['one word over and over', 'Passw0rd'.repeat(4), 'token.secret'],
    ['one word of eight letters', 'keyboard'.repeat(4), 'token.secret'],
    ['few characters that repeat no word', 'aabbabaabbbabababbaaababbabbaaab', 'token.secret'],
    ['a weak one in a list', [after, 'x'.repeat(64)], 'token.secret[1]'],
  ])('warns of %s', async (_, secret, option) => {
    const { log } = await service({ auth: { token: { secret } } as never })
    expect(log.join()).toContain(`'${option}' is easy to guess`)
  })

  it('takes what openssl and the like give', async () => {
    const { log } = await service({ auth: { token: { secret: good } } as never })
    expect(log.join()).not.toContain('easy to guess')
    for (const secret of [
      good,
      [after],
      'b7c1f0a2e9d84c3fb7c1f0a2e9d84c3f',
      'Zm9vYmFyYmF6cXV4cXV1eGNvcmdlZ3JhdWx0',
      '48193027561029384756102938475610',
    ]) {
      expect(make(secret)).not.toThrow()
    }
  })
})
