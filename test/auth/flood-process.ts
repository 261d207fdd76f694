/**
 * An app to be flooded with sign-ins, as a process: `node flood-process.ts <database>` says its address, and how
 * much memory it takes whenever it is asked.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createAuthRouter } from '../../src/index.ts'
import { authOptions, userModel } from './accounts.ts'

const quiet = () => {}
const app = createApp({
  store: sqliteStore({ path: process.argv[2] ?? ':memory:' }),
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  env: {},
})
const lockout = { maxAttempts: 1_000_000 }
const client = (request: Request) => request.headers.get('x-client') ?? undefined
const options = authOptions(userModel(), [], { password: {}, lockout, client })
app.mount('/auth', createAuthRouter(options).router)
const { url } = await serve(app, { hostname: '127.0.0.1', port: 0 })

process.on('message', () => process.send?.({ rss: process.memoryUsage().rss, peak: peak() }))
process.send?.({ url })

/** The most memory that this process has had. On Linux `maxRSS` begins with that of the process which started this one. */
function peak(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024
}
