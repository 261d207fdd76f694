/** A Worker with a job, a consumer and webhooks over D1, or in a Durable Object. */

import * as z from 'zod/mini'
import { appObject, type WorkerHandler, worker } from '../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { durableStore } from '../../adapters/stores/sqlite/calls/durable-sqlite.ts'
import { consume } from '../../src/background/changes/index.ts'
import { jobs } from '../../src/background/jobs/index.ts'
import { webhooks } from '../../src/background/webhooks/index.ts'
import { type App, createApp, createRouter, defineModel } from '../../src/index.ts'
import type { Store } from '../../src/ports/store/store.ts'

const Task = defineModel('Task', { fields: { title: z.string() }, changes: true })
const Seen = defineModel('Seen', { fields: { what: z.string() } })

interface Env {
  readonly API: unknown
  /** If it is absent, the records are in a Durable Object. */
  readonly DB?: D1Binding
  readonly URL: string
  readonly SECRET: string
}

function appOver(store: Store, { URL: url, SECRET: secret }: Env): App {
  const app = createApp({ store, logger: console })
  app.mount('/tasks', createRouter({ model: Task, middlewares: [], allowedFields: ['title'] }))
  app.mount('/seen', createRouter({ model: Seen, middlewares: [] }))
  const see = (what: string) => app.store.collection(Seen).insert({ what })
  jobs(app, { everySecond: { schedule: '* * * * * *', run: () => see('tick') } })
  consume(app, 'seer', { models: [Task], handle: ({ after }) => see(`task ${after?.title}`) })
  webhooks(app, { endpoints: [{ url, secret }], allowPrivate: true })
  webhooks(app, { name: 'refused', endpoints: [{ url, secret }] })
  return app
}

export const Api = appObject<Env>((env, { storage }) => appOver(durableStore(storage), env))
const object = Api.worker({ binding: 'API' })
const plain = worker<Env>((env) => appOver(d1Store(env.DB as D1Binding), env))
const handlerOf = ({ DB }: Env): WorkerHandler<Env> => (DB ? plain : object)

export default {
  fetch: (request, env, context) => handlerOf(env).fetch(request, env, context),
  scheduled: (controller, env, context) => handlerOf(env).scheduled(controller, env, context),
} satisfies WorkerHandler<Env>
