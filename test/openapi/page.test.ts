import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as missing from '../../adapters/reference/none.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { secureHeaders } from '../../src/guards/index.ts'
import { type App, createApp } from '../../src/index.ts'
import { type OpenApiOptions, openapi } from '../../src/openapi/index.ts'
import { pageResponse } from '../../src/openapi/page.ts'

const INFO = { title: 'Books & <co>', version: '1.0' }
const apps: App[] = []
afterAll(() => Promise.all(apps.map((app) => app.close())))

function asking(options: Partial<OpenApiOptions> = {}, mount = '/docs') {
  const app = createApp({ store: sqliteStore() })
  apps.push(app)
  app.use(secureHeaders()).mount(mount, openapi({ ...INFO, ...options }))
  return (path: string, headers = {}) =>
    app.handle(new Request(`http://localhost${path}`, { headers }))
}

const scriptIn = (html: string) => /<script src="([^"]+)"/.exec(html)?.[1] ?? ''

describe('the page', () => {
  it('allows its own script and requests to the app, also behind secureHeaders()', async () => {
    const page = await asking()('/docs')
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = page.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'; script-src 'self'; ")
    expect(policy).toContain("; connect-src 'self'; ")
  })

  it('allows requests to the servers that it names', async () => {
    const servers = ['/', 'https://api.example.com/v1']
    const policy = (await asking({ servers })('/docs')).headers.get('content-security-policy')
    expect(policy).toContain("; connect-src 'self' https://api.example.com; ")
  })

  it('has the title as text', async () => {
    expect(await (await asking()('/docs')).text()).toContain(
      '<title>Books &amp; &lt;co> 1.0</title>',
    )
  })

  it('has links to the document until its script runs, and for clients without scripts', async () => {
    const html = await (await asking()('/docs')).text()
    expect(html).toContain('<p>The API as <a href="/docs/openapi.json">')
  })

  it('may be at the root', async () => {
    const ask = asking({}, '/')
    const html = await (await ask('/')).text()
    expect(html).toContain('href="/openapi.json"')
    expect((await ask(scriptIn(html))).status).toBe(200)
  })

  it('takes its script from your static assets', async () => {
    const html = await (await asking({ script: '/scalar.js' })('/docs')).text()
    expect(scriptIn(html)).toBe('/scalar.js')
  })

  it.each(['https://cdn.example.com/scalar.js', '//cdn.example.com/scalar.js', 'scalar.js', ''])(
    'refuses %j as the path of its script',
    (script) => {
      expect(() => openapi({ ...INFO, script })).toThrow(
        `openapi: 'script' must be a path like '/scalar.js' (got '${script}')`,
      )
    },
  )

  it('says what to install where there is no script', async () => {
    const script = await missing.referenceScript()
    const page = pageResponse({ title: 'Books', document: '/openapi.json', script, servers: [] })
    expect(await page.text()).toContain('install <code>@scalar/api-reference</code>')
  })
})

describe('the script', () => {
  let ask: ReturnType<typeof asking>
  let path: string
  beforeAll(async () => {
    ask = asking()
    path = scriptIn(await (await ask('/docs')).text())
  })

  it('has its version in its address, and may be kept for a year', async () => {
    expect(path).toMatch(/^\/docs\/assets\/scalar-\d+\.\d+\.\d+\.js$/)
    const script = await ask(path)
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const tag = { 'If-None-Match': script.headers.get('etag') ?? '' }
    expect((await ask(path, tag)).status).toBe(304)
  })

  it('is compressed for clients that take gzip', async () => {
    const plain = Buffer.from(await (await ask(path)).arrayBuffer())
    const response = await ask(path, { 'Accept-Encoding': 'br, gzip' })
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(response.headers.get('vary')).toBe('Accept-Encoding')
    const zipped = new Uint8Array(await response.arrayBuffer())
    expect(zipped.length).toBeLessThan(plain.length / 2)
    expect(gunzipSync(zipped).equals(plain)).toBe(true)
    const refusing = await ask(path, { 'Accept-Encoding': 'gzip;q=0, identity' })
    expect(refusing.headers.get('content-encoding')).toBeNull()
  })

  it('of another version is a 404', async () => {
    expect((await ask('/docs/assets/scalar-0.0.1.js')).status).toBe(404)
  })
})
