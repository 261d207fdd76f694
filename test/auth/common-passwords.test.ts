import { describe, expect, it } from 'vitest'
import { commonPasswords } from '../../adapters/passwords/common.ts'
import { commonOnes } from '../../src/auth/keys/passwords.ts'
import { createAuthRouter, type Fields, HttpError } from '../../src/index.ts'
import { authOptions, cheap, password, userModel } from './accounts.ts'
import { type Service, service } from './service.ts'

const common = [400, 'Password is too common.']
const personal = [400, 'Password must not be built from your own details.']
const told = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]

const register = ({ post }: Service, plain: string, more: object = {}) =>
  post('/auth/register', { email: 'kim.long@example.com', password: plain, ...more })

/** Sets `plain` by each route that sets one: what they answer. */
async function everywhere(app: Service, plain: string): Promise<unknown[]> {
  const email = 'ann.smith@example.com'
  const { token } = await app.register(email, { phone: '+4930123456' })
  await app.post('/auth/password/forgot', { identifier: email })
  const reset = { identifier: email, code: app.sent.at(-1)?.code, newPassword: plain }
  const change = { currentPassword: password, newPassword: plain }
  return [
    told(await app.post('/auth/password/reset', reset)),
    told(await app.post('/auth/password/change', change, token)),
    told(await app.post('/auth/register', { email: 'kim@example.com', password: plain })),
  ]
}

describe('common passwords', () => {
  it('are refused on sign-up, reset and change, in any case', async () => {
    for (const plain of [
      'password',
      'PassWord',
      '12345678',
      'qwertyuiop',
      'ＰＡＳＳＷＯＲＤ',
      '11111111',
      '00000000',
      'AAAAaaaaaaaa',
    ]) {
      const answers = await everywhere(await service(), plain)
      expect([plain, answers]).toEqual([plain, [common, common, common]])
    }
  })

  it('are at least 3,000 of each usual length', async () => {
    expect((await commonPasswords(8)).size).toBeGreaterThan(15_000)
    expect((await commonPasswords(9)).size).toBeGreaterThan(3000)
    const isCommon = commonOnes({ common: true, minLength: 8 }, console)
    const top = [...(await commonPasswords(8))].slice(0, 3000)
    expect((await Promise.all(top.map(isCommon))).every(Boolean)).toBe(true)
    expect(await isCommon('correct horse battery')).toBe(false)
  })

  it('are told before the store is asked, so that nothing tells of accounts', async () => {
    const app = await service()
    await app.register('ann@example.com')
    const reset = { code: '000000', newPassword: 'password' }
    for (const email of ['ann@example.com', 'nobody@example.com']) {
      expect(told(await app.post('/auth/register', { email, password: 'password' }))).toEqual(
        common,
      )
      const identified = { ...reset, identifier: email }
      expect(told(await app.post('/auth/password/reset', identified))).toEqual(common)
    }
    await app.app.close()
    expect(
      told(await app.post('/auth/register', { email: 'a@b.example', password: '12345678' })),
    ).toEqual(common)
  })

  it('come from a set or function of the option, or are none', async () => {
    const withCommon = (list: never) => service({ auth: { password: { ...cheap, common: list } } })
    const own = new Set(['open sesame'])
    for (const list of [own, () => own, async () => own]) {
      const app = await withCommon(list as never)
      expect(told(await register(app, 'Open Sesame'))).toEqual(common)
      expect((await register(app, 'password')).status).toBe(201)
    }
    expect((await register(await withCommon(false as never), 'password')).status).toBe(201)
    const broken = (value: unknown) => () =>
      createAuthRouter(
        authOptions(userModel(), [], { password: { ...cheap, common: value } as never }),
      )
    expect(broken(['password'])).toThrow("Auth: 'password.common'")
    expect(broken('list')).toThrow("Auth: 'password.common'")
  })
})

describe('passwords built from what is known of the account', () => {
  it.each([
    ['the address', 'Kim.Long@Example.com'],
    ['its local part and digits', 'kim.long2024'],
    ['its domain', 'example.com!'],
    ['the number', '+49 30 123 456'],
    ['the name of the app', 'AtlasAtlas1'],
  ])('are refused: %s', async (_, plain) => {
    const app = await service({ auth: { appName: 'Atlas' } })
    expect(told(await register(app, plain, { phone: '+4930123456' }))).toEqual(personal)
  })

  it('are refused on reset and change too, by what is stored', async () => {
    const [reset, change] = await everywhere(await service(), '+4930123456')
    expect([reset, change]).toEqual([personal, personal])
  })

  it('may hold a part among others', async () => {
    const app = await service({ auth: { appName: 'Atlas' } })
    expect((await register(app, 'kim.long rows upstream')).status).toBe(201)
  })
})

describe('password.check', () => {
  const checking = (
    check: (plain: string, context: { user: Fields; request: Request }) => unknown,
  ) => service({ auth: { password: { ...cheap, check: check as never } } })

  it('refuses with its message, sync or async, before anything is hashed', async () => {
    for (const check of [() => 'Not that one.', async () => 'Not that one.']) {
      let hashes = 0
      const hash = (plain: string) => {
        hashes += 1
        return cheap.hash(plain)
      }
      const app = await service({ auth: { password: { ...cheap, hash, check } } })
      expect(told(await register(app, password))).toEqual([400, 'Not that one.'])
      expect([hashes, await app.users.count()]).toEqual([0, 0])
    }
  })

  it('sees the account without its secrets, and the request', async () => {
    const seen: Fields[] = []
    const app = await checking((plain, { user, request }) => {
      expect(user).not.toHaveProperty('password')
      seen.push({ plain, email: user.email, path: new URL(request.url).pathname })
      return undefined
    })
    await everywhere(app, 'a better password')
    const email = 'ann.smith@example.com'
    expect(seen).toEqual([
      { plain: password, email, path: '/auth/register' },
      { plain: 'a better password', email, path: '/auth/password/reset' },
      { plain: 'a better password', email: 'kim@example.com', path: '/auth/register' },
    ])
  })

  it.each<[what: string, habit: (request: never) => void]>([
    ['body.role', ({ body }: Fields) => Object.assign(body as Fields, { role: 'admin' })],
    ['query.role', ({ query }: Fields) => Object.assign(query as Fields, { role: 'admin' })],
    ['user', (request: Fields) => Object.assign(request, { user: {} })],
  ])('may not write to the request, where nobody would read it: %s', async (what, habit) => {
    const app = await checking((_, { request }) => habit(request as never))
    expect((await register(app, password)).status).toBe(500)
    expect(app.log.join()).toContain(`a guard or hook writes to request.${what}`)
    expect(await app.users.count()).toBe(0)
  })

  it('is asked on a reset only when the code was right', async () => {
    let asked = 0
    const app = await checking(() => {
      asked += 1
      return asked > 1 ? 'Not that one.' : undefined
    })
    await app.register('ann@example.com')
    const reset = (code: unknown) =>
      app.post('/auth/password/reset', {
        identifier: 'ann@example.com',
        code,
        newPassword: 'a better password',
      })
    expect(told(await reset('x'))).toEqual([400, 'That code is invalid or has expired.'])
    expect(asked).toBe(1)
    await app.post('/auth/password/forgot', { identifier: 'ann@example.com' })
    expect(told(await reset(app.sent.at(-1)?.code))).toEqual([400, 'Not that one.'])
  })

  it('may throw an HttpError, and a change that it refuses counts no guess', async () => {
    let refuse = false
    const app = await checking(() => {
      if (refuse) throw new HttpError(422, 'Seen in a breach.')
    })
    const { token, user } = await app.register('ann@example.com')
    refuse = true
    const change = { currentPassword: password, newPassword: 'a better password' }
    expect(told(await app.post('/auth/password/change', change, token))).toEqual([
      422,
      'Seen in a breach.',
    ])
    expect((await app.stored(user._id)).failedLoginAttempts).toBe(0)
  })
})
