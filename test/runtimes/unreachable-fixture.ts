/**
 * Serves an app whose database cannot be reached: `<runtime> unreachable-fixture.ts`.
 *
 * @module
 */

import type { Served, ServeOptions } from '../../adapters/runtimes/server.ts'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { type App, createApp } from '../../src/index.ts'

const runtime = 'Deno' in globalThis ? 'deno' : 'Bun' in globalThis ? 'bun' : 'node'
const { serve } = (await import(`../../adapters/runtimes/${runtime}.ts`)) as {
  serve(app: App, options?: ServeOptions): Promise<Served>
}

// Nothing listens on port 1.
const app = createApp({ store: mongoStore({ url: 'mongodb://127.0.0.1:1/none' }) })
const isTold = (error: Error) => error.cause instanceof Error && error.cause.cause instanceof Error
await serve(app, { hostname: '127.0.0.1', port: 0 }).catch((error: Error) => {
  console.log(isTold(error) ? 'the cause is there' : 'no cause')
  throw error
})
