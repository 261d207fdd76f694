/** `cors` in Chromium: what pages of other origins can do. */

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { apiKey, cors, idempotency, rateLimit, secureHeaders } from '../../src/guards/index.ts'
import { type App, createApp, createRouter, defineModel } from '../../src/index.ts'
import { type Chromium, startChromium } from '../services/chromium.ts'
import { withService } from '../services/shared.ts'
import { png } from '../uploads/png.ts'

const Note = defineModel('CorsNote', {
  fields: { text: z.string(), image: z.string().optional() },
})
const KEY = 'a-key-for-the-tests'
const limits = { limit: 2, windowSeconds: 100 * 365 * 86_400 }

/** What a page asks for, and what it can see of the response. */
interface Asked {
  readonly path: string
  readonly init?: RequestInit
  /** The bytes of a file to upload, beside a text. */
  readonly image?: readonly number[]
}
interface Seen {
  readonly status: number
  readonly body: { readonly data?: Record<string, unknown>; readonly error?: string }
  readonly headers: Readonly<Record<string, string>>
}

/** A server of an empty page, which has an origin of its own. */
async function pageServer(): Promise<{ origin: string; close(): void }> {
  const server = createServer((_, response) =>
    response.setHeader('Content-Type', 'text/html').end('<link rel="icon" href="data:,">'),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close().closeAllConnections(),
  }
}

/** What `page` sees if it asks; the error's name if the browser lets it see nothing. */
function ask(page: Page, base: string, asked: Asked): Promise<Seen | string> {
  return page.evaluate(
    async (url, init, image) => {
      const body = new FormData()
      body.set('text', 'with a file')
      if (image) body.set('image', new Blob([new Uint8Array(image)]), 'a.png')
      try {
        const response = await fetch(url, { ...init, ...(image && { body }) })
        const headers = Object.fromEntries(response.headers)
        const text = await response.text()
        return { status: response.status, headers, body: text === '' ? {} : JSON.parse(text) }
      } catch (error) {
        return (error as Error).name
      }
    },
    base + asked.path,
    asked.init ?? {},
    asked.image,
  )
}

const json = (method: string, value: unknown, headers = {}): RequestInit => ({
  method,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(value),
})

await withService('chromium', () => {
  describe('a page of another origin', () => {
    let chromium: Chromium
    let app: App
    let api: Awaited<ReturnType<typeof serve>>
    let here: Awaited<ReturnType<typeof pageServer>>
    let elsewhere: Awaited<ReturnType<typeof pageServer>>
    let page: Page
    let folder: string

    beforeAll(async () => {
      chromium = await startChromium()
      here = await pageServer()
      elsewhere = await pageServer()
      folder = await mkdtemp(join(tmpdir(), 'fieldgate-cors-'))
      const quiet = () => {}
      app = createApp({
        store: sqliteStore(),
        files: diskFiles({ root: folder, secret: 'at least thirty-two characters here' }),
        logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      })
      app.use(cors({ origins: [here.origin], credentials: true })).use(secureHeaders())
      const own = createRouter({
        model: Note,
        allowedFields: ['text', 'image'],
        filterableFields: ['text'],
        middlewares: [idempotency({ ttlSeconds: 60 })],
        upload: { fields: [{ name: 'image' }] },
      })
      own.get('/cookie', ({ headers }) =>
        Response.json(
          { success: true, data: { cookie: headers.get('cookie') } },
          { headers: { 'Set-Cookie': 'seen=yes; Path=/' } },
        ),
      )
      app.mount('/notes', own)
      const limited = [rateLimit({ ...limits, key: () => 'all' })]
      app.mount('/limited', createRouter({ model: Note, allowedFields: [], middlewares: limited }))
      const keyed = [apiKey({ keys: [KEY] })]
      app.mount('/keyed', createRouter({ model: Note, allowedFields: [], middlewares: keyed }))
      api = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
      page = (await chromium.open(here.origin)).page
    })
    afterAll(async () => {
      await chromium.stop()
      await api.close()
      here.close()
      elsewhere.close()
      await rm(folder, { recursive: true, force: true })
    })

    const from = async (asking: Page, path: string, init?: RequestInit, image?: number[]) =>
      ask(asking, api.url.replace(/\/$/, ''), {
        path,
        ...(init && { init }),
        ...(image && { image }),
      })
    const seen = async (path: string, init?: RequestInit, image?: number[]): Promise<Seen> => {
      const response = await from(page, path, init, image)
      if (typeof response === 'string') throw new Error(`${path}: ${response}`)
      return response
    }

    it('reads, and sees the ETag and the id of the request', async () => {
      const { status, headers } = await seen('/notes')
      expect(status).toBe(200)
      expect(headers).toMatchObject({
        etag: expect.any(String),
        'x-request-id': expect.any(String),
      })
    })

    it('creates, changes and deletes, and sees Location and what is replayed', async () => {
      const once = json('POST', { text: 'one' }, { 'Idempotency-Key': '"a"' })
      const created = await seen('/notes', once)
      expect([created.status, created.headers.location]).toEqual([
        201,
        `/notes/${created.body.data?._id}`,
      ])
      const again = await seen('/notes', once)
      expect([again.body, again.headers['idempotency-replayed']]).toEqual([created.body, 'true'])
      const path = String(created.headers.location)
      const { etag = '' } = (await seen(path)).headers
      const changed = await seen(path, json('PATCH', { text: 'two' }, { 'If-Match': etag }))
      expect([changed.status, changed.body.data?.text]).toEqual([200, 'two'])
      const stale = await seen(path, json('PATCH', { text: 'three' }, { 'If-Match': etag }))
      expect(stale.status).toBe(412)
      const known = (await seen(path)).headers.etag ?? ''
      expect((await seen(path, { headers: { 'If-None-Match': known } })).status).toBe(304)
      expect((await seen(path, { method: 'DELETE' })).status).toBe(200)
    })

    it('sends a QUERY', async () => {
      await seen('/notes', json('POST', { text: 'asked for' }))
      const found = await seen('/notes', json('QUERY', { filter: { text: 'asked for' } }))
      expect([found.status, found.body.data]).toEqual([
        200,
        [expect.objectContaining({ text: 'asked for' })],
      ])
    })

    it('uploads a file', async () => {
      const uploaded = await seen('/notes', { method: 'POST' }, [...png])
      expect([uploaded.status, uploaded.body.data?.image]).toEqual([201, expect.any(String)])
    })

    it('sends credentials: a token, an API key, and cookies if it wants to', async () => {
      const headers = { 'X-API-Key': KEY, Authorization: 'Bearer x' }
      expect((await seen('/keyed', { headers })).status).toBe(200)
      const include = { credentials: 'include' } as const
      await seen('/notes/cookie', include)
      expect((await seen('/notes/cookie', include)).body.data?.cookie).toBe('seen=yes')
      expect((await seen('/notes/cookie')).body.data?.cookie).toBeNull()
    })

    it('sees failures: unknown paths and methods, missing keys, limits', async () => {
      const missing = await seen('/none')
      expect([missing.status, missing.body.error]).toEqual([404, 'Not found.'])
      const put = await seen('/notes', { method: 'PUT' })
      expect([put.status, put.headers.allow]).toEqual([405, 'GET, HEAD, POST, QUERY'])
      expect((await seen('/keyed')).headers['www-authenticate']).toBe('ApiKey header="X-API-Key"')
      for (const left of [1, 0]) {
        expect((await seen('/limited')).headers.ratelimit).toMatch(`"default";r=${left};t=`)
      }
      const limited = await seen('/limited')
      expect([limited.status, limited.headers['ratelimit-policy']]).toEqual([
        429,
        `"default";q=2;w=${limits.windowSeconds}`,
      ])
      expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0)
    })

    it('that is not allowed sees nothing, and what needs a preflight is not sent', async () => {
      const notes = app.store.collection(Note)
      const before = await notes.count()
      const other = (await chromium.open(elsewhere.origin)).page
      // The page of a data: URL has the origin 'null'.
      const opaque = (await chromium.open('data:text/html,<p>')).page
      for (const asking of [other, opaque]) {
        for (const init of [
          {},
          { credentials: 'include' } as const,
          json('POST', { text: 'not from here' }),
          json('QUERY', {}),
          { method: 'DELETE' },
        ]) {
          expect(await from(asking, '/notes', init)).toBe('TypeError')
        }
      }
      expect(await notes.count()).toBe(before)
    })
  })
})
