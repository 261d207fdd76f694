/**
 * The server that is told to end: `<runtime> server.ts <database>`. Says its process id and its address.
 *
 * @module
 */

import process from 'node:process'
import * as z from 'zod'
import type { Served, ServeOptions } from '../../../adapters/runtimes/server.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { type App, createApp, createRouter, defineModel } from '../../../src/index.ts'

const runtime = 'Deno' in globalThis ? 'deno' : 'Bun' in globalThis ? 'bun' : 'node'
const { serve } = (await import(`../../../adapters/runtimes/${runtime}.ts`)) as {
  serve(app: App, options?: ServeOptions): Promise<Served>
}

const Book = defineModel('Book', { fields: { title: z.string() } })
const books = createRouter({ model: Book, allowedFields: ['title'], middlewares: [] })
/** An answer that takes a while, so that some are always under way. */
books.get('/slow', async () => {
  await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 300))
  return Response.json({ success: true, data: 'x'.repeat(5000) })
})

const app = createApp({ store: sqliteStore({ path: process.argv[2] ?? '' }) })
app.mount('/books', books)
const { url } = await serve(app, { port: 0, hostname: '127.0.0.1' })
console.log(`${process.pid} ${url}`)
