import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { admin } from '../../packages/admin/src/index.ts'
import { depot, library } from './apps.ts'

const books = library(false)
const get = async (path: string, headers: Record<string, string> = {}) => {
  const app = await books
  return app.handle(new Request(`http://library${path}`, { headers }))
}
const srcIn = (html: string) => /src="([^"]+)"/.exec(html)?.[1] ?? ''

describe('admin() serves', () => {
  it('a page that runs no inline script and asks no other origin', async () => {
    const response = await get('/admin')
    const html = await response.text()
    expect(response.status).toBe(200)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).not.toContain('unsafe')
    expect(response.headers.get('x-frame-options')).toBe('DENY')
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|https?:|style=/)
  })

  it('a page that browsers revalidate, and scripts that they keep', async () => {
    const page = await get('/admin')
    const etag = page.headers.get('etag') ?? ''
    expect((await get('/admin', { 'If-None-Match': etag })).status).toBe(304)
    const script = `/${srcIn(await page.text()).replace('./', '')}`
    const packed = await get(script, { 'Accept-Encoding': 'br, gzip' })
    const plain = await get(script, { 'Accept-Encoding': 'gzip;q=0' })
    expect(packed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(gunzipSync(await packed.arrayBuffer()).toString()).toBe(await plain.text())
    expect((await get('/admin/assets/other.js')).status).toBe(404)
  })

  it('below any path, with the document of the app or, without one, its own', async () => {
    const app = await depot(0)
    const ask = (path: string) => app.handle(new Request(`http://depot${path}`))
    const html = await (await ask('/api/back/office')).text()
    expect(html).toContain('/api/back/office/openapi.json')
    expect((await ask(srcIn(html))).status).toBe(200)
    expect((await ask('/api/back/office/openapi.json')).status).toBe(200)
    expect(await (await get('/admin')).text()).toContain('./docs/openapi.json')
    expect((await get('/admin/openapi.json')).status).toBe(404)
  })

  it('a page that finds its files, its document and the app below what a proxy takes off its path', async () => {
    for (const path of ['/admin', '/admin/']) {
      const html = await (await get(path)).text()
      const config = JSON.parse(
        (/data-config="([^"]*)"/.exec(html)?.[1] ?? '').replaceAll('&quot;', '"'),
      )
      const there = (text: string) => new URL(text, `http://proxy/tools${path}`).pathname
      expect(there(srcIn(html))).toMatch(/^\/tools\/admin\/assets\/main-\w+\.js$/)
      expect([config.document, config.api].map(there)).toEqual([
        '/tools/docs/openapi.json',
        '/tools/',
      ])
    }
  })

  it('no route that the reference page would list before the records', async () => {
    for (const [app, path] of [
      [await books, '/docs/openapi.json'],
      [await depot(0), '/api/back/office/openapi.json'],
    ] as const) {
      const response = await app.handle(new Request(`http://library${path}`))
      const { paths } = (await response.json()) as { paths: object }
      expect(Object.keys(paths).filter((one) => /admin|office|docs/.test(one))).toEqual([])
      expect(Object.keys(paths)).not.toEqual([])
    }
  })

  it('nothing for options that make no sense', () => {
    const wrong: [object, string][] = [
      [
        { titel: 'A' },
        "admin: unknown option 'titel'. There are: title, resources, imageOrigins, providers",
      ],
      [{ title: '' }, "admin: 'title' must be a string that is not empty"],
      [
        { resources: { cities: { list: 'name' } } },
        "admin: 'resources.cities.list' must be a list of field names",
      ],
      [{ resources: { cities: 1 } }, 'admin: the options must be an object'],
      [
        { imageOrigins: ['files.example.com'] },
        "admin: 'imageOrigins' must be a list of origins, like 'https://files.example.com'",
      ],
      [{ providers: { google: {} } }, "admin: 'providers.google' needs 'clientId'"],
      [{ providers: { own: { clientId: 'x' } } }, "admin: 'providers.own' needs 'url'"],
      [
        { providers: { google: { clientId: 'x', gives: 'token' } } },
        "admin: 'providers.google.gives' must be 'idToken', 'accessToken' or 'code'",
      ],
    ]
    for (const [options, message] of wrong) expect(() => admin(options)).toThrow(message)
  })
})
