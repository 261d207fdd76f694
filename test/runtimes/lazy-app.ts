/**
 * The app of lazy-worker.ts: a live list, and the admin page.
 *
 * @module
 */

import * as z from 'zod/mini'
import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { admin } from '../../packages/admin/src/index.ts'
import { type App, createApp, createRouter, defineModel } from '../../src/index.ts'

const Task = defineModel('LazyTask', { fields: { title: z.string() }, changes: true })

let app: App | undefined

/** The app, made once. */
export function appOn(database: D1Binding): App {
  const options = { model: Task, middlewares: [], allowedFields: ['title' as const], live: true }
  app ??= createApp({ store: d1Store(database) })
    .mount('/tasks', createRouter(options))
    .mount('/admin', admin())
  return app
}
