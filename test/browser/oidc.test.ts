import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { oidc } from '../../adapters/methods/oidc/index.ts'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createAuthRouter } from '../../src/index.ts'
import { startIssuer } from '../auth/methods/issuer.ts'
import { type Chromium, startChromium } from '../services/chromium.ts'
import { withService } from '../services/shared.ts'

/** A program for the page: it signs in with what it was opened with, and shows the outcome. */
const PROGRAM = `
  import { createClient } from './src/client/index.ts'
  globalThis.auth = createClient(location.origin)('/auth')
  const done = await auth.oidc.finish()
  document.title = done ? JSON.stringify(done.ok ? done.data.user.email : done.error.message) : 'nothing'
`

declare const auth: { oidc: { begin(provider: string, options: object): Promise<never> } }

await withService('chromium', () => {
  let chromium: Chromium
  let script = ''
  beforeAll(async () => {
    chromium = await startChromium()
    const { outputFiles } = await build({
      stdin: { contents: PROGRAM, resolveDir: join(import.meta.dirname, '../..') },
      bundle: true,
      format: 'esm',
      write: false,
    })
    script = outputFiles[0]?.text ?? ''
  })
  afterAll(() => chromium?.stop())

  /** The page, and the provider that it can go to. */
  async function opened() {
    const issuer = await startIssuer()
    const company = { name: 'company', issuer: issuer.url, clientId: 'atlas' }
    const app = createApp({
      store: sqliteStore(),
      logger: { debug() {}, info() {}, warn() {}, error: console.error },
    })
    const html = { 'Content-Type': 'text/html' }
    app.get('/', () => new Response(PAGE, { headers: html }))
    app.get(
      '/page.js',
      () => new Response(script, { headers: { 'Content-Type': 'text/javascript' } }),
    )
    const accounts = createAuthRouter({
      token: { secret: 'a secret of the tests, 32 characters or more' },
      refresh: { enabled: true },
      methods: [oidc({ ...company, returnTo: ['/'] })],
      onSecurityEvent: () => {},
    })
    app.mount('/auth', accounts.router)
    const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
    onTestFinished(close)
    const { port } = new URL(url)
    const user = await chromium.user()
    onTestFinished(() => user.close())
    const { page, problems } = await chromium.open(`http://localhost:${port}/`, user)
    const title = async (expected: string) => {
      await page.waitForFunction((text) => document.title === text, {}, expected)
      return page.url()
    }
    const begin = () =>
      page.evaluate(() => {
        void auth.oidc.begin('company', { returnTo: '/' })
      })
    return { issuer, page, problems, title, begin, home: `http://localhost:${port}/` }
  }

  describe('Signing in at a provider, in a browser', () => {
    it('goes there and comes back signed in, and leaves no code in the address', async () => {
      const { issuer, problems, title, begin, home, page } = await opened()
      await title('nothing')
      issuer.say = { claims: { email: 'ann@example.com', email_verified: true } }
      await begin()
      expect(await title('"ann@example.com"')).toBe(home)
      expect(issuer.asked).toHaveLength(1)
      // The cookie of the ceremony has gone.
      expect(await page.cookies()).toEqual([])
      expect(problems).toEqual([])
    })

    it('keeps the cookies of the sign-ins that were begun last', async () => {
      const { page, title } = await opened()
      await title('nothing')
      const begun: string[] = []
      for (let times = 0; times < 12; times += 1) {
        await page.evaluate(() =>
          fetch('/auth/login/oidc/company?returnTo=/', { redirect: 'manual' }),
        )
        const names = (await page.cookies()).map(({ name }) => name)
        begun.push(...names.filter((name) => !begun.includes(name)))
      }
      const kept = (await page.cookies()).map(({ name }) => name)
      expect(begun).toHaveLength(12)
      expect(kept.toSorted()).toEqual(begun.slice(-8).toSorted())
    })

    it('comes back with the reason if the user cancels', async () => {
      const { title, begin } = await opened()
      await title('nothing')
      await begin()
      await title('"access_denied"')
    })

    it('takes no code that somebody else has brought', async () => {
      const { title, page, home } = await opened()
      await title('nothing')
      await page.goto(`${home}#code=of-an-attacker`)
      await page.reload()
      await title('nothing')
    })
  })
})

const PAGE =
  '<!doctype html><link rel="icon" href="data:,"><title>…</title><script type="module" src="/page.js"></script>'
