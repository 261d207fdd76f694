import * as z from 'zod/mini'
import { worker } from '../../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'

const Task = defineModel('Task', { fields: { title: z.string() }, changes: true })

export default worker<{ readonly DB: D1Binding }>((env) =>
  createApp({ store: d1Store(env.DB) }).mount(
    '/tasks',
    createRouter({ model: Task, middlewares: [], allowedFields: ['title'], live: true }),
  ),
)
