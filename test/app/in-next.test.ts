import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type * as sqlite from '../../adapters/stores/sqlite/node.ts'
import type * as guards from '../../src/guards/index.ts'
import type * as fieldgate from '../../src/index.ts'
import type * as reference from '../../src/openapi/index.ts'

// Next.js takes `Content-Encoding` off the responses of routes, so clients could read nothing that is encoded.
let app: fieldgate.App
beforeAll(async () => {
  vi.stubEnv('NEXT_RUNTIME', 'nodejs')
  vi.resetModules()
  const { createApp }: typeof fieldgate = await import('../../src/index.ts')
  const { compress }: typeof guards = await import('../../src/guards/index.ts')
  const { sqliteStore }: typeof sqlite = await import('../../adapters/stores/sqlite/node.ts')
  const { openapi }: typeof reference = await import('../../src/openapi/index.ts')
  app = createApp({ store: sqliteStore() })
    .use(compress())
    .mount('/docs', openapi({ title: 'Cities', version: '1' }))
    .get('/long', () => new Response('word '.repeat(1000)))
    .get('/asked', ({ headers }) => headers.get('x-asked'))
})
afterAll(async () => {
  await app.close()
  vi.unstubAllEnvs()
  vi.resetModules()
})

const get = (path: string) =>
  app.handle(
    new Request(`http://x${path}`, {
      headers: { 'Accept-Encoding': 'gzip, deflate, br, zstd', 'X-Asked': 'yes' },
    }),
  )

it('compresses nothing in Next.js, whatever the client accepts', async () => {
  const response = await get('/long')
  expect(response.headers.get('content-encoding')).toBeNull()
  expect(await response.text()).toBe('word '.repeat(1000))
})

it('sends the script of the reference page as it is in Next.js', async () => {
  const [, script] = /<script src="([^"]+)"/.exec(await (await get('/docs')).text()) ?? []
  const response = await get(String(script))
  expect([response.status, response.headers.get('content-encoding')]).toEqual([200, null])
  expect((await response.text()).slice(0, 10_000)).toMatch(/function/)
})

it('leaves the other headers of a request in Next.js', async () => {
  expect(await (await get('/asked')).json()).toMatchObject({ data: 'yes' })
})
