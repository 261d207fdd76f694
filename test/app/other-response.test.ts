import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { createApp, createRouter, defineModel, type Guard } from '../../src/index.ts'

const platforms = Response

// As servers do when they start, such as @hono/node-server: what was made before is none of theirs.
beforeEach(() => void vi.stubGlobal('Response', class Own extends platforms {}))
afterEach(() => void vi.unstubAllGlobals())

const Thing = defineModel('ForeignThing', { fields: { name: z.string() }, changes: true })
const guard: Guard = ({ headers }) =>
  headers.has('x-refused') ? new platforms('no', { status: 403 }) : undefined
const asJson = { 'Content-Type': 'application/json' }

it('an app serves where a server has put another class in the place of Response', async () => {
  const app = createApp({ store: sqliteStore() })
  onTestFinished(() => app.close())
  const options = { allowedFields: ['name'] as const, middlewares: [guard], live: true }
  app.mount('/things', createRouter({ model: Thing, ...options }))
  app.mount('/batch', batch())
  const body = { name: z.string() }
  app.post('/own', () => platforms.json({ name: 'a' }), { response: z.object(body) })
  app.get('/theirs', () => new Response('theirs'))

  const ask = async (method: string, path: string, json?: unknown, headers = {}) => {
    const given = json === undefined ? {} : { body: JSON.stringify(json) }
    const init = { method, headers: { ...asJson, ...headers }, ...given }
    const response = await app.handle(new Request(`http://localhost${path}`, init))
    return [response.status, await response.text()]
  }
  expect(await ask('POST', '/things', { name: 'a' })).toEqual([201, expect.any(String)])
  expect(await ask('GET', '/things')).toEqual([200, expect.stringContaining('"name":"a"')])
  expect(await ask('HEAD', '/things')).toEqual([200, ''])
  expect(await ask('GET', '/things', undefined, { 'X-Refused': '1' })).toEqual([403, 'no'])
  expect(await ask('GET', '/nowhere')).toEqual([404, expect.any(String)])
  const operations = [{ method: 'POST', path: '/things', body: { name: 'b' } }]
  expect(await ask('POST', '/batch', { operations })).toEqual([200, expect.any(String)])
  const refused = [403, expect.any(String)]
  expect(await ask('POST', '/batch', { operations }, { 'X-Refused': '1' })).toEqual(refused)
  const events = { Accept: 'text/event-stream', 'X-Refused': '1' }
  expect(await ask('GET', '/things', undefined, events)).toEqual([403, 'no'])
  expect(await ask('POST', '/own')).toEqual([200, '{"name":"a"}'])
  expect(await ask('GET', '/theirs')).toEqual([200, 'theirs'])
})
