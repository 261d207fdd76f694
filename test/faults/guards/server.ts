/**
 * A server of notes behind guards: `node server.ts <JSON of GuardedOptions>` serves them on a free port and says
 * `listening <port>`. It ends when its standard input closes, that is with the process that started it.
 *
 * @module
 */

import process from 'node:process'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { redisCache } from '../../../adapters/caches/redis.ts'
import { upstashCache } from '../../../adapters/caches/upstash.ts'
import { serve } from '../../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { idempotency, rateLimit } from '../../../src/guards/index.ts'
import { type CacheStore, createApp, createRouter, defineModel } from '../../../src/index.ts'

/** Where a server keeps its notes, its counts and its keys. */
export interface GuardedOptions {
  /** The path of an SQLite file. */
  readonly store: string
  /** A `redis://` address, `memory`, or the address and token of an Upstash database. */
  readonly cache?: string | { readonly url: string; readonly token: string }
  /** How many requests may be counted for a client at `/limited`. */
  readonly limit?: number
}

const Note = defineModel('Note', { fields: { label: z.string() }, indexes: [['label']] })
/** So long that no test sees its end. */
const CENTURY = 100 * 365 * 86_400

function cacheAt(address: NonNullable<GuardedOptions['cache']>): CacheStore {
  if (typeof address === 'object') return upstashCache(address)
  return address === 'memory' ? memoryCache() : redisCache({ url: address })
}

const { store, cache: address, limit = 1 } = JSON.parse(process.argv[2] ?? '') as GuardedOptions
const cache = address && { cache: cacheAt(address) }
const quiet = () => {}
const app = createApp({
  store: sqliteStore({ path: store }),
  maxInFlight: 0,
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
})
const key = ({ headers }: Request) => headers.get('x-client') ?? undefined
app.mount(
  '/notes',
  createRouter({
    model: Note,
    allowedFields: ['label'],
    query: ['label'],
    pagination: 'cursor',
    maxLimit: 2000,
    middlewares: [idempotency({ ttlSeconds: CENTURY, ...cache })],
  }),
)
app.mount(
  '/limited',
  createRouter({
    model: Note,
    allowedFields: [],
    middlewares: [rateLimit({ limit, windowSeconds: CENTURY, key, timeoutMs: 60_000, ...cache })],
  }),
)
process.stdin.resume().on('close', () => process.exit())
const { url } = await serve(app, { port: 0, hostname: '127.0.0.1' })
console.log(`listening ${new URL(url).port}`)
