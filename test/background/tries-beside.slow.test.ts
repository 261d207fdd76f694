import { expect, it, onTestFinished, vi } from 'vitest'
import { runBackground } from '../../src/background/run.ts'
import { webhooks } from '../../src/background/webhooks/index.ts'
import { createRouter } from '../../src/index.ts'
import { apps } from './apps.ts'
import { received, SECRET, Task, tasks } from './sending.ts'

it('an endpoint that fails at once has its next try while another one does not respond', async () => {
  const app = apps('2026-11-26T12:00:00Z').app({ now: Date.now })
  let [hanging, failing] = [0, 0]
  // Both fail at first, so that what comes next is a try of what waits.
  const hangs = await received(SECRET, () => (++hanging === 1 ? 500 : 0))
  const fails = await received(SECRET, () => (++failing < 4 ? 500 : 200))
  app.mount('/tasks', createRouter({ model: Task, allowedFields: ['title'], middlewares: [] }))
  const endpoints = [hangs, fails].map(({ url }) => ({ url, secret: SECRET }))
  webhooks(app, { endpoints, allowPrivate: true })
  const running = await runBackground(app)
  onTestFinished(() => running.close(0))
  await tasks(app).insert({ title: 'one' })
  await vi.waitFor(() => expect(hanging).toBe(2), 5000)
  await vi.waitFor(() => expect(fails.received.at(-1)?.status).toBe(200), 12_000)
  expect(hanging).toBe(2)
})
