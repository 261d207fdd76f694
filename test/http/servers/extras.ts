/**
 * Routes beside the atlas, which read bodies in every way that there is, and those for probes.
 *
 * @module
 */

import * as z from 'zod/mini'
import { batch } from '../../../src/batch/index.ts'
import { health, metrics } from '../../../src/health/index.ts'
import { type App, createRouter, defineModel, type Handler } from '../../../src/index.ts'
import { withGuards } from './guarded.ts'
import { withLimits } from './limited.ts'
import { withWays } from './ways.ts'

const Extra = defineModel('Extra', { fields: { name: z.string() } })
const Batched = defineModel('Batched', { fields: { name: z.string() }, unique: ['name'] })

/** How a handler may read a body; each gives the length of what it read. */
const WAYS: Readonly<Record<string, (request: Request) => Promise<number>>> = {
  text: async (request) => (await request.text()).length,
  json: async (request) => JSON.stringify(await request.json()).length,
  arrayBuffer: async (request) => (await request.arrayBuffer()).byteLength,
  bytes: async (request) => (await request.bytes()).length,
  blob: async (request) => (await request.blob()).size,
  formData: async (request) => String((await request.formData()).get('name')).length,
  async stream(request) {
    let size = 0
    for await (const chunk of request.body ?? []) size += chunk.length
    return size
  },
  async textStream(request) {
    const { textStream } = request as Request & { textStream?(): ReadableStream<string> }
    let length = 0
    for await (const text of textStream?.call(request) ?? []) length += text.length
    return length
  },
  async clone(request) {
    const copy = request.clone()
    const [text, own] = await Promise.all([copy.text(), request.text()])
    return text === own ? text.length : -1
  },
  async response(request) {
    return (await new Response(request.body).text()).length
  },
}

const read: Handler = async (request) => {
  const way = WAYS[String(request.params.way)]
  // Bun's Response.json names a charset, the others' does not.
  return new Response(JSON.stringify({ success: true, data: await way?.(request) }), {
    headers: { 'Content-Type': 'application/json' },
  })
}

/** `app` with the routes. */
export function withExtras(app: App): App {
  const router = createRouter({ model: Extra, allowedFields: ['name'], middlewares: [] })
  router.post('/read/:way', read).query('/read/:way', read)
  router.get('/client', async (_request, { clientAddress }) => {
    const data = JSON.stringify({ success: true, data: clientAddress ?? null })
    return new Response(data, { headers: { 'Content-Type': 'application/json' } })
  })
  router.post('/described/:id', ({ params, query, body }) => ({ ...params, ...query, ...body }), {
    params: z.object({ id: z.int() }),
    query: z.object({ dry: z._default(z.boolean(), false) }),
    body: z.object({ day: z.date() }),
    response: z.object({ id: z.int(), dry: z.boolean(), day: z.date() }),
  })
  router.post('/guarded', async (request) => void (await request.text()), read)
  return withLimits(withGuards(withWays(app)))
    .mount('/extras', router)
    .mount('/batched', createRouter({ model: Batched, allowedFields: ['name'], middlewares: [] }))
    .mount('/batch', batch())
    .mount('/', health())
    .mount('/', metrics())
}
