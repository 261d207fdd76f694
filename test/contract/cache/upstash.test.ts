import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

it('a cache in Upstash tells of a refusal without what was to be kept', async () => {
  const server = createServer((_, response) => {
    response.writeHead(429).end('{"error":"ERR max daily request limit exceeded"}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cache = upstashCache({ url: `http://127.0.0.1:${port}`, token: 'x' })
  const refused = await cache.set('key', 'a record', 60).catch((error: unknown) => error)
  expect(String(refused)).toBe('UpstashError: ERR max daily request limit exceeded')
})

it.each([
  [{ url: '', token: 'x' }, 'url'],
  [{ url: 'https://x.example', token: '' }, 'token'],
])('a cache in Upstash refuses %o at start-up', (options, name) => {
  expect(() => upstashCache(options)).toThrow(`upstashCache: '${name}' is needed`)
})
