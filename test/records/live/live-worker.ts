import * as z from 'zod/mini'
import { worker } from '../../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'

const Task = defineModel('Task', { fields: { title: z.string() }, changes: true })

interface Env {
  readonly DB: D1Binding
  /** How often the log may be read, as Cloudflare limits the queries of a request. */
  readonly QUERIES?: number
}

function limited(database: D1Binding, queries: number): D1Binding {
  let left = queries
  return {
    prepare(sql) {
      if (sql.startsWith('SELECT') && sql.includes('fieldgate_change')) left -= 1
      if (left < 0) {
        throw new Error('D1_ERROR: Too many API requests by single Worker invocation.')
      }
      return database.prepare(sql)
    },
    batch: (statements) => database.batch(statements),
  }
}

export default worker<Env>(({ DB, QUERIES = Number.POSITIVE_INFINITY }) =>
  createApp({ store: d1Store(limited(DB, QUERIES)) }).mount(
    '/tasks',
    createRouter({ model: Task, middlewares: [], allowedFields: ['title'], live: true }),
  ),
)
