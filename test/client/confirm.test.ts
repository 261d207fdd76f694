import { expect, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createClient, memoryStorage } from '../../src/client/index.ts'
import { createApp, createAuthRouter } from '../../src/index.ts'
import { apiKeys } from '../../src/methods/api-keys/index.ts'
import { URL as BASE, calls } from './recording.ts'
import { ScriptedServer } from './scripted.ts'

const password = 'correct horse battery'

it('a session is confirmed after its token has expired, and a wrong password is sent once', async () => {
  const auth = createAuthRouter({
    token: { secret: 'a-secret-for-tests-0123456789-abcdefgh', expiresIn: 60 },
    refresh: { enabled: true },
    methods: [apiKeys()],
    onSecurityEvent() {},
  })
  let now = Date.UTC(2030, 0, 1)
  const app = createApp({ store: sqliteStore(), env: {}, now: () => now }).mount(
    '/auth',
    auth.router,
  )
  onTestFinished(() => app.close())
  let sent: string[] = []
  const api = createClient<typeof app>('http://localhost', {
    storage: memoryStorage(),
    fetch: async (url, init) => {
      const response = await app.handle(new Request(url, init))
      sent.push(`${new URL(String(url)).pathname} ${response.status}`)
      return response
    },
  })
  await api('/auth').register({ email: 'ann@example.com', password })
  const confirm = async (by: string) => {
    sent = []
    return (await api('/auth').confirmLogin({ password: by })).ok
  }
  now += 70_000
  expect(await confirm(password)).toBe(true)
  expect(sent.slice(-2)).toEqual(['/auth/token/refresh 200', '/auth/login/confirm 200'])
  expect(await confirm('another one')).toBe(false)
  expect(sent).toEqual(['/auth/login/confirm 401'])
})

it("the page of a proxy's 401 on a refresh is no message, and ends no session", async () => {
  const server = new ScriptedServer()
  const page = () => new Response('<html>Sign in to the network</html>', { status: 401 })
  const fetch = async (url: string, init: RequestInit) =>
    url.endsWith('/refresh') ? page() : server.fetch(url, init)
  const storage = memoryStorage()
  const auth = calls(createClient(BASE, { storage, fetch: fetch as never }))('/auth')
  await auth.login?.({ identifier: 'ann', password })
  server.expire()
  const message = 'A proxy answered 401.'
  expect(await auth.me?.()).toEqual({ ok: false, error: { status: 0, message } })
  const later = calls(createClient(BASE, { storage, fetch: server.fetch }))('/auth')
  expect(await later.me?.()).toMatchObject({ ok: true })
})
