/**
 * A Worker whose books are cached in Upstash, for the tests of the cache on workerd.
 *
 * @module
 */

import * as z from 'zod'
import { upstashCache } from '../../adapters/caches/upstash.ts'
import { worker } from '../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'

interface Env {
  readonly DB: D1Binding
  readonly CACHE_URL: string
  readonly CACHE_TOKEN: string
}

const Book = defineModel('WorkerBook', { fields: { title: z.string(), price: z.number() } })

export default worker<Env>(({ DB, CACHE_URL, CACHE_TOKEN }) => {
  const cache = upstashCache({ url: CACHE_URL, token: CACHE_TOKEN })
  const app = createApp({ store: d1Store(DB), cache, env: {} })
  const router = createRouter({
    model: Book,
    query: ['price'],
    allowedFields: ['title', 'price'],
    cache: { timeoutMs: 2000 },
  })
  return app.mount('/books', router)
})
