/**
 * A Worker whose D1, hashes and images stop on demand, so that its requests are ended while they wait for them.
 *
 * - `/stop?at=…` stops the next call that has this text in it, such as that of a statement; `&ms=…` for some time only
 * - `/later?ms=…` moves its clocks
 *
 * @module
 */

import * as z from 'zod/mini'
import { upstashCache } from '../../adapters/caches/upstash.ts'
import { type R2Binding, r2Files } from '../../adapters/files/r2.ts'
import { type WorkerContext, worker } from '../../adapters/runtimes/workers.ts'
import { type D1Binding, type D1Statement, d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { idempotency } from '../../src/guards/index.ts'
import { createApp, createAuthRouter, createRouter, defineModel } from '../../src/index.ts'

interface Env {
  readonly DB: D1Binding
  readonly FILES: R2Binding
  readonly CACHE_URL: string
  /** The time limit of requests, in milliseconds. */
  readonly LIMIT_MS: number
}

let stop: { readonly at: string; readonly ms: number } | undefined

/** Waits, for ever if that was asked for, where the next call of `what` is to stop. */
async function passed(what: string): Promise<void> {
  if (!stop || !what.includes(stop.at)) return
  const { ms } = stop
  stop = undefined
  await new Promise<void>((resolve) => {
    if (ms > 0) setTimeout(resolve, ms)
  })
}

const raw = new WeakMap<D1Statement, { readonly statement: D1Statement; readonly sql: string }>()

function stopping(database: D1Binding): D1Binding {
  const around = (statement: D1Statement, sql: string): D1Statement => {
    const own: D1Statement = {
      bind: (...values) => around(statement.bind(...values), sql),
      async all() {
        const answer = await statement.all()
        await passed(sql)
        return answer
      },
    }
    raw.set(own, { statement, sql })
    return own
  }
  return {
    prepare: (sql) => around(database.prepare(sql), sql),
    async batch(statements) {
      const known = statements.flatMap((one) => raw.get(one) ?? [])
      const answers = await database.batch(known.map(({ statement }) => statement))
      for (const { sql } of known) await passed(sql)
      return answers
    },
  }
}

const Book = defineModel('Book', { fields: { title: z.string() }, changes: true })
const Order = defineModel('Order', { fields: { item: z.string() } })
const Photo = defineModel('Photo', {
  fields: { title: z.string(), image: z.optional(z.string()) },
})

const own = worker<Env>(({ DB, FILES, CACHE_URL, LIMIT_MS }) => {
  const app = createApp({
    store: d1Store(stopping(DB)),
    cache: upstashCache({ url: CACHE_URL, token: 'a token' }),
    files: r2Files(FILES, { secret: 'a-secret-for-this-test-only-0123456789' }),
    images: {
      async optimize(bytes) {
        await new Promise((resolve) => setTimeout(resolve, 300))
        return bytes.subarray(0, -1)
      },
    },
    env: {},
    requestTimeoutMs: LIMIT_MS,
    maxStreams: 2,
  })
  const middlewares: never[] = []
  const allowedFields = ['title'] as const
  app.mount(
    '/books',
    createRouter({
      model: Book,
      middlewares,
      allowedFields,
      cache: { timeoutMs: 400 },
      live: true,
    }),
  )
  app.mount(
    '/orders',
    createRouter({
      ...{ model: Order, allowedFields: ['item'] },
      middlewares: [idempotency({ ttlSeconds: 3600 })],
    }),
  )
  app.mount(
    '/photos',
    createRouter({
      ...{ model: Photo, middlewares, allowedFields: ['title', 'image'] },
      upload: {
        ...{ path: 'photos/', fields: [{ name: 'image' }], acl: 'public-read' },
        imgOptimizations: 'low',
      },
    }),
  )
  const auth = createAuthRouter({
    token: { secret: 'a-secret-for-this-test-only-0123456789' },
    password: {
      async common() {
        await passed('common passwords')
        return new Set(['a common password'])
      },
      async hash(plain) {
        await passed('hash')
        return `hashed ${plain}`
      },
      verify: async (plain, stored) => stored === `hashed ${plain}`,
    },
  })
  app.mount('/auth', auth.router)
  return app
})

export default {
  async fetch(request: Request, env: Env, context: WorkerContext): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const ms = Number(searchParams.get('ms'))
    if (pathname === '/stop') {
      stop = { at: searchParams.get('at') ?? '', ms }
      return new Response()
    }
    if (pathname === '/later') {
      for (const clock of [Date, performance]) {
        const before = clock.now.bind(clock)
        clock.now = () => before() + ms
      }
      return new Response()
    }
    return own.fetch(request, env, context)
  },
}
