/**
 * Serves an app with a database file, uploads, accounts and probes on Deno: `deno run … permitted-fixture.ts <folder>`.
 *
 * @module
 */

import { join } from 'node:path'
import process from 'node:process'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import { serve } from '../../adapters/runtimes/deno.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { health } from '../../src/health/index.ts'
import { createApp, createAuthRouter, createRouter, defineModel } from '../../src/index.ts'

const [, , folder = ''] = process.argv
const secret = 'a secret for tests, 32 characters or more'
const Book = defineModel('PermittedBook', { fields: { cover: z.string().optional() } })
const app = createApp({
  store: sqliteStore({ path: join(folder, 'books.db') }),
  files: diskFiles({ root: join(folder, 'files'), secret }),
})
app.mount('/', health())
app.mount('/auth', createAuthRouter({ name: 'PermittedUser', token: { secret } }).router)
app.mount(
  '/books',
  createRouter({
    model: Book,
    middlewares: [],
    allowedFields: ['cover'],
    upload: { fields: [{ name: 'cover' }], allowedMimeTypes: ['image/png'] },
  }),
)

const { url } = await serve(app, { port: 0, hostname: '127.0.0.1' })
console.log(`listening ${new URL(url).port}`)
