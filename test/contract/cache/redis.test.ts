import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { createClient } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { redisCache } from '../../../adapters/caches/redis.ts'
import { type OpenCache, verify } from '../../../extras/contract/index.ts'
import { gateTo } from '../../services/gate.ts'
import { withService } from '../../services/shared.ts'
import { startValkey } from '../../services/valkey.ts'
import { standingClock } from '../../standing-clock.ts'
import { timed, untimed } from './parts.ts'

await withService('valkey', ({ url }) => {
  const opening = {
    open: () => ({ cache: redisCache({ url }), other: redisCache({ url }) }),
    async close({ cache, other }: OpenCache) {
      await cache.close?.()
      await other?.close?.()
    },
  }
  verify('a cache in Valkey', untimed, opening, { describe, it })
  verify('a cache in Valkey', timed, opening, { describe: describe.concurrent, it })

  it('a cache in Valkey connects when it is first used', async () => {
    const cache = redisCache({ url })
    onTestFinished(() => cache.close?.())
    await cache.set('lazy', 'yes', 60)
    expect(await cache.get('lazy')).toBe('yes')
  })

  it('a cache in Valkey is back when its server is', async () => {
    const gate = await gateTo(url)
    await gate.shut()
    const cache = redisCache({ url: `redis://127.0.0.1:${gate.port}` })
    onTestFinished(async () => {
      await cache.close?.()
      await gate.shut()
    })
    await expect(cache.get('a')).rejects.toThrow()
    await gate.open()
    await cache.set('a', '1', 60)
    await gate.shut()
    await expect(cache.get('a')).rejects.toThrow()
    await gate.open()
    expect(await cache.get('a')).toBe('1')
  })

  it('a cache in Valkey gives a connection up that gives no answer, and makes a new one', async () => {
    const gate = await gateTo(url)
    const cache = redisCache({ url: `redis://127.0.0.1:${gate.port}` })
    onTestFinished(async () => {
      await cache.close?.()
      await gate.shut()
    })
    await cache.set('b', '1', 60)
    gate.stick()
    const clock = standingClock()
    const asked = expect(cache.get('b')).rejects.toThrow('did not respond within 2000 ms')
    clock.later(2000)
    await asked
    await gate.open()
    expect(await cache.get('b')).toBe('1')
  })

  it('a cache in Valkey gives a handshake up that gets no answer, and closes in the middle of one', async () => {
    const gate = await gateTo(url)
    onTestFinished(() => gate.shut())
    const cache = redisCache({ url: `redis://127.0.0.1:${gate.port}` })
    await cache.set('c', '1', 60)
    // Every connection is cut, and the next handshake is swallowed.
    await gate.shut()
    await gate.open()
    gate.stick()
    const clock = standingClock()
    const asked = Promise.allSettled([cache.get('c'), cache.get('c'), cache.set('c', '2', 60)])
    // All of them, at once.
    clock.later(2000)
    const statuses = (await asked).map(({ status }) => status)
    expect(statuses).toEqual(['rejected', 'rejected', 'rejected'])
    await gate.open()
    expect(await cache.get('c')).toBe('1')
    await gate.shut()
    await gate.open()
    gate.stick()
    const last = cache.get('c').catch((error: Error) => error)
    await cache.close?.()
    // Not the time limit of the connection, which would end it too.
    expect(String(await last)).not.toMatch(/timeout|within/i)
  })

  it('a cache in Valkey finds the new primary when its server has become a replica', async () => {
    const [before, after] = [await startValkey(), await startValkey()]
    let port = new URL(before.url).port
    // An address that leads to the primary, as a service's does: connections to the one before stay open.
    const address = createServer((client) => {
      const server = connect(Number(port), '127.0.0.1')
      client.pipe(server).pipe(client)
    })
    await once(address.listen(0, '127.0.0.1'), 'listening')
    const cache = redisCache({
      url: `redis://127.0.0.1:${(address.address() as AddressInfo).port}`,
    })
    onTestFinished(async () => {
      await cache.close?.()
      address.close()
      await Promise.all([before.stop(), after.stop()])
    })
    await cache.set('d', '1', 60)
    port = new URL(after.url).port
    const old = await createClient({ url: before.url }).connect()
    await old.replicaOf('127.0.0.1', Number(port))
    old.destroy()
    await expect(cache.set('d', '2', 60)).rejects.toThrow('READONLY')
    await cache.set('d', '3', 60)
    expect(await cache.get('d')).toBe('3')
  })

  it('a closed cache in Valkey rejects', async () => {
    const cache = redisCache({ url })
    await cache.get('a')
    await cache.close?.()
    await expect(cache.get('a')).rejects.toThrow('closed')
  })
})

it.each(['', 'http://localhost', undefined])(
  'a cache in Redis refuses the url %o at start-up',
  (url) => {
    expect(() => redisCache({ url: url as string })).toThrow(`redisCache: 'url' must start with`)
  },
)
