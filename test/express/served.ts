/**
 * The app that is mounted in Express, and how it is asked.
 *
 * @module
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type App, createApp, createRouter, defineModel } from '../../src/index.ts'
import { openapi } from '../../src/openapi/index.ts'

/** The model of the app. */
export const City = defineModel('MountedCity', {
  fields: {
    name: z.string().min(1),
    population: z.number().optional(),
    photo: z.string().optional(),
  },
  unique: ['name'],
})

/** A picture of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** What a test sees of requests from inside. */
interface Seen {
  /** Resolves when the signal of the request at /waiting has aborted. */
  readonly aborted: Promise<void>
  /** Resolves when that request has arrived. */
  readonly waiting: Promise<void>
}

let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fieldgate-express-'))
})
after(() => rm(folder, { recursive: true }))

export const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** The app, and what a test sees of its requests from inside. */
export function cities(): { app: App; seen: Seen } {
  const aborted = Promise.withResolvers<void>()
  const waiting = Promise.withResolvers<void>()
  const app = createApp({
    store: sqliteStore(),
    files: diskFiles({
      root: folder,
      url: '/api/files',
      secret: 'a secret that is only good for tests 1',
    }),
    logger: quiet,
    env: {},
    maxBodySize: 100_000,
  })
  const router = createRouter({
    model: City,
    query: ['name'],
    middlewares: [],
    allowedFields: ['name', 'population', 'photo'],
    upload: { path: 'cities/', fields: [{ name: 'photo' }], acl: 'public-read' },
  })
  router.get('/who', (request, { clientAddress, basePath }) =>
    Response.json({ clientAddress, basePath, url: request.url }),
  )
  router.post('/echo', async (request) => {
    const type = request.headers.get('content-type')
    return Response.json({ type, text: await request.text() })
  })
  router.post('/form', async (request) => Response.json([...(await request.formData())]))
  router.get('/many', () => Response.json('x'.repeat(200_000)))
  router.post('/waiting', async (request) => {
    await request.text()
    waiting.resolve()
    await new Promise((resolve) => request.signal.addEventListener('abort', resolve))
    aborted.resolve()
    return new Response()
  })
  app.mount('/cities', router)
  app.mount('/docs', openapi({ title: 'Cities', version: '1' }))
  return { app, seen: { aborted: aborted.promise, waiting: waiting.promise } }
}

interface Mounted {
  readonly url: string
  readonly seen: Seen
  readonly port: number
}

/** Serves `make`, which gets the app, until the end of the test. */
export async function serving(
  t: TestContext,
  make: (app: App) => RequestListener,
): Promise<Mounted> {
  const { app, seen } = cities()
  const server = createServer(make(app))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await app.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, seen, port }
}

/** An answer, without what differs from one to the next. */
export async function answer(response: Response) {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  const body = isJson && text !== '' ? JSON.parse(text) : {}
  if (isJson && !Array.isArray(body)) delete body.requestId
  return { status: response.status, headers: response.headers, text, body }
}

/** Asks for `url`; with `json` it is a POST. */
export const ask = async (url: string, init: RequestInit & { json?: unknown } = {}) => {
  const { json, ...rest } = init
  const given = json === undefined ? {} : { body: JSON.stringify(json) }
  const headers = {
    ...(json !== undefined && { 'Content-Type': 'application/json' }),
    ...rest.headers,
  }
  return answer(
    await fetch(url, { method: json === undefined ? 'GET' : 'POST', ...rest, ...given, headers }),
  )
}
