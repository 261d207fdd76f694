import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { usedTokenSchema } from '../../src/auth/providers/used-tokens.ts'
import { createAuthRouter, HttpError } from '../../src/index.ts'
import { everything } from '../../src/ports/store/filter.ts'
import { authOptions, userModel } from './accounts.ts'
import { credentialsOf, type OpenId, startOpenId } from './openid.ts'
import { parallel, type Service, type ServiceOptions, service, statuses } from './service.ts'

const refused = [401, 'The provider did not accept this sign-in.']
const told = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]

let openId: OpenId
beforeAll(async () => {
  openId = await startOpenId(['web'])
})
afterAll(() => openId.stop())

let tokens = 0

/** A genuine token, never the same. */
function token(more: object = {}): Promise<string> {
  tokens += 1
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: openId.issuer, aud: 'web', sub: 'g-1', iat: now, exp: now + 60 }
  return openId.forge({ ...claims, jti: `${tokens}`, ...more })
}

function app(google: object = {}, { auth, ...more }: ServiceOptions = {}): Promise<Service> {
  const endpoints = { issuer: openId.issuer, jwks: openId.jwks }
  const settings = { clientId: 'web', endpoints, ...google }
  return service({
    unique: ['googleId', 'appleId'],
    app: { now: () => Date.now() },
    ...more,
    auth: { social: { google: settings, apple: settings }, ...auth } as never,
  })
}
const signIn = async ({ post }: Service, body: object, provider = 'google') =>
  post(`/auth/social/${provider}`, body)

describe('the nonce of an ID token', () => {
  it.each(['google', 'apple'])('must be that of the body, for %s', async (provider) => {
    const it = await app()
    const answer = async (claim: unknown, nonce: unknown) => {
      const idToken = await token(claim === undefined ? {} : { nonce: claim })
      return (await signIn(it, { idToken, nonce }, provider)).status
    }
    expect(await answer('abc', 'abc')).toBe(200)
    expect(await answer(undefined, undefined)).toBe(200)
    const hashed = createHash('sha256').update('abc').digest('hex')
    expect(await answer(hashed, 'abc')).toBe(200)
    for (const [claim, nonce] of [
      ['abc', 'abd'],
      ['abc', undefined],
      ['abc', ''],
      ['abc', null],
      ['abc', 5],
      [undefined, 'abc'],
      ['', ''],
      [5, 5],
      ['abc', hashed],
    ]) {
      expect([claim, nonce, await answer(claim, nonce)]).toEqual([claim, nonce, 401])
    }
    expect(await answer('abc', { $ne: '' })).toBe(400)
  })

  it('is looked at by the setting', async () => {
    const strict = await app({ nonce: 'required' })
    expect(told(await signIn(strict, { idToken: await token() }))).toEqual(refused)
    const idToken = await token({ nonce: 'n' })
    expect((await signIn(strict, { idToken, nonce: 'n' })).status).toBe(200)
    const hash = createHash('sha256').update('n').digest('hex')
    const hashed = await app({ nonce: 'hashed' })
    const withHash = { idToken: await token({ nonce: hash }) }
    // Whoever has the token can read the hash in it.
    expect(told(await signIn(hashed, { ...withHash, nonce: hash }))).toEqual(refused)
    expect(told(await signIn(hashed, withHash))).toEqual(refused)
    expect(
      told(await signIn(hashed, { idToken: await token({ nonce: 'n' }), nonce: 'n' })),
    ).toEqual(refused)
    expect((await signIn(hashed, { ...withHash, nonce: 'n' })).status).toBe(200)
    const lax = await app({ nonce: 'ignored' })
    expect((await signIn(lax, { idToken: await token({ nonce: 'n' }) })).status).toBe(200)
    await expect(app({ nonce: true })).rejects.toThrow("Auth: 'social.google.nonce'")
  })

  it('of a real provider is checked', async () => {
    const it = await app()
    const idToken = await openId.idToken('web', 'g-2', {})
    expect(told(await signIn(it, { idToken }))).toEqual(refused)
    expect((await signIn(it, credentialsOf(idToken))).status).toBe(200)
  })
})

describe("a provider's keys", () => {
  it('are fetched at the first sign-in, and again after ten minutes', async () => {
    const own = await startOpenId(['web'])
    onTestFinished(() => own.stop())
    const it = await app({ endpoints: { issuer: own.issuer, jwks: own.jwks } })
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const signedIn = async () => {
      const iat = Math.floor(Date.now() / 1000)
      const claims = { iss: own.issuer, aud: 'web', sub: 'g-9', iat, exp: iat + 60 }
      const idToken = await own.forge({ ...claims, jti: crypto.randomUUID() })
      return (await signIn(it, { idToken })).status
    }
    expect(await signedIn()).toBe(200)
    vi.setSystemTime(Date.now() + 599_000)
    expect([await signedIn(), own.fetches()]).toEqual([200, 1])
    vi.setSystemTime(Date.now() + 2000)
    expect([await signedIn(), own.fetches()]).toEqual([200, 2])
    vi.setSystemTime(Date.now() + 601_000)
    await own.stop()
    expect(await signedIn()).toBe(503)
  })
})

describe('an ID token signs in once', () => {
  it('one after the other, and of many at once', async () => {
    const it = await app()
    const idToken = await token()
    expect((await signIn(it, { idToken })).status).toBe(200)
    expect(told(await signIn(it, { idToken }))).toEqual(refused)
    expect(told(await signIn(it, { idToken }, 'apple'))).toEqual(refused)
    const other = await token()
    const answers = await parallel(20, () => signIn(it, { idToken: other }))
    expect(statuses(answers)).toEqual({ 200: 1, 401: 19 })
  })

  it('whatever is done to the text of its signature', async () => {
    const it = await app()
    const idToken = await token()
    expect((await signIn(it, { idToken })).status).toBe(200)
    for (const end of ['=', '==', ' ', '\n']) {
      expect((await signIn(it, { idToken: `${idToken}${end}` })).status).toBe(401)
    }
    // The last character of 256 bytes in base64url holds four bits that count for nothing.
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (const end of last) {
      expect((await signIn(it, { idToken: idToken.slice(0, -1) + end })).status).toBe(401)
    }
  })

  it('also where it is sent to another instance on the same store', async () => {
    const store = sqliteStore()
    const [one, two] = [await app({}, { store }), await app({}, { store })]
    const idToken = await token()
    expect((await signIn(one, { idToken })).status).toBe(200)
    expect(told(await signIn(two, { idToken }))).toEqual(refused)
  })

  it('also where onLogin refuses it, but not where the server fails', async () => {
    let reason: Error | undefined = new Error('broken')
    const onLogin = () => {
      if (reason) throw reason
    }
    const it = await app({}, { auth: { onLogin } })
    const idToken = await token()
    expect((await signIn(it, { idToken })).status).toBe(500)
    reason = new HttpError(403, 'A second factor is needed.')
    expect((await signIn(it, { idToken })).status).toBe(403)
    reason = undefined
    expect(told(await signIn(it, { idToken }))).toEqual(refused)
    expect((await signIn(it, { idToken: await token() })).status).toBe(200)
  })

  it('and is forgotten some time after it has expired', async () => {
    const store = sqliteStore()
    let late = 0
    const it = await app({}, { store, app: { now: () => Date.now() + late } })
    for (let signIns = 0; signIns < 5; signIns += 1) {
      expect((await signIn(it, { idToken: await token() })).status).toBe(200)
    }
    const kept = () => store.collection(usedTokenSchema).count(everything)
    expect(await kept()).toBe(5)
    late = 200_000
    for (const left of [3, 2, 3]) {
      const exp = Math.floor(Date.now() / 1000) + 1000
      expect((await signIn(it, { idToken: await token({ exp }) })).status).toBe(200)
      await expect.poll(kept).toBe(left)
    }
  })
})

describe('the URLs of a provider', () => {
  const withGoogle = () =>
    userModel({ auth: { social: { google: { clientId: 'web' } } }, unique: ['googleId'] })
  const start = (google: object) => () =>
    createAuthRouter(
      authOptions(withGoogle(), [], { social: { google: { clientId: 'web', ...google } } }),
    )

  it.each([
    'http://example.com/keys',
    'http://10.0.0.1/keys',
    'http://localhost.example.com/keys',
    'http://127.0.0.1.example.com/keys',
    'file:///etc/passwd',
    'data:application/json,{"keys":[]}',
    'ftp://example.com/keys',
  ])('are not %s', (url) => {
    expect(start({ jwksUrl: url })).toThrow("Auth: 'social.google.jwksUrl'")
    expect(start({ endpoints: { jwks: url } })).toThrow("Auth: 'social.google.endpoints'")
  })

  it.each([
    'https://example.com/keys',
    'http://localhost:3000/keys',
    'http://127.0.0.1:1/keys',
    'http://[::1]:3000/keys',
  ])('may be %s', (url) => {
    const social = { google: { clientId: 'web', jwksUrl: url } }
    expect(() => createAuthRouter(authOptions(withGoogle(), [], { social }))).not.toThrow()
  })
})
