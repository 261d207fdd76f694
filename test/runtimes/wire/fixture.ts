/**
 * What the random connections ask, on whatever runtime runs it; with `{ "express": true }` in a server of node:http. `close` on its
 * standard input closes it.
 *
 * @module
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import * as z from 'zod'
import { diskFiles } from '../../../adapters/files/disk.ts'
import { toExpress } from '../../../adapters/runtimes/express.ts'
import type { Served, ServeOptions } from '../../../adapters/runtimes/server.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { type App, createApp, createRouter, defineModel } from '../../../src/index.ts'

const runtime = 'Deno' in globalThis ? 'deno' : 'Bun' in globalThis ? 'bun' : 'node'
const { serve } = (await import(`../../../adapters/runtimes/${runtime}.ts`)) as {
  serve(app: App, options?: ServeOptions): Promise<Served>
}
const { root, express, ...options } = JSON.parse(process.argv[2] ?? '{}') as {
  readonly root: string
  readonly express?: boolean
}

const Note = defineModel('Note', {
  fields: { label: z.string(), text: z.string().optional(), file: z.string().optional() },
  indexes: ['label'],
  changes: true,
})

const errors: unknown[] = []
process.on('unhandledRejection', (error) => errors.push(`unhandled ${error}`))
const say = (...words: unknown[]) => console.log(words.join(' '))
const error = (...line: unknown[]) => errors.push(line)
console.error = error
const app = createApp({
  store: sqliteStore({ path: join(root, 'notes.db') }),
  files: diskFiles({ root, secret: 'a secret of at least thirty-two characters' }),
  logger: { debug() {}, info() {}, warn() {}, error },
  env: {},
})
const upload = {
  fields: [{ name: 'file' }],
  allowedMimeTypes: ['application/pdf'],
  acl: 'public-read',
} as const
const allowedFields = ['label', 'text', 'file'] as const
app.mount(
  '/notes',
  createRouter({
    model: Note,
    middlewares: [],
    query: ['label'],
    allowedFields,
    upload,
    live: true,
  }),
)
/** How many endless bodies and handlers there are whose clients have not left. */
let open = 0
const piece = new Uint8Array(50_000).fill(120)
app.get('/pieces', () => {
  let left = 40
  const pull = async (body: ReadableStreamDefaultController) => {
    if (left % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    if (left === 0) return body.close()
    left -= 1
    body.enqueue(piece)
  }
  return new Response(new ReadableStream({ pull }))
})
app.get('/endless', () => {
  open += 1
  const pull = async (body: ReadableStreamDefaultController) => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    body.enqueue(piece)
  }
  const cancel = () => {
    open -= 1
  }
  return new Response(new ReadableStream({ pull, cancel }))
})
app.get('/held', async ({ signal }) => {
  open += 1
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
  open -= 1
})
app.get('/tally', async () => {
  const notes = await app.store.collection(Note).find()
  return Response.json({ labels: notes.map(({ label }) => label), errors, open })
})

const form = new FormData()
form.set('label', 'first')
form.set(
  'file',
  new Blob([`%PDF-1.4 ${'f'.repeat(300_000)}`], { type: 'application/pdf' }),
  'a.pdf',
)
const made = await app.handle(new Request('http://x/notes', { method: 'POST', body: form }))
const { data } = (await made.json()) as { data: { file: string } }

const served = express
  ? await inExpress()
  : await serve(app, { port: 0, hostname: '127.0.0.1', ...options })
say('pid', process.pid)
say('file', data.file)
say('url', served.url)
createInterface({ input: process.stdin }).on('line', async () => {
  await served.close()
  say('closed', JSON.stringify(errors))
  process.exit()
})

async function inExpress(): Promise<Pick<Served, 'url' | 'close'>> {
  const server = createServer(options, toExpress(app)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      app.endStreams()
      server.close()
      await once(server, 'close')
      await app.close()
    },
  }
}
