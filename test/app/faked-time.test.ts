import { afterEach, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'

afterEach(() => vi.useRealTimers())

const Note = defineModel('Note', { fields: { text: z.string() }, timestamps: true })
const noteApp = () =>
  createApp({ store: sqliteStore(), now: () => Date.now() }).mount(
    '/notes',
    createRouter({ model: Note, middlewares: [], allowedFields: ['text'], search: ['text'] }),
  )

it('an app works while timers of a test stand still, and goes by the time that the test sets', async () => {
  const app = noteApp()
  await app.ready()
  vi.useFakeTimers({ now: Date.parse('2030-01-01T00:00:00Z') })
  const headers = { 'Content-Type': 'application/json' }
  const init = { method: 'POST', headers, body: '{"text":"tea"}' }
  const created = await app.handle(new Request('http://localhost/notes', init))
  const found = await app.handle(new Request('http://localhost/notes?s=tea'))
  const createdAt = '2030-01-01T00:00:00.000Z'
  expect(await created.json()).toMatchObject({ data: { createdAt } })
  expect(await found.json()).toMatchObject({ data: [{ createdAt }] })
  await app.close()
})

it('an app starts and closes while they stand still', async () => {
  vi.useFakeTimers()
  const app = noteApp()
  await app.ready()
  await app.close()
})
