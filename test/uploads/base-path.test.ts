import { mkdtemp, rm } from 'node:fs/promises'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { diskFiles } from '../../adapters/files/disk.ts'
import { ServedRequest } from '../../adapters/runtimes/messages/node-request.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type CacheStore, createApp, createRouter, defineModel } from '../../src/index.ts'
import { Reading } from '../records/live/stream.ts'
import { form, png } from './png.ts'

const Photo = defineModel('BasePathPhoto', {
  fields: {
    file: z.string().optional(),
    name: z.string().optional(),
  },
  changes: true,
})

const CASES = ['/uploads', '/api/uploads', 'http://files.example/api/uploads'].flatMap((url) =>
  (['public-read', 'private'] as const).map((acl) => [url, acl] as const),
)

/** An app with the photos, on `options`; `more` are options of the files and of the app. */
async function photos(
  options: object,
  more: { readonly url?: string; readonly cache?: CacheStore } = {},
) {
  const { url, ...own } = more
  const root = await mkdtemp(join(tmpdir(), 'fieldgate-base-'))
  const secret = 'at least thirty-two characters here'
  const files = diskFiles({ root, secret, ...(url !== undefined && { url }) })
  const app = createApp({ store: sqliteStore(), files, ...own })
  onTestFinished(async () => {
    await app.close()
    await rm(root, { recursive: true, force: true })
  })
  const upload = { fields: [{ name: 'file' }] }
  const router = { model: Photo, allowedFields: ['file', 'name'], middlewares: [], upload }
  app.mount('/photos', createRouter({ ...router, ...options } as never))
  return app
}

it('a response that is kept for one mount is not given to another', async () => {
  const app = await photos({ cache: true }, { cache: memoryCache() })
  const askAt = (basePath: string, init?: RequestInit) =>
    app.handle(new Request('http://x/photos', init), undefined, { basePath })
  const made = await askAt('/api', { method: 'POST', body: form({ file: png }) })
  const { file } = ((await made.json()) as { data: { file: string } }).data
  const listed = async (basePath: string) => {
    const response = await askAt(basePath)
    const { data } = (await response.json()) as { data: { file: string }[] }
    return [response.headers.get('x-cache'), data[0]?.file]
  }
  const path = file.slice('/api'.length)
  expect(await listed('')).toEqual(['MISS', path])
  expect(await listed('/api/')).toEqual(['MISS', file])
  expect(await listed('/v2')).toEqual(['MISS', `/v2${path}`])
  expect(await listed('/api')).toEqual(['HIT', file])
})

it.each(CASES)('a server that strips its path serves the files at %s (%s)', async (url, acl) => {
  const fields = [{ name: 'file' as const }]
  const upload = acl === 'private' ? { acl, fields, signUrls: 600 } : { acl, fields }
  const app = await photos({ upload }, { url })
  /** As a server does that mounts the app under /api. */
  const ask = (at: string, init: RequestInit = {}) => {
    const { pathname, search } = new URL(at, 'http://x')
    const stripped = new Request(`http://x${pathname.replace(/^\/api/, '')}${search}`, init)
    return app.handle(stripped, undefined, { basePath: '/api' })
  }
  const made = await ask('/api/photos', { method: 'POST', body: form({ file: png }) })
  expect([made.status, made.headers.get('location')?.startsWith('/api/photos/')]).toEqual([
    201,
    true,
  ])
  const { data } = (await made.json()) as { data: { file: string } }
  const id = made.headers.get('location')?.slice('/api/photos/'.length) ?? ''
  const read = await ask(`/api/photos/${id}`)
  const listed = (await (await ask('/api/photos')).json()) as { data: { file: string }[] }
  const plain = (link = '') => link.split('?')[0]
  expect(plain(listed.data[0]?.file)).toBe(plain(data.file))
  // A form that sends what it was shown keeps the file.
  const kept = await ask(`/api/photos/${id}`, {
    method: 'PATCH',
    body: JSON.stringify({ file: data.file, name: 'Delft' }),
    headers: { 'Content-Type': 'application/json', 'If-Match': read.headers.get('etag') ?? '' },
  })
  const after = (await kept.json()) as { data: { file: string } }
  expect([kept.status, plain(after.data?.file)]).toEqual([200, plain(data.file)])
  const [stored] = await app.store.collection(Photo).find()
  expect(plain(stored?.file)).toBe(stored?.file)
  const file = await ask(data.file)
  expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/png'])
  const part = await ask(data.file, { headers: { Range: 'bytes=0-3' } })
  expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 4])
  if (acl === 'private') expect((await ask(data.file.split('?')[0] ?? '')).status).toBe(403)
  const refused = await ask(data.file, { method: 'DELETE' })
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  expect((await ask('/api/uploads/none.png')).status).toBe(404)
})

/** A request for the photos, live, as Node's server makes it. */
function onNode(): Request {
  const incoming = new IncomingMessage(new Socket())
  const headers = { host: 'x', accept: 'text/event-stream' }
  Object.assign(incoming, { method: 'GET', url: '/photos', headers })
  incoming.rawHeaders = Object.entries(headers).flat()
  return new ServedRequest(incoming, new ServerResponse(incoming))
}

const onOthers = () => new Request('http://x/photos', { headers: { accept: 'text/event-stream' } })

it.each([onNode, onOthers])('a live list shows the links of its mount: %o', async (request) => {
  const app = await photos({ live: true })
  const mounted = { basePath: '/api' }
  const live = new Reading(await app.handle(request(), undefined, mounted))
  expect(await live.next()).toMatchObject({ data: { data: [] } })
  const init = { method: 'POST', body: form({ file: png }) }
  const made = await app.handle(new Request('http://x/photos', init), undefined, mounted)
  const { data } = (await made.json()) as { data: { file: string } }
  expect(await live.next()).toMatchObject({ event: 'set', data: { data } })
  expect(data.file).toMatch(/^\/api\/uploads\//)
  await live.cancel()
})
