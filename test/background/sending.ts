/**
 * Apps that send webhooks of tasks.
 *
 * @module
 */

import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { type WebhookOptions, webhooks } from '../../src/background/webhooks/index.ts'
import { type App, createRouter, defineModel } from '../../src/index.ts'
import type { Apps } from './apps.ts'
import { type Receiver, receiver } from './receiver.ts'

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

export const Task = defineModel('Task', {
  fields: {
    title: z.string(),
    owner: z.string().optional(),
    note: z.string().optional(),
    secret: z.string().optional(),
  },
  hidden: ['secret'],
  changes: true,
})
export const Memo = defineModel('Memo', { fields: { text: z.string() }, changes: true })

/** A receiver that ends with the test. */
export async function received(...given: Parameters<typeof receiver>): Promise<Receiver> {
  const own = await receiver(...given)
  onTestFinished(() => own.stop())
  return own
}

/** An app with public tasks that sends webhooks. */
export async function sending(
  it: Apps,
  options: WebhookOptions,
  mount: (app: App) => void = (app) => {
    app.mount('/tasks', createRouter({ model: Task, allowedFields: ['title'], middlewares: [] }))
  },
): Promise<App> {
  const app = it.app()
  mount(app)
  webhooks(app, { allowPrivate: true, ...options })
  await app.ready()
  return app
}

/** The tasks of an app. */
export const tasks = (app: App) => app.store.collection(Task)
