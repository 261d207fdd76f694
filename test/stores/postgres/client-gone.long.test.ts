import postgres from 'postgres'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { serve } from '../../../adapters/runtimes/node.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from './schemas.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const operator = postgres(url, { max: 2 })
  afterAll(() => operator.end())

  const query = { method: 'QUERY', headers: { 'content-type': 'application/json' } }
  it.each([
    ['a list', '/?n=5', {}],
    ['a search', '/?s=abc', {}],
    ['a count', '/?page=1', {}],
    ['an export', '/', { headers: { accept: 'text/csv' } }],
    ['a group', '/', { ...query, body: '{"aggregate":{"count":true}}' }],
    ['a list over a connection', '/?n=5', undefined],
  ])('%s ends when its client goes', async (_, path, init) => {
    const schema = fresh()
    const lines: unknown[] = []
    const line = (level: string) => (message: string, details?: object) =>
      void lines.push([level, message, (details as { error?: string } | undefined)?.error])
    const logger = { debug() {}, info: line('info'), warn() {}, error: line('error') }
    const Held = defineModel('Held', { fields: { name: z.string(), n: z.number() } })
    const app = createApp({ store: postgresStore({ url, schema }), logger })
    const lists = { query: ['n'], search: ['name'], exportLimit: 10 } as const
    app.mount('/', createRouter({ model: Held, middlewares: [], allowedFields: [], ...lists }))
    await app.ready()
    onTestFinished(() => app.close())
    const [locked, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    onTestFinished(() => done.resolve())
    const held = operator.begin(async (sql) => {
      await sql.unsafe(`LOCK TABLE "${schema}".helds IN ACCESS EXCLUSIVE MODE`)
      locked.resolve()
      await done.promise
    })
    await locked.promise
    const waiting = async () => {
      const like = `%"${schema}"%`
      const [row] = await operator`
        SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE ${like}`
      return row?.count
    }
    const client = new AbortController()
    const { signal } = client
    const server = init ? undefined : await serve(app, { port: 0, hostname: '127.0.0.1' })
    onTestFinished(() => server?.close())
    const response = server
      ? fetch(server.url + path, { signal }).catch(() => ({ status: 503 }))
      : app.handle(new Request(`http://localhost${path}`, { ...init, signal }))
    await vi.waitFor(async () => expect(await waiting()).toBeGreaterThan(0), { timeout: 5000 })
    client.abort()
    await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 5000 })
    done.resolve()
    await held
    expect((await response).status).toBe(503)
    await vi.waitFor(() => expect(lines).not.toEqual([]))
    expect(lines).toEqual([['info', 'service unavailable', 'the client has gone away']])
  })
})
