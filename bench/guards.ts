/**
 * `npm run bench:guards`: what the guards of `fieldgate/guards` cost a request, in processor time.
 *
 * Each request reads a record by its id from SQLite; those of `idempotency` change it, and so do the last two, which are to be
 * compared. With `REDIS_URL`, `rateLimit` and `idempotency` are measured with that server too.
 *
 * @module
 */

import process from 'node:process'
import * as z from 'zod'
import { redisCache } from '../adapters/caches/redis.ts'
import { sqliteStore } from '../adapters/stores/sqlite/node.ts'
import {
  apiKey,
  cors,
  idempotency,
  rateLimit,
  readOnly,
  secureHeaders,
} from '../src/guards/index.ts'
import { createApp, createRouter, defineModel, type Guard } from '../src/index.ts'
import { compare, type Send } from './processor-time.ts'

const key = 'a-key-of-24-bytes-or-so-'
const limits = { limit: Number.MAX_SAFE_INTEGER, windowSeconds: 86_400 }
const quiet = () => {}
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
const redis = () => redisCache({ url: process.env.REDIS_URL ?? '' })

/** Starts an app behind `guards` whose requests read its only record. */
async function reading(guards: readonly Guard[]): Promise<Send> {
  const { app, url } = await served(guards)
  const headers = { Origin: 'https://app.example.com', 'X-API-Key': key }
  return async () => {
    const response = await app.handle(new Request(url, { headers }), undefined, CLIENT)
    if (response.status !== 200) throw new Error(`${response.status}`)
  }
}

/** The same whose requests change the record, each with a key of its own. */
async function writing(guards: readonly Guard[]): Promise<Send> {
  const { app, url } = await served(guards)
  return async () => {
    const headers = {
      'Content-Type': 'application/json',
      'Idempotency-Key': crypto.randomUUID(),
    }
    const body = '{"text":"two"}'
    const response = await app.handle(new Request(url, { method: 'PATCH', headers, body }))
    if (response.status !== 200) throw new Error(`${response.status}`)
  }
}

const CLIENT = { clientAddress: '2001:db8::1' }

async function served(guards: readonly Guard[]) {
  const app = createApp({ store: sqliteStore(), logger })
  for (const guard of guards) app.use(guard)
  const Note = defineModel('Note', { fields: { text: z.string() } })
  app.mount('/notes', createRouter({ model: Note, middlewares: [], allowedFields: ['text'] }))
  const { _id } = await app.store.collection(Note).insert({ text: 'one' })
  return { app, url: `http://localhost/notes/${_id}` }
}

await compare(import.meta.url, {
  'a read': () => reading([]),
  cors: () => reading([cors({ origins: ['https://app.example.com'] })]),
  secureHeaders: () => reading([secureHeaders()]),
  readOnly: () => reading([readOnly()]),
  apiKey: () => reading([apiKey({ keys: [key] })]),
  rateLimit: () => reading([rateLimit(limits)]),
  ...(process.env.REDIS_URL && {
    'rateLimit in Redis': () => reading([rateLimit({ ...limits, cache: redis() })]),
  }),
  'a write': () => writing([]),
  'idempotency in the store': () => writing([idempotency({ ttlSeconds: 86_400 })]),
  ...(process.env.REDIS_URL && {
    'idempotency in Redis': () => writing([idempotency({ ttlSeconds: 86_400, cache: redis() })]),
  }),
})
