import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Fields } from '../../../src/index.ts'
import { type Service, service } from '../service.ts'
import { type Issuer, type Say, startIssuer } from './issuer.ts'
import { company } from './oidc-world.ts'

/** The libraries look at the clock of the machine. */
function standingClock(): (seconds: number) => void {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  return (seconds) => void vi.advanceTimersByTime(seconds * 1000)
}

const app = { now: () => Date.now() }
const unreachable = { status: 503, body: {} }

describe('The keys of an OpenID provider', () => {
  it('may rotate while a sign-in is under way, and no token of an old key is taken then', async () => {
    const later = standingClock()
    const { visitor, issuer, brought } = await company({ app })
    await brought()
    later(60)
    const asked = await visitor.begin('company')
    await issuer.rotate('two')
    issuer.say = { claims: { nonce: asked.searchParams.get('nonce') } }
    expect((await visitor.answer(asked, { code: 'c' })).has('code')).toBe(true)
    issuer.say = { header: { kid: 'one' } }
    later(60)
    expect(await brought()).toBe('error: sign_in_failed')
    issuer.say = { by: 'another key' }
    expect(await brought()).toBe('error: sign_in_failed')
  })

  it('are read again after five minutes, and for an unknown one after a minute', async () => {
    const later = standingClock()
    const { issuer, brought } = await company({ app })
    const isRight = async () => !(await brought()).startsWith('error')
    expect([await isRight(), issuer.keysRead]).toEqual([true, 1])
    later(59)
    await issuer.rotate('two')
    expect([await isRight(), issuer.keysRead]).toEqual([false, 1])
    later(1)
    expect([await isRight(), issuer.keysRead]).toEqual([true, 2])
    later(299)
    // As long as they are kept, nobody waits for a provider that can't tell them.
    issuer.say = { keys: unreachable }
    expect([await isRight(), issuer.keysRead]).toEqual([true, 2])
    later(1)
    expect([await brought(), issuer.keysRead]).toEqual(['error: temporarily_unavailable', 3])
    issuer.say = {}
    expect([await isRight(), issuer.keysRead]).toEqual([true, 4])
  })

  it.each<[string, (issuer: Issuer) => Say]>([
    ['for another use', (issuer) => published(issuer, { use: 'enc' })],
    ['for another operation', (issuer) => published(issuer, { key_ops: ['sign'] })],
    ['for another algorithm', (issuer) => published(issuer, { alg: 'ES384' })],
    ['of another type', (issuer) => published(issuer, { kty: 'oct', k: 'AAAA' })],
    [
      'twice',
      ({ published }) => ({ keys: { status: 200, body: { keys: [...published, ...published] } } }),
    ],
    ['nothing', () => ({ keys: { status: 200, body: { keys: [] } } })],
    ['no list', () => ({ keys: { status: 200, body: { keys: 'none' } } })],
    [
      'whose algorithm it does not describe',
      () => ({ description: { id_token_signing_alg_values_supported: ['RS256'] } }),
    ],
  ])('open nothing if it publishes them %s', async (_, say) => {
    const { issuer, brought } = await company()
    issuer.say = say(issuer)
    expect(await brought()).toBe('error: sign_in_failed')
  })

  it('are told apart by their types, if two are called alike', async () => {
    const { issuer, brought } = await company()
    const other = await startIssuer(Date.now, 'RS256')
    issuer.published = [...other.published, ...issuer.published]
    expect(await brought()).not.toContain('error')
  })
})

function published({ published }: Issuer, more: object): Say {
  return { keys: { status: 200, body: { keys: published.map((key) => ({ ...key, ...more })) } } }
}

describe('The keys for ID tokens that clients send', () => {
  async function google() {
    const later = standingClock()
    const issuer = await startIssuer(Date.now, 'RS256')
    const endpoints = { issuer: issuer.url, jwks: `${issuer.url}/jwks` }
    const auth = { social: { google: { clientId: 'atlas', endpoints } } }
    return { ...(await service({ app, unique: ['googleId'], auth })), later, issuer }
  }
  const send = async ({ post }: Pick<Service, 'post'>, issuer: Issuer, header: Fields = {}) => {
    issuer.say = { ...issuer.say, header, claims: { jti: crypto.randomUUID() } }
    return (await post('/auth/social/google', { idToken: await issuer.idToken() })).status
  }

  it('may rotate: an unknown one is asked for once in 30 seconds, however many tokens name one', async () => {
    const { later, issuer, ...it } = await google()
    expect([await send(it, issuer), issuer.keysRead]).toEqual([200, 1])
    await issuer.rotate('two')
    later(29)
    expect([await send(it, issuer), issuer.keysRead]).toEqual([401, 1])
    later(1)
    expect([await send(it, issuer), issuer.keysRead]).toEqual([200, 2])
    later(30)
    for (let tokens = 0; tokens < 20; tokens += 1) {
      expect(await send(it, issuer, { kid: `${tokens}` })).toBe(401)
    }
    expect(issuer.keysRead).toBe(3)
  })

  it.each([429, 500, 404])(
    'are asked for once in five seconds of a provider that answers %i, and known ones are taken meanwhile',
    async (status) => {
      const { later, issuer, ...it } = await google()
      expect(await send(it, issuer)).toBe(200)
      later(30)
      issuer.say = { keys: { status, body: {} } }
      const garbage = async () => {
        for (let tokens = 0; tokens < 20; tokens += 1) {
          expect(await send(it, issuer, { kid: `${tokens}` })).toBe(503)
        }
        return issuer.keysRead
      }
      expect(await garbage()).toBe(2)
      expect([await send(it, issuer), issuer.keysRead]).toEqual([200, 2])
      later(5)
      expect(await garbage()).toBe(3)
      // Nor is it asked more often once those that are known are too old.
      later(600)
      for (let signIns = 0; signIns < 5; signIns += 1) expect(await send(it, issuer)).toBe(503)
      expect(issuer.keysRead).toBe(4)
      issuer.say = {}
      later(5)
      expect([await send(it, issuer), issuer.keysRead]).toEqual([200, 5])
    },
  )
})

describe('The description of an OpenID provider', () => {
  it('is asked for once in five seconds while it cannot be had', async () => {
    const later = standingClock()
    const { issuer, visitor } = await company({ app })
    issuer.say = { described: unreachable }
    const begun = async () => (await visitor.open('/auth/login/oidc/company?returnTo=/in')).status
    for (let times = 0; times < 20; times += 1) expect(await begun()).toBe(503)
    expect(issuer.described).toBe(1)
    issuer.say = {}
    later(5)
    expect([await begun(), issuer.described]).toEqual([302, 2])
  })
})
