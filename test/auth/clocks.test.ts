import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { emailCode } from '../../src/methods/email-code/index.ts'
import { password } from './accounts.ts'
import { parallel, type Service, service } from './service.ts'

const HOUR = 3600
const email = 'ann@example.com'
const login = ({ post }: Service, guess = password) =>
  post('/auth/login', { email, password: guess })
const refresh = ({ post }: Service, refreshToken: string) =>
  post('/auth/token/refresh', { refreshToken })
const me = ({ call }: Service, token: string) => call('GET', '/auth/me', undefined, token)

describe('a clock that steps by an hour', () => {
  it.each([HOUR, -HOUR])('makes no lock that does not end (%i s)', async (step) => {
    const app = await service()
    await app.register(email)
    await parallel(10, () => login(app, 'a wrong password'))
    app.later(step)
    expect((await login(app)).status).toBe(step > 0 ? 200 : 401)
    // By then the clock shows 900 s after the lock began.
    app.later(900 - step)
    expect((await login(app)).status).toBe(200)
  })

  it.each([HOUR, -HOUR])(
    'makes no code that does not end, and none that locks out (%i s)',
    async (step) => {
      const app = await service()
      await app.register(email)
      const forgot = () => app.post('/auth/password/forgot', { identifier: email })
      const reset = () =>
        app.post('/auth/password/reset', {
          identifier: email,
          code: app.sent.at(-1)?.code,
          newPassword: 'another password',
        })
      await forgot()
      app.later(step + 601)
      // Stepped back, the window is still open; it ends where its clock says.
      if (step < 0) app.later(-step)
      expect((await reset()).status).toBe(400)
      await forgot()
      app.later(step)
      await forgot()
      expect((await reset()).status).toBe(200)
    },
  )

  it('ends no session and forgets no reuse', async () => {
    const app = await service()
    const first = (await app.register(email)).refreshToken
    app.later(-HOUR)
    const second = (await refresh(app, first)).body.data.refreshToken
    app.later(2 * HOUR)
    const third = await refresh(app, second)
    expect(third.status).toBe(200)
    expect((await me(app, third.body.data.token)).status).toBe(200)
    app.later(11)
    expect((await refresh(app, first)).status).toBe(401)
    expect((await refresh(app, third.body.data.refreshToken)).status).toBe(401)
  })
})

describe('a clock that was a year ahead', () => {
  const YEAR = 365 * 86_400
  const identifier = email

  it('keeps nobody from the next code once it is set back, and its codes are over', async () => {
    const app = await service({
      auth: { methods: [emailCode({ signUp: true })], otp: { resendSeconds: 60 } },
    })
    await app.register(email)
    const codes: string[] = []
    const ask = async (path: string, to: string) => {
      const before = app.sent.length
      await app.post(path, { identifier: to })
      codes.push(app.sent[before]?.code ?? 'none')
      return codes.at(-1)
    }
    const all = async () => [
      await ask('/auth/password/forgot', email),
      await ask('/auth/login/code', email),
      await ask('/auth/login/code', 'new@example.com'),
    ]
    app.later(YEAR)
    await all()
    app.later(-YEAR)
    const [code, otp] = await all()
    expect(codes).not.toContain('none')
    expect(new Set(codes).size).toBe(6)
    // The pause between two codes is there again, and the codes of before are not.
    expect(await all()).toEqual(['none', 'none', 'none'])
    const [early, earlyOtp] = codes
    const signIn = async (typed?: string) =>
      (await app.post('/auth/login', { identifier, otp: typed })).status
    expect([await signIn(earlyOtp), await signIn(otp)]).toEqual([401, 200])
    const reset = async (typed?: string) =>
      (
        await app.post('/auth/password/reset', {
          ...{ identifier, code: typed, newPassword: 'another password' },
        })
      ).status
    app.later(61)
    const next = (await ask('/auth/password/forgot', email)) ?? code
    expect([await reset(early), await reset(next)]).toEqual([400, 200])
  })
})

describe('instances whose clocks are four seconds apart', () => {
  it('take what the other one has made', async () => {
    const store = sqliteStore()
    const behind = await service({ store })
    const ahead = await service({ store })
    ahead.later(4)
    const { token, refreshToken } = await ahead.register(email)
    expect((await me(behind, token)).status).toBe(200)
    const rotated = (await refresh(behind, refreshToken)).body.data
    expect((await me(ahead, rotated.token)).status).toBe(200)
    expect((await refresh(ahead, refreshToken)).body.data.refreshToken).toBe(rotated.refreshToken)
    await behind.post('/auth/password/forgot', { identifier: email })
    const reset = { identifier: email, code: behind.sent[0]?.code, newPassword: 'another password' }
    expect((await ahead.post('/auth/password/reset', reset)).status).toBe(200)
    const fresh = (await login(behind, 'another password')).body.data
    expect((await me(behind, fresh.token)).status).toBe(200)
    expect((await me(ahead, fresh.token)).status).toBe(200)
  })

  it('agree on a lock to within those seconds', async () => {
    const store = sqliteStore()
    const behind = await service({ store })
    const ahead = await service({ store })
    ahead.later(4)
    await ahead.register(email)
    await parallel(10, () => login(behind, 'a wrong password'))
    expect((await login(ahead)).status).toBe(401)
    ahead.later(896)
    behind.later(896)
    expect((await login(behind)).status).toBe(401)
    expect((await login(ahead)).status).toBe(200)
  })
})
