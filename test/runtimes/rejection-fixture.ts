/**
 * An app whose handlers start work that fails: `<runtime> rejection-fixture.ts`.
 *
 * @module
 */

import process from 'node:process'
import * as z from 'zod'
import type { Served, ServeOptions } from '../../adapters/runtimes/server.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type App, createApp, createRouter, defineModel } from '../../src/index.ts'

const runtime = 'Deno' in globalThis ? 'deno' : 'Bun' in globalThis ? 'bun' : 'node'
const { serve } = (await import(`../../adapters/runtimes/${runtime}.ts`)) as {
  serve(app: App, options?: ServeOptions): Promise<Served>
}

const fail = async () => {
  throw new Error('failed work')
}
const done = () => Response.json({ success: true })

const Note = defineModel('Note', { fields: { text: z.string() } })
const notes = createRouter({ model: Note, middlewares: [] })
notes.get('/awaited', async (_, context) => {
  context.waitUntil(fail())
  return done()
})
notes.get('/floating', () => {
  void fail()
  return done()
})
notes.get('/timer', () => {
  setTimeout(() => {
    throw new Error('failed work')
  }, 1)
  return done()
})

const silent = { debug() {}, info() {}, warn() {} }
const logger = { ...silent, error: (message: string) => console.log(`logged ${message}`) }
const app = createApp({ store: sqliteStore(), logger }).mount('/notes', notes)
const { url } = await serve(app, { port: 0, hostname: '127.0.0.1' })
console.log(`pid ${process.pid}`)
console.log(`url ${url}`)
