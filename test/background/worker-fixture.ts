/** A Worker with a job, a consumer and webhooks over D1. */

import * as z from 'zod/mini'
import { worker } from '../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/d1.ts'
import { consume } from '../../src/background/changes/index.ts'
import { jobs } from '../../src/background/jobs/index.ts'
import { webhooks } from '../../src/background/webhooks/index.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'

const Task = defineModel('Task', { fields: { title: z.string() }, changes: true })
const Seen = defineModel('Seen', { fields: { what: z.string() } })

interface Env {
  readonly DB: D1Binding
  readonly URL: string
  readonly SECRET: string
}

const handler = worker(({ DB, URL: url, SECRET: secret }: Env) => {
  const app = createApp({ store: d1Store(DB), logger: console })
  app.mount('/tasks', createRouter({ model: Task, middlewares: [], allowedFields: ['title'] }))
  app.mount('/seen', createRouter({ model: Seen, middlewares: [] }))
  const see = (what: string) => app.store.collection(Seen).insert({ what })
  jobs(app, { everySecond: { schedule: '* * * * * *', run: () => see('tick') } })
  consume(app, 'seer', { models: [Task], handle: ({ after }) => see(`task ${after?.title}`) })
  webhooks(app, { endpoints: [{ url, secret }], allowPrivate: true })
  webhooks(app, { name: 'refused', endpoints: [{ url, secret }] })
  return app
})

export default handler
