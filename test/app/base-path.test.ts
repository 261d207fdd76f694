import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { createClient } from '../../src/client/index.ts'
import { cors } from '../../src/guards/index.ts'
import { health, metrics } from '../../src/health/index.ts'
import { type Context, createApp, createRouter, defineModel } from '../../src/index.ts'
import { document, openapi } from '../../src/openapi/index.ts'
import { form, png } from '../uploads/png.ts'

const City = defineModel('BasedCity', {
  fields: { name: z.string(), photo: z.string().optional() },
})

const fields = ['name', 'photo'] as const

/** An app below `/api` with all that makes or reads paths; `seen` are the paths that its guard has seen. */
async function based(basePath: string | undefined = '/api') {
  const root = await mkdtemp(join(tmpdir(), 'fieldgate-based-'))
  const files = diskFiles({ root, secret: 'at least thirty-two characters here' })
  const seen: string[][] = []
  const app = createApp({
    store: sqliteStore(),
    files,
    ...(basePath !== undefined && { basePath }),
  })
    .use(cors({ origins: '*' }))
    .use((request, context: Context) => {
      seen.push([new URL(request.url).pathname, context.basePath])
    })
    .mount('/', health())
    .mount('/', metrics())
    .mount('/docs', openapi({ title: 'Cities', version: '1' }))
    .mount('/batch', batch())
    .mount(
      '/cities',
      createRouter({
        ...{ model: City, allowedFields: fields, filterableFields: ['name'], middlewares: [] },
        upload: { acl: 'public-read', fields: [{ name: 'photo' }] },
      }),
    )
  onTestFinished(async () => {
    await app.close()
    await rm(root, { recursive: true, force: true })
  })
  const ask = (path: string, init?: RequestInit, mount?: string) =>
    app.handle(
      new Request(`http://x${path}`, init),
      undefined,
      mount === undefined ? undefined : { basePath: mount },
    )
  return { app, ask, seen }
}

const json = (body: unknown, method = 'POST'): RequestInit => ({
  method,
  body: JSON.stringify(body),
  headers: { 'Content-Type': 'application/json' },
})

describe('an app with a base path', () => {
  it('serves its routes, files and probes below it, and nothing elsewhere', async () => {
    const { ask, seen } = await based()
    const made = await ask('/api/cities', {
      method: 'POST',
      body: form({ name: 'Delft', photo: png }),
    })
    const { data } = (await made.json()) as { data: { _id: string; photo: string } }
    expect([made.status, made.headers.get('location')]).toEqual([201, `/api/cities/${data._id}`])
    expect(data.photo).toMatch(/^\/api\/uploads\//)
    expect(seen).toEqual([['/cities', '/api']])
    const paths = ['/cities', `/cities/${data._id}?select=name`, '/healthz', '/metrics', '/docs']
    for (const path of [...paths, data.photo.slice('/api'.length)]) {
      expect([path, (await ask(`/api${path}`)).status]).toEqual([path, 200])
      expect([path, (await ask(path)).status]).toEqual([path, 404])
    }
    expect((await ask('/api/cities?name=Delft', { method: 'HEAD' })).status).toBe(200)
    expect((await ask('/api/cities', { method: 'PUT' })).headers.get('allow')).toContain('POST')
  })

  it('knows its path by what a URL makes of it', async () => {
    const { ask } = await based('/api/')
    const statuses = ['/apicities', '/API/cities', '/api/../cities', '/x/../api/cities', '/api']
    const found = await Promise.all(statuses.map(async (path) => (await ask(path)).status))
    expect(found).toEqual([404, 404, 404, 200, 404])
    expect((await ask('/api?x=1')).status).toBe(404)
  })

  it('runs guards for requests elsewhere too, and leaves the URL of a request as it was', async () => {
    const { app, seen } = await based()
    const request = new Request('http://x/cities', { headers: { Origin: 'http://y' } })
    const response = await app.handle(request)
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
      404,
      '*',
    ])
    expect(seen).toEqual([['/cities', '/api']])
    const inside = new Request('http://x/api/cities?name=x')
    await app.handle(inside)
    expect(inside.url).toBe('http://x/api/cities?name=x')
    expect((await app.handle(inside)).status).toBe(200)
    expect(await app.serves(inside)).toBe(true)
    expect(await app.serves(new Request('http://x/cities'))).toBe(false)
  })

  it('takes paths of batches with it or without', async () => {
    const { ask } = await based()
    const operations = ['/cities', '/api/cities'].map((path) => {
      return { method: 'POST', path, body: { name: path } }
    })
    const response = await ask('/api/batch', json({ operations }))
    const { data } = (await response.json()) as { data: { status: number }[] }
    expect(data.map(({ status }) => status)).toEqual([201, 201])
  })

  it('is the server of its document, below the one that mounts it', async () => {
    const { app, ask } = await based()
    const serverOf = async (mount?: string) => {
      const response = await ask('/api/docs/openapi.json', {}, mount)
      const { servers, paths } = (await response.json()) as { servers: object; paths: object }
      return [servers, Object.keys(paths).includes('/cities')]
    }
    expect(await serverOf()).toEqual([[{ url: '/api' }], true])
    expect(await serverOf('/v1')).toEqual([[{ url: '/v1/api' }], true])
    expect(await (await ask('/api/docs')).text()).toContain('/api/docs/openapi.json')
    expect(document(app, { title: 'Cities', version: '1' }).servers).toEqual([{ url: '/api' }])
  })

  it('has both paths in responses where another server mounts it', async () => {
    const { ask, seen } = await based()
    const init = { method: 'POST', body: form({ name: 'Delft', photo: png }) }
    const made = await ask('/api/cities', init, '/v1/')
    const { data } = (await made.json()) as { data: { _id: string; photo: string } }
    expect(made.headers.get('location')).toBe(`/v1/api/cities/${data._id}`)
    expect(data.photo).toMatch(/^\/v1\/api\/uploads\//)
    expect(seen).toEqual([['/cities', '/v1/api']])
    expect((await ask(data.photo.slice('/v1'.length), {}, '/v1')).status).toBe(200)
  })

  it('serves a typed client whose URL has the path', async () => {
    const { app } = await based()
    const fetch = (input: string | URL | Request, init?: RequestInit) =>
      app.handle(new Request(input, init))
    const api = createClient<typeof app>('http://x/api', { fetch, storage: undefined as never })
    const made = await api('/cities').create({ name: 'Delft' })
    const listed = await api('/cities').list()
    expect([made.ok, listed.ok && listed.data.length]).toEqual([true, 1])
  })

  it.each(['api', '/a//b', '/a/../b', '/a b', '/:tenant', 'http://x/api', 1])(
    'is not %s',
    (path) => {
      expect(() => createApp({ store: sqliteStore(), basePath: path as string })).toThrow(
        "createApp: 'basePath' must be a path such as '/api'",
      )
    },
  )

  it.each(['', '/'])("needs none: '%s' is the same as nothing", async (path) => {
    const { ask } = await based(path)
    expect((await ask('/cities')).status).toBe(200)
  })
})
