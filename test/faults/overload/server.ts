/**
 * The server that gets more requests than it can answer: `<runtime> server.ts <database>`. Says its process id and its
 * address. Its list is searched and not cached, so that each request is a few milliseconds of work.
 *
 * @module
 */

import process from 'node:process'
import * as z from 'zod'
import type { Served, ServeOptions } from '../../../adapters/runtimes/server.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { type App, createApp, createRouter, defineModel } from '../../../src/index.ts'

const RECORDS = 2000

const runtime = 'Deno' in globalThis ? 'deno' : 'Bun' in globalThis ? 'bun' : 'node'
const { serve } = (await import(`../../../adapters/runtimes/${runtime}.ts`)) as {
  serve(app: App, options?: ServeOptions): Promise<Served>
}

const Book = defineModel('Book', { fields: { title: z.string(), pages: z.number() } })
const app = createApp({
  store: sqliteStore({ path: process.argv[2] ?? '' }),
  // An overload is one line a second, which nobody reads here.
  logger: { debug() {}, info() {}, warn() {}, error() {} },
})
app.mount(
  '/books',
  createRouter({ model: Book, search: ['title'], maxLimit: 500, middlewares: [] }),
)
for (let pages = 0; pages < RECORDS; pages += 1) {
  await app.store.collection(Book).insert({ title: `Book number ${pages}`, pages })
}
const { url } = await serve(app, { port: 0, hostname: '127.0.0.1' })
console.log(`${process.pid} ${url}`)
