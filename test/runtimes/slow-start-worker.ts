/**
 * A Worker on a D1 whose first answer is late, by as many milliseconds as it is told, and whose requests have so many.
 *
 * @module
 */

import * as z from 'zod/mini'
import { worker } from '../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { health } from '../../src/health/index.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'

interface Env {
  readonly DB: D1Binding
  /** How late the first answer is, in milliseconds; 0 for never. */
  readonly LATE: number
  readonly LIMIT: number
}

const Book = defineModel('Book', { fields: { title: z.string() } })

function late(database: D1Binding, forMs: number): D1Binding {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isFirst = true
  return {
    prepare: (sql) => database.prepare(sql),
    async batch(statements) {
      if (isFirst) {
        isFirst = false
        if (forMs > 0) setTimeout(resolve, forMs)
        await promise
      }
      return database.batch(statements)
    },
  }
}

export default worker<Env>(({ DB, LATE, LIMIT }) =>
  createApp({ store: d1Store(late(DB, LATE)), requestTimeoutMs: LIMIT })
    .mount('/', health({ deadlineMs: LIMIT - 200 }))
    .mount('/books', createRouter({ model: Book, middlewares: [] })),
)
