/**
 * An app that serves from a thread of its own, which tells how long its event loop stood still.
 *
 * @module
 */

import { parentPort } from 'node:worker_threads'
import { z } from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import {
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Logger,
} from '../../src/index.ts'
import { authOptions, secret, userModel } from '../auth/accounts.ts'
import { slowness } from './processor-time.ts'

const silent = () => {}
const logger: Logger = { debug: silent, info: silent, warn: silent, error: console.error }

const fields = {
  title: z.string().optional(),
  size: z.number().optional(),
  at: z.date().optional(),
  numbers: z.array(z.number()).optional(),
  texts: z.array(z.string()).optional(),
  dates: z.array(z.date()).optional(),
  rules: z.array(z.string().min(90).regex(/^x/)).optional(),
  rows: z.array(z.object({ a: z.number() })).optional(),
  wide: z
    .array(z.object(Object.fromEntries([...'abcdefghijkl'].map((key) => [key, z.number()]))))
    .optional(),
  either: z.array(z.union([z.object({ a: z.number() }), z.object({ b: z.string() })])).optional(),
  map: z.record(z.string(), z.number()).optional(),
  maps: z.array(z.record(z.string(), z.number())).optional(),
  any: z.unknown().optional(),
}
const Plain = defineModel('PausePlain', { fields })
const Searched = defineModel('PauseSearched', { fields })
const Cached = defineModel('PauseCached', { fields })
const { dates: _, ...inAccounts } = fields
const User = userModel({ fields: inAccounts })

const app = createApp({
  store: sqliteStore(),
  cache: memoryCache(),
  logger,
  env: {},
  secret,
})
const common = {
  query: ['title', 'size', 'at', 'texts', 'numbers'],
  allowedFields: Object.keys(fields) as (keyof typeof fields)[],
  middlewares: [],
} as const
app.mount(
  '/plain',
  createRouter({ model: Plain, ...common, upload: { fields: [{ name: 'any' }] } }),
)
app.mount('/cached', createRouter({ model: Cached, ...common, cache: true, pagination: 'cursor' }))
app.mount('/searched', createRouter({ model: Searched, ...common, search: ['title'] }))
const allowed = Object.keys(inAccounts)
const accounts = authOptions(User, [], { registerFields: allowed, updateFields: allowed })
app.mount('/auth', createAuthRouter(accounts).router)

const { url } = await serve(app, { port: 0, hostname: '127.0.0.1' })

/** The processor time of this thread in milliseconds: what others do on the machine is no pause of ours. */
function worked(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

let longest = 0
let before = worked()
const look = (): void => {
  const now = worked()
  longest = Math.max(longest, now - before)
  before = now
}
// Looked at behind the sockets: a chain of timers would hold these up, and no timer.
setInterval(() => setImmediate(look), 1)

parentPort?.on('message', (word: string) => {
  if (word === 'begin') {
    // What was done before is not looked at any more, as the work that tells how slow the machine is.
    before = worked()
    longest = 0
    parentPort?.postMessage('begun')
  } else if (word === 'slowness') {
    parentPort?.postMessage(slowness())
  } else {
    setTimeout(() => parentPort?.postMessage(longest), 5)
  }
})
parentPort?.postMessage(url)
