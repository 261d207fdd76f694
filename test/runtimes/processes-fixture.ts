/**
 * A server in several processes, on whatever runtime runs it: `<runtime> processes-fixture.ts <options>`. Says `pid` and
 * `url` once, in the first process, or `rejected` with the error.
 *
 * @module
 */

import process from 'node:process'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import type { Served, ServeOptions } from '../../adapters/runtimes/server.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { rateLimit } from '../../src/guards/index.ts'
import { type App, createApp, createRouter, defineModel } from '../../src/index.ts'

/** What the fixture is given. */
export interface Given extends ServeOptions {
  /** The file of the database; without it the database is in memory. */
  readonly path?: string
  /** Whether each process makes up a secret. */
  readonly ownSecret?: boolean
}

const runtime = 'Deno' in globalThis ? 'deno' : 'Bun' in globalThis ? 'bun' : 'node'
const { serve } = (await import(`../../adapters/runtimes/${runtime}.ts`)) as {
  serve(app: App, options?: ServeOptions): Promise<Served>
}
const { path, ownSecret = false, ...options } = JSON.parse(process.argv[2] ?? '{}') as Given

const Note = defineModel('Note', { fields: { label: z.string() }, unique: ['label'] })
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const secret = ownSecret ? crypto.randomUUID() : 'a secret that all of the processes have'
const app = createApp({
  store: sqliteStore(path === undefined ? {} : { path }),
  cache: memoryCache(),
  logger: quiet,
  secret,
})
const notes = { model: Note, middlewares: [], query: ['label'], search: ['label'] } as const
const limit = { limit: 10, windowSeconds: 86_400, key: () => 'everyone' }
const plain = createRouter({ ...notes, allowedFields: ['label'] })
const ok = () => new Response('ok')
plain.get('/pid', () => new Response(`${process.pid}`))
// The app's cache counts for the first one. The other has none that processes share.
plain.get('/limited', rateLimit(limit), ok)
plain.get('/slow', async (request) => {
  console.log('waiting')
  const ms = Number(new URL(request.url).searchParams.get('ms'))
  await new Promise((resolve) => setTimeout(resolve, ms))
  return new Response('finished')
})
app.mount('/notes', plain)
app.mount('/cached', createRouter({ ...notes, allowedFields: ['label'], cache: true }))

const bare = createApp({ store: sqliteStore(path === undefined ? {} : { path }), logger: quiet })
bare.use(rateLimit(limit))
bare.mount('/notes', createRouter({ ...notes, allowedFields: ['label'] }))
app.mount(
  '/bare',
  createRouter({ ...notes, allowedFields: ['label'] }).get('/limited', (request) =>
    bare.handle(new Request(new URL('/notes', request.url))),
  ),
)

try {
  const served = await serve(app, { port: 0, hostname: '127.0.0.1', processes: 2, ...options })
  console.log(`pid ${process.pid}`)
  console.log(`url ${served.url}`)
} catch (error) {
  console.log(`rejected ${(error as NodeJS.ErrnoException).code ?? error}`)
}
