/**
 * A server with live lists, for `bench/streams.ts`: each owner follows their own tasks. It does what its parent asks for.
 *
 * @module
 */

import process from 'node:process'
import * as z from 'zod'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel, type Guard } from '../../src/index.ts'

const Task = defineModel('Task', {
  fields: { title: z.string(), done: z.boolean(), owner: z.string() },
  indexes: ['done', 'owner'],
  changes: true,
})

const known: Guard = async (request) => {
  request.auth = { userId: request.headers.get('x-owner') ?? '' }
}

const app = createApp({ store: sqliteStore(), env: {}, maxStreams: 20_000 }).mount(
  '/tasks',
  createRouter({
    model: Task,
    middlewares: [known],
    allowedFields: ['title', 'done', 'owner'],
    query: ['done'],
    scope: ({ auth }) => ({ owner: auth?.userId ?? '' }),
    live: true,
  }),
)
const { url } = await serve(app, { port: 0, hostname: '127.0.0.1' })
const tasks = app.store.collection(Task)

process.on('message', async (asked: string) => {
  const [what, count] = asked.split(' ')
  for (let left = what === 'write' ? Number(count) : 0; left > 0; left -= 1) {
    const { _id } = await tasks.insert({ title: 'a', done: false, owner: 'nobody' })
    await tasks.update(_id, { done: true })
  }
  if (what === 'clean') for (let turn = 0; turn < 3; turn += 1) globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  process.send?.({ microseconds: user + system })
})
process.send?.(Number(new URL(url).port))
