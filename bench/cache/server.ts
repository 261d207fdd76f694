/**
 * A server whose reads are measured: `node -C fieldgate-source bench/cache/server.ts <kind> [<url of Valkey>]`, the kind being
 *
 * - `constant`: the same Node adapter with an answer that is always the same, the limit;
 * - `none`: the app without a cache;
 * - `memory`, `valkey`: the app with one.
 *
 * @module
 */

import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { redisCache } from '../../adapters/caches/redis.ts'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { jsonResponse } from '../../src/http/response/respond.ts'
import {
  type App,
  type CacheStore,
  type Collection,
  createApp,
  createRouter,
  defineModel,
  type Store,
} from '../../src/index.ts'

const Book = defineModel('Book', {
  fields: { title: z.string(), price: z.number(), text: z.string() },
})
const BOOKS = 1000
const [kind = 'none', url = ''] = process.argv.slice(2)

let reads = 0

function cacheOf(name: string): CacheStore | undefined {
  if (name === 'memory') return memoryCache()
  return name === 'valkey' ? redisCache({ url }) : undefined
}

/** `store`, its reads counted. */
function counted(store: Store): Store {
  return {
    ...store,
    collection(schema) {
      const inner = store.collection(schema)
      if (schema.name !== Book.collection) return inner
      const find: Collection['find'] = (read) => {
        reads += 1
        return inner.find(read)
      }
      const findJson: Collection['findJson'] = (read) => {
        reads += 1
        return inner.findJson?.(read) ?? Promise.resolve([])
      }
      return { ...inner, find, findJson }
    },
  }
}

async function appOf(cache: CacheStore | undefined): Promise<App> {
  const app = createApp({ store: counted(sqliteStore()), env: {}, ...(cache && { cache }) })
  const router = createRouter({
    model: Book,
    allowedFields: ['title', 'price', 'text'],
    maxLimit: 50,
    // A namespace of its own: Valkey outlives the rounds, this database does not.
    cache: cache ? { namespace: crypto.randomUUID(), ttl: 3600 } : false,
  })
  router.get('/reads', () => Response.json(reads))
  app.mount('/books', router)
  const stored = app.store.collection(Book)
  for (let at = 0; at < BOOKS; at += 1) {
    await stored.insert({ title: `Book ${at}`, price: at, text: 'x'.repeat(900) })
  }
  return app
}

/** An app that has nothing to do. */
async function constantApp(): Promise<App> {
  const app = await appOf(undefined)
  const [book, ...others] = await app.store.collection(Book).find({}, { limit: 50 })
  const one = JSON.stringify({ success: true, data: book })
  const list = JSON.stringify({ success: true, data: [book, ...others] })
  return {
    ...app,
    handle: async (request) => jsonResponse(request.url.endsWith('/books') ? list : one),
  }
}

const app = kind === 'constant' ? await constantApp() : await appOf(cacheOf(kind))
const server = await serve(app, { port: 0, hostname: '127.0.0.1' })
console.log(`listening ${new URL(server.url).port}`)
