/**
 * The server that the fault programme harms: `node server.ts <JSON of NotesOptions>` serves notes on a free port and
 * says `listening <port>`. It ends when its standard input closes, that is with the process that started it.
 *
 * @module
 */

import process from 'node:process'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { redisCache } from '../../../adapters/caches/redis.ts'
import { diskFiles } from '../../../adapters/files/disk.ts'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  type CacheStore,
  createApp,
  createRouter,
  defineModel,
  type Store,
} from '../../../src/index.ts'

/** What the server keeps its notes in. */
export interface NotesOptions {
  /** A `mongodb://` address with a database, a `postgresql://` one with a schema, or the path of an SQLite file. */
  readonly store: string
  /** A `redis://` address, or `memory`. Without it no read is cached. */
  readonly cache?: string
  /** The folder of the notes' files. Without it a note has none. */
  readonly files?: string
}

const Note = defineModel('Note', {
  fields: { label: z.string(), n: z.number(), file: z.string().optional() },
})

async function main({ store, cache, files }: NotesOptions): Promise<void> {
  const quiet = () => {}
  const app = createApp({
    store: await storeOf(store),
    ...(cache && { cache: cacheAt(cache) }),
    ...(files && {
      files: diskFiles({ root: files, secret: 'at least thirty-two characters here' }),
    }),
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  })
  app.use(async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/five-seconds') await new Promise((resolve) => setTimeout(resolve, 5000))
    if (pathname !== '/heap') return
    globalThis.gc?.()
    return Response.json(process.memoryUsage().heapUsed)
  })
  app.mount(
    '/notes',
    createRouter({
      model: Note,
      allowedFields: ['label', 'n', 'file'],
      query: ['label', 'n'],
      pagination: 'cursor',
      // As many as `allNotes` asks for.
      maxLimit: 2000,
      middlewares: [],
      cache: cache !== undefined,
      ...(files && { upload: { acl: 'public-read', fields: [{ name: 'file' }] } }),
    }),
  )
  const { serve } = await runtime()
  const { url } = await serve(app, { port: 0, hostname: '127.0.0.1' })
  console.log(`listening ${new URL(url).port}`)
}

/** The server of the runtime that this runs on. */
function runtime(): Promise<typeof import('../../../adapters/runtimes/node.ts')> {
  if ('Deno' in globalThis) return import('../../../adapters/runtimes/deno.ts') as never
  if ('Bun' in globalThis) return import('../../../adapters/runtimes/bun.ts') as never
  return import('../../../adapters/runtimes/node.ts')
}

async function storeOf(address: string): Promise<Store> {
  if (address.startsWith('mongodb:')) return mongoStore({ url: address })
  if (!address.startsWith('postgres')) return sqliteStore({ path: address })
  const { storeAt } = await import('../../stores/postgres/address.ts')
  return storeAt(address)
}

function cacheAt(address: string): CacheStore {
  return address === 'memory' ? memoryCache() : redisCache({ url: address })
}

process.stdin.resume().on('close', () => process.exit())
await main(JSON.parse(process.argv[2] ?? '{}'))
