/**
 * Tasks and a batch, in an app with the options that a test wants.
 *
 * @module
 */

import * as z from 'zod'
import { batch } from '../../src/batch/index.ts'
import { type AppOptions, createRouter, defineModel, type Model } from '../../src/index.ts'
import { type Answer, type Service, service } from '../records/service.ts'

interface Shown {
  readonly name: string
  readonly owner?: string | undefined
  readonly done?: boolean | undefined
}

export const Task: Model<Shown> = defineModel('BatchTask', {
  fields: { name: z.string(), owner: z.string().optional(), done: z.boolean().optional() },
  unique: ['name'],
})

/** The index of the operation that was refused. */
export const operationOf = (body: object): number | undefined =>
  (body as { operation?: number }).operation

/** An app with tasks and a batch. */
export interface Tasks extends Service {
  batch(operations: readonly object[], headers?: Record<string, string>): Promise<Answer>
  /** The operation that creates a task. */
  create(name: unknown): { readonly method: string; readonly path: string; readonly body: object }
}

/** Tasks, with options of their router and of the app. */
export function tasks(options: object = {}, given: Partial<AppOptions> = {}): Tasks {
  const made = service(given)
  const router = createRouter({ model: Task, allowedFields: ['name', 'done'], ...options })
  made.app.mount('/tasks', router).mount('/batch', batch())
  const create = (name: unknown) => ({ method: 'POST', path: '/tasks', body: { name } })
  const send = (operations: readonly object[], headers: Record<string, string> = {}) =>
    made.send('POST', '/batch', { json: { operations }, headers })
  return { ...made, batch: send, create }
}
