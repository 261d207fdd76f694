/**
 * What tokens and passwords cost beside their limits: `node -C fieldgate-source test/auth/speed.ts` prints it.
 *
 * @module
 */

import { createHmac, scrypt, timingSafeEqual } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jwtVerify } from 'jose'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { accessTokens, keysFor } from '../../src/auth/keys/signing.ts'
import { createApp, createAuthRouter } from '../../src/index.ts'
import { authOptions, password, secret, userModel } from './accounts.ts'

const ROUNDS = 5
const TOKENS = 2000
const AT_ONCE = 4
const SIGN_INS_MS = 4000

await printVerifying()
await printSignIns()

async function printVerifying(): Promise<void> {
  const settings = { expiresIn: 900, issuer: undefined, audience: undefined }
  const name = { model: 'User', mount: '/auth' }
  const keys = keysFor([secret], name, 'access token')
  const key = Buffer.from(secret)
  const bare = (token: string): boolean => {
    const [header, body, signature = ''] = token.split('.')
    const mac = createHmac('sha256', key).update(`${header}.${body}`).digest()
    const given = Buffer.from(signature, 'base64url')
    const claims = JSON.parse(Buffer.from(body ?? '', 'base64url').toString()) as { exp: number }
    return timingSafeEqual(given, mac) && claims.exp > 0
  }
  const signed = (token: string): string => {
    const unsigned = token.slice(0, token.lastIndexOf('.'))
    return `${unsigned}.${createHmac('sha256', key).update(unsigned).digest('base64url')}`
  }
  const figures: Record<string, number[]> = { cold: [], again: [], bare: [], jose: [] }
  for (let round = 0; round <= ROUNDS; round += 1) {
    const issuer = accessTokens(settings, name, keys, Date.now)
    const user = {
      sub: '0123456789abcdef01234567',
      ...{ role: 'user', pca: 0, sid: 'session', mfa: undefined },
    }
    const tokens = Array.from({ length: TOKENS }, () => issuer.issue(user))
    // Ours are signed with a derived key; the others' cost is measured on tokens that are good there.
    const others = tokens.map(signed)
    const fresh = accessTokens(settings, name, keys, Date.now)
    const one = tokens[0] ?? ''
    const times = {
      cold: await each(tokens, (token) => fresh.verify(token)),
      again: await each(tokens, () => fresh.verify(one)),
      bare: await each(others, bare),
      jose: await each(others, (token) => jwtVerify(token, key)),
    }
    // The first round warms up.
    if (round === 0) continue
    for (const [name, time] of Object.entries(times)) figures[name]?.push(time)
  }
  const told = Object.entries(figures).map(([name, times]) => `${name} ${median(times).toFixed(2)}`)
  console.log(`HS256 verify, µs a token, medians of ${ROUNDS}: ${told.join(', ')}`)
}

/** Microseconds for one of `items`. */
async function each<T>(items: readonly T[], work: (item: T) => unknown): Promise<number> {
  const start = performance.now()
  for (const item of items) {
    const result = work(item)
    if (result instanceof Promise) await result
  }
  return ((performance.now() - start) * 1000) / items.length
}

async function printSignIns(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-speed-'))
  const quiet = () => {}
  const app = createApp({
    store: sqliteStore({ path: join(folder, 'speed.db') }),
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    env: {},
  })
  const options = authOptions(userModel(), [], { password: {} })
  app.mount('/auth', createAuthRouter(options).router)
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const request = new Request(`http://localhost/auth/${path}`, {
      ...init,
      body: JSON.stringify(body),
    })
    const response = await app.handle(request)
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
    await response.text()
  }
  const emails = Array.from({ length: AT_ONCE }, (_, index) => `user${index}@example.com`)
  for (const email of emails) await post('register', { email, password })
  const bare = () =>
    new Promise<void>((resolve, reject) => {
      const cost = { N: 16384, r: 8, p: 5, maxmem: 64 * 1024 * 1024 }
      scrypt(password, 'sixteen bytes at', 32, cost, (error) => (error ? reject(error) : resolve()))
    })
  const limits: number[] = []
  const ours: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    limits.push(await perSecond(bare))
    ours.push(await perSecond((lane) => post('login', { email: emails[lane], password })))
  }
  await app.close()
  await rm(folder, { recursive: true, force: true })
  const ratios = ours.map((figure, round) => figure / (limits[round] ?? Number.NaN))
  console.log(
    `sign-ins a second, ${AT_ONCE} at once, medians of ${ROUNDS}: ${median(ours).toFixed(2)}, ` +
      `scrypt of node:crypto alone ${median(limits).toFixed(2)}, ratio ${median(ratios).toFixed(3)}`,
  )
}

/** How often `work` ends in a second, several lanes at once. */
async function perSecond(work: (lane: number) => Promise<void>): Promise<number> {
  const start = performance.now()
  let done = 0
  const lanes = Array.from({ length: AT_ONCE }, async (_, lane) => {
    while (performance.now() - start < SIGN_INS_MS) {
      await work(lane)
      done += 1
    }
  })
  await Promise.all(lanes)
  return (done * 1000) / (performance.now() - start)
}

function median(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
