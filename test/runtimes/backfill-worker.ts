/**
 * A Worker over a Durable Object's own records, whose model is that of the version bound to it.
 *
 * @module
 */

import * as z from 'zod'
import { appObject } from '../../adapters/runtimes/workers.ts'
import { durableStore } from '../../adapters/stores/sqlite/calls/durable-sqlite.ts'
import { backfillAtStart } from '../../src/app/backfill.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'

const before = defineModel('Book', { fields: { name: z.string() }, unique: ['name'] })
const after = defineModel('Book', {
  fields: { title: z.string(), language: z.string().default('en') },
  unique: ['title'],
  renamed: { name: 'title' },
})

interface Env {
  readonly API: unknown
  readonly VERSION: string
}

export const Api = appObject<Env>(({ VERSION }, { storage }) => {
  const app = createApp({ store: durableStore(storage) })
  backfillAtStart(app)
  return VERSION === 'before'
    ? app.mount('/books', createRouter({ model: before, middlewares: [], allowedFields: ['name'] }))
    : app.mount('/books', createRouter({ model: after, middlewares: [], query: ['language'] }))
})

export default Api.worker({ binding: 'API' })
