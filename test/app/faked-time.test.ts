import { afterEach, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createAuthRouter, createRouter, defineModel } from '../../src/index.ts'

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

it('a server responds while they stand still', async () => {
  const server = await serve(noteApp(), { port: 0, hostname: '127.0.0.1' })
  vi.useFakeTimers()
  expect((await fetch(`${server.url}/notes`)).status).toBe(200)
  vi.useRealTimers()
  await server.close()
})

it('codes are sent while they stand still', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const token = { secret: 'a-secret-for-this-test-only-0123456789' }
  const auth = createAuthRouter({ token, mail: { sender: ({ to }) => resolve(to) } })
  const app = createApp({ store: sqliteStore(), env: {} }).mount('/auth', auth.router)
  await app.ready()
  vi.useFakeTimers()
  const to = 'ada@example.com'
  const headers = { 'Content-Type': 'application/json' }
  const post = (path: string, json: object) =>
    app.handle(
      new Request(`http://localhost/auth${path}`, {
        ...{ method: 'POST', headers, body: JSON.stringify(json) },
      }),
    )
  expect((await post('/register', { email: to, password: 'correct horse battery' })).status).toBe(
    201,
  )
  expect((await post('/password/forgot', { identifier: to })).status).toBe(200)
  expect(await promise).toBe(to)
})

it('an app starts and closes while they stand still', async () => {
  vi.useFakeTimers()
  const app = noteApp()
  await app.ready()
  await app.close()
})
