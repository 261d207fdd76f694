import { describe, expect, it, onTestFinished } from 'vitest'
import { upstashCache } from '../../../adapters/caches/upstash.ts'
import { type OpenCache, verify } from '../../../extras/contract/index.ts'
import { withService } from '../../services/shared.ts'
import { timed, untimed } from './parts.ts'
import { type RestBridge, restBridge } from './rest-bridge.ts'

const cacheAt = ({ url, token }: RestBridge) => upstashCache({ url, token })

type Bridged = OpenCache & { readonly bridge: RestBridge }

await withService('valkey', ({ url }) => {
  const opening = {
    async open() {
      const bridge = await restBridge(url)
      return { cache: cacheAt(bridge), other: cacheAt(bridge), bridge }
    },
    close: ({ bridge }: Bridged) => bridge.close(),
  }
  verify<Bridged>('a cache in Upstash', untimed, opening, { describe, it })
  verify<Bridged>('a cache in Upstash', timed, opening, { describe: describe.concurrent, it })

  it('a cache in Upstash sends a SET once, also when its answer is lost', async () => {
    const bridge = await restBridge(url)
    onTestFinished(() => bridge.close())
    const cache = cacheAt(bridge)
    bridge.mute = true
    await expect(cache.set('once', '1', 60)).rejects.toThrow()
    bridge.mute = false
    expect(await cache.get('once')).toBe('1')
    expect(bridge.commands.filter(([name]) => name?.toLowerCase() === 'set')).toHaveLength(1)
  })

  it('a cache in Upstash rejects what the server refuses', async () => {
    const bridge = await restBridge(url)
    onTestFinished(() => bridge.close())
    const cache = upstashCache({ url: bridge.url, token: 'another' })
    await expect(cache.get('a')).rejects.toThrow('WRONGPASS')
  })
})

it.each([
  [{ url: '', token: 'x' }, 'url'],
  [{ url: 'https://x.example', token: '' }, 'token'],
])('a cache in Upstash refuses %o at start-up', (options, name) => {
  expect(() => upstashCache(options)).toThrow(`upstashCache: '${name}' is needed`)
})
