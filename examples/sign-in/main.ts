/**
 * Serves the app and its page on http://localhost:3000: `npm run example examples/sign-in/main.ts`.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { serve } from 'fieldgate/node'
import { sqliteStore } from 'fieldgate/sqlite'
import { signIn } from './app.ts'

const origin = 'http://localhost:3000'
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('page.ts', import.meta.url))],
  bundle: true,
  format: 'esm',
  write: false,
  conditions: ['fieldgate-source'],
})
const app = signIn({
  store: sqliteStore({ path: process.env.DATABASE ?? 'sign-in.db' }),
  // Without SECRET, everyone is signed out when the server starts again.
  secret: process.env.SECRET ?? randomBytes(32).toString('base64url'),
  origin,
  send: ({ to, code }) => console.log(`to ${to}: ${code}`),
  page: {
    html: await readFile(new URL('page.html', import.meta.url), 'utf8'),
    script: outputFiles[0]?.text ?? '',
  },
})
await serve(app, { port: Number(new URL(origin).port || 80) })
