import { expect, it, onTestFinished } from 'vitest'
import { passkeys } from '../../adapters/methods/passkeys/index.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createAuthRouter } from '../../src/index.ts'
import { mcp } from '../../src/mcp/index.ts'
import { recordedLog } from '../records/service.ts'

const METADATA = '/.well-known/oauth-protected-resource'

/** An app with tools in two places, and passkeys that work at other origins. */
function withTools(basePath: string) {
  const origin = 'https://example.com'
  const relatedOrigins = ['https://example.co.uk']
  const auth = createAuthRouter({
    token: { secret: 'Ck3vXw0b-9fTq2Lr7Zs5Ny8Hd1Jg4Pm6' },
    methods: [passkeys({ rpId: 'example.com', rpName: 'X', origins: [origin], relatedOrigins })],
  })
  const log = recordedLog()
  const app = createApp({ store: sqliteStore(), logger: log, env: {}, basePath })
    .use((request, context) =>
      request.url.endsWith('/mcp') || request.url.endsWith('/agents')
        ? auth.requireAuth(request, context)
        : undefined,
    )
    .mount('/auth', auth.router)
    .mount('/mcp', mcp())
    .mount('/agents', mcp())
  onTestFinished(() => app.close())
  const ask = (url: string, init?: RequestInit, mount?: string) =>
    app.handle(
      new Request(url, init),
      undefined,
      mount === undefined ? undefined : { basePath: mount },
    )
  return { app, ask, origin, log }
}

it.each(['', '/api'])(
  'tools below "%s" are found by the header of a 401 and by RFC 9728',
  async (base) => {
    const { app, ask, origin, log } = withTools(base)
    for (const mount of ['/mcp', '/agents']) {
      const resource = origin + base + mount
      const refused = await ask(resource, { method: 'POST', body: '{}' })
      expect(refused.status).toBe(401)
      const [, place = ''] =
        /resource_metadata="(.*)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
      // By the standard its path goes between the host and that of the resource.
      for (const at of [place, origin + METADATA + base + mount]) {
        expect([at, await (await ask(at)).json()]).toEqual([at, { resource }])
        expect(await app.serves(new Request(at))).toBe(true)
      }
    }
    expect(log.text).not.toContain('which was mounted first')
  },
)

it('what browsers look up at the root of the host is there for an app below a path', async () => {
  const { app, ask, origin } = withTools('/api')
  const found = await ask(`${origin}/.well-known/webauthn`)
  expect(await found.json()).toEqual({ origins: [origin, 'https://example.co.uk'] })
  expect((await ask(`${origin}/.well-known/webauthn`, { method: 'POST' })).status).toBe(405)
  expect((await ask(`${origin}/docs`)).status).toBe(404)
  expect(await app.serves(new Request(`${origin}/mcp`))).toBe(false)
})

it('names the path of a server in front too', async () => {
  const { ask, origin } = withTools('/api')
  const found = await ask(`${origin}/api${METADATA}/mcp`, {}, '/v1')
  expect(await found.json()).toEqual({ resource: `${origin}/v1/api/mcp` })
})
