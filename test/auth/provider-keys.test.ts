import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as fc from 'fast-check'
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { googleProvider } from '../../src/auth/providers/id-token.ts'
import type { Fields } from '../../src/index.ts'
import { runs } from '../runs.ts'

const ISSUER = 'https://accounts.example.com'
const NOW = 1_800_000_000

const pair = () => generateKeyPair('RS256', { extractable: true })
const [first, second] = await Promise.all([pair(), pair()])
const [firstKey, secondKey] = await Promise.all(
  [first, second].map((one) => exportJWK(one.publicKey)),
)

let published: unknown[] = []
let fetches = 0
const server = createServer((_, response) => {
  fetches += 1
  response.setHeader('connection', 'close').end(JSON.stringify({ keys: published }))
}).listen(0, '127.0.0.1')
beforeAll(() => server.listening || once(server, 'listening'))
afterAll(() => void server.close())

/** Google as a provider whose keys are those of the server. */
function google() {
  const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return googleProvider('google', 'googleId', {
    ...{ clientId: 'web', jwksUrl, nonce: 'ignored' },
    endpoints: { issuer: ISSUER },
  })
}

/** Without what is undefined. */
const written = (value: object): object => JSON.parse(JSON.stringify(value))

async function signed(header: object, claims: object, { privateKey } = first): Promise<string> {
  const usual = { iss: ISSUER, aud: 'web', sub: 'ann', iat: NOW, exp: NOW + 60 }
  // By hand: jose would refuse to sign some of them.
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'RS256', kid: 'a', ...written(header) })}.${part({ ...usual, ...written(claims) })}`
  const bytes = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', privateKey, Buffer.from(text))
  return `${text}.${Buffer.from(bytes).toString('base64url')}`
}

const statusOf = (provider: ReturnType<typeof google>, idToken: string) =>
  provider
    .profile({ idToken }, () => NOW * 1000)
    .then(
      () => 200,
      ({ status }: { status: number }) => status,
    )

describe("a provider's published keys", () => {
  it('accept what jose accepts, whatever headers, claims and keys there are', async () => {
    const rarely = <T>(value: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
    const time = rarely(
      fc.constantFrom(NOW - 6, NOW - 5, NOW - 4, NOW, NOW + 5, NOW + 6, '5', null, 1.5),
    )
    const kid = rarely(fc.constantFrom('a', 'b', 5, ''))
    const header = fc.record({
      kid,
      alg: rarely(fc.constantFrom('HS256', 'none', 'RS512', 5)),
      crit: rarely(fc.constantFrom(['b64'], ['exp'], [])),
      b64: rarely(fc.constant(false)),
    })
    const issuer = rarely(fc.constantFrom(`${ISSUER}/`, [ISSUER]))
    const claims = fc.record({ iat: time, exp: time, nbf: time, iss: issuer })
    const key = fc.record({
      of: fc.oneof(fc.constant(firstKey), rarely(fc.constant(secondKey))),
      more: fc.record({
        kid,
        use: rarely(fc.constantFrom('sig', 'enc')),
        alg: rarely(fc.constantFrom('RS256', 'RS512')),
        key_ops: rarely(fc.constantFrom(['verify'], ['sign'], [])),
      }),
    })
    const keys = fc.array(key, { minLength: 1, maxLength: 2 })
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(header, claims, keys, async (header, claims, keys) => {
        published = keys.map(({ of = firstKey, more }) => ({ ...of, kid: 'a', ...written(more) }))
        const token = await signed(header, claims)
        const here = await statusOf(google(), token)
        const there = await jwtVerify(token, createLocalJWKSet({ keys: published as never }), {
          ...{ algorithms: ['RS256'], issuer: ISSUER, clockTolerance: 5 },
          requiredClaims: ['sub', 'aud', 'iat', 'exp'],
          currentDate: new Date(NOW * 1000),
        }).catch(() => undefined)
        // A token from the future is not refused by jose.
        const isThere = there && Number(there.payload.iat) <= NOW + 5
        expect(here).toBe(isThere ? 200 : 401)
        accepted += here === 200 ? 1 : 0
      }),
      { numRuns: runs(300) },
    )
    expect(accepted).toBeGreaterThan(runs(300) / 20)
  })

  it('are fetched again for a new one, but at most every 30 seconds', async () => {
    const clock = vi.spyOn(Date, 'now')
    const start = Date.now()
    const at = (seconds: number) => clock.mockReturnValue(start + seconds * 1000)
    published = [{ ...firstKey, kid: 'a' }]
    fetches = 0
    const provider = google()
    const next = await signed({ kid: 'b' }, {}, second)
    at(0)
    expect(await statusOf(provider, await signed({}, {}))).toBe(200)
    published.push({ ...secondKey, kid: 'b' })
    at(29)
    expect([await statusOf(provider, next), fetches]).toEqual([401, 1])
    at(31)
    expect([await statusOf(provider, next), fetches]).toEqual([200, 2])
    // A key that is withdrawn is known for ten minutes at most.
    published.shift()
    at(31 + 599)
    expect([await statusOf(provider, await signed({}, {})), fetches]).toEqual([200, 2])
    at(31 + 601)
    expect([await statusOf(provider, await signed({}, {})), fetches]).toEqual([401, 3])
    clock.mockRestore()
  })

  it('are a 503 where they are too short, or no keys', async () => {
    const weak = await crypto.subtle.generateKey(
      {
        ...{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 1024 },
        publicExponent: new Uint8Array([1, 0, 1]),
      },
      true,
      ['sign', 'verify'],
    )
    const bad: Fields[] = [await exportJWK(weak.publicKey), { kty: 'RSA', n: '!', e: 'AQAB' }]
    for (const key of bad) {
      published = [{ ...key, kid: 'a' }]
      const token = await signed({}, {}, weak)
      expect(await statusOf(google(), token)).toBe(503)
    }
  })
})

it('the tokens of this test are as jose makes them', async () => {
  published = [{ ...firstKey, kid: 'a' }]
  const token = await new SignJWT({ sub: 'ann', aud: 'web', iss: ISSUER, iat: NOW, exp: NOW + 60 })
    .setProtectedHeader({ alg: 'RS256', kid: 'a' })
    .sign(first.privateKey)
  expect(await statusOf(google(), token)).toBe(200)
})
