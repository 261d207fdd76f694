import { describe, expect, it } from 'vitest'
import { hasher as noble } from '../../adapters/hashers/noble.ts'
import { hasher as native } from '../../adapters/hashers/scrypt.ts'
import { Hashing } from '../../src/auth/keys/hashing.ts'
import { cheap, password } from './accounts.ts'
import { parallel, service, statuses } from './service.ts'

describe('answers, hash format', () => {
  it('make and take the same stored form', async () => {
    for (const [maker, taker] of [
      [native, noble],
      [noble, native],
    ] as const) {
      const stored = await maker.hash('pässword')
      expect(stored).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}$/)
      expect(await taker.verify('pässword', stored)).toBe(true)
      expect(await taker.verify('password', stored)).toBe(false)
      expect(taker.needsRehash(stored)).toBe(false)
    }
  })

  it('give false, not an error, for what is no hash or asks for too much', async () => {
    const salt = 'A'.repeat(22)
    const hash = 'A'.repeat(43)
    for (const stored of [
      '',
      'password',
      '$2b$10$abcdefghijklmnopqrstuv',
      `scrypt$16383$8$5$${salt}$${hash}`,
      `scrypt$0$8$5$${salt}$${hash}`,
      `scrypt$16384$0$5$${salt}$${hash}`,
      `scrypt$16777216$8$1$${salt}$${hash}`,
      `scrypt$16384$8$5$${salt}$`,
      `scrypt$16384$8$5$${salt}$${hash}$x`,
    ]) {
      expect(await native.verify('', stored)).toBe(false)
      expect(native.needsRehash(stored)).toBe(true)
    }
  })
})

describe('bounded hashing', () => {
  /** Work that ends when it is told to. */
  function held() {
    const ends: (() => void)[] = []
    return { work: () => new Promise<void>((resolve) => ends.push(resolve)), ends }
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  it('runs as many computations at once as there are cores, the others in turn', async () => {
    const hashing = new Hashing(() => 2)
    const { work, ends } = held()
    const all = Promise.all(Array.from({ length: 5 }, () => hashing.run(work)))
    for (const running of [2, 3, 4, 5]) {
      await turn()
      expect(ends).toHaveLength(running)
      ends[running - 2]?.()
    }
    ends[4]?.()
    await all
  })

  it('goes on after a computation that failed', async () => {
    const hashing = new Hashing(() => 1)
    await expect(
      hashing.run(() => {
        throw new Error('broken')
      }),
    ).rejects.toThrow('broken')
    expect(await hashing.run(() => 5)).toBe(5)
  })

  it('refuses with 503 and Retry-After what the queue does not hold, and counts nothing then', async () => {
    const { work, ends } = held()
    const app = await service({
      auth: {
        password: {
          hash: cheap.hash,
          verify: async (...each) => {
            await work()
            return cheap.verify(...each)
          },
        },
      },
    })
    const { user } = await app.register('ann@example.com')
    const nobody = () => app.post('/auth/login', { email: 'nobody@example.com', password: 'wrong' })
    const flood = parallel(600, nobody)
    while (ends.length === 0) await turn()
    const refused = await nobody()
    expect([refused.status, refused.body.error]).toEqual([
      503,
      'The service is unavailable. Try again shortly.',
    ])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    // Who asks for another account takes a place of those who have the most.
    const owner = app.post('/auth/login', { email: 'ann@example.com', password })
    expect((await app.stored(user._id)).failedLoginAttempts).toBe(0)
    const opener = setInterval(() => {
      for (const end of ends.splice(0)) end()
    }, 1)
    expect((await owner).status).toBe(200)
    const { 401: wrong = 0, 503: busy = 0, ...others } = statuses(await flood)
    expect(others).toEqual({})
    expect(wrong).toBeGreaterThanOrEqual(512)
    expect(busy).toBe(600 - wrong)
    expect(busy).toBeGreaterThan(60)
    clearInterval(opener)
  })

  it('uses the hasher of the app', async () => {
    const hasher = {
      hash: async () => 'own',
      verify: async (plain: string, stored: string) => stored === 'own' && plain === password,
      needsRehash: () => false,
    }
    const app = await service({ auth: { password: {} }, app: { hasher } })
    const { user } = await app.register('ann@example.com')
    expect((await app.stored(user._id)).password).toBe('own')
    expect((await app.post('/auth/login', { email: 'ann@example.com', password })).status).toBe(200)
  })
})
