/** An API key is the credential for an agent: it may do less than its owner. */

import { expect, it } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { apiKey, idempotency } from '../../src/guards/index.ts'
import {
  createAuthRouter,
  createRouter,
  defineModel,
  type Guard,
  userFields,
} from '../../src/index.ts'
import { mcp } from '../../src/mcp/index.ts'
import { apiKeys } from '../../src/methods/api-keys/index.ts'
import { service } from '../auth/service.ts'
import { agents } from './server.ts'

const Task = defineModel('McpTask', { fields: { title: z.string() } })

it('an agent may do what its key allows, and no more', async () => {
  const { app, auth, register, post } = await service({ auth: { methods: [apiKeys()] } })
  app.mount('/tasks', createRouter({ model: Task, allowedFields: ['title'], query: ['title'] }))
  app.mount('/notes', createRouter({ model: Task, allowedFields: ['title'] }))
  app.mount('/mcp', mcp({ write: ['create', 'update', 'remove'] }))
  const { token } = await register('ann@example.com')
  const allow = [{ mount: '/tasks', actions: ['list', 'create'] }]
  const { key } = (await post('/auth/keys', { name: 'Agent', allow }, token)).body.data
  app.use(auth.requireAuth)
  app.use(idempotency({ cache: memoryCache(), ttlSeconds: 60 }))
  const tool = async (name: string, given: object, idempotencyKey?: string) => {
    const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
    const response = await app.handle(
      new Request('http://localhost/mcp', {
        ...{ method: 'POST', body: JSON.stringify(json) },
        headers: {
          ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
      }),
    )
    return (await response.json()).result
  }
  const listed = await tool('list_models', {})
  expect(listed.structuredContent.data).toEqual([{ model: '/tasks', actions: ['list', 'create'] }])
  const task = { model: '/tasks', values: { title: 'Write' } }
  const made = await tool('write_record', task, 'once')
  const again = await tool('write_record', task, 'once')
  expect(again.structuredContent).toEqual(made.structuredContent)
  expect(await app.store.collection(Task).count()).toBe(1)
  const at = { model: '/tasks', id: made.structuredContent.data._id }
  for (const [name, given] of [
    ['read_record', at],
    ['remove_record', at],
    ['write_record', { ...at, values: { title: 'x' } }],
    ['write_record', { ...task, model: '/notes' }],
    ['query_records', { model: '/notes' }],
  ] as const) {
    expect((await tool(name, given)).isError, `${name} ${given.model}`).toBe(true)
  }
  expect(await app.store.collection(Task).count()).toBe(1)
})

it('a router that wants another sign-in hides itself alone', async () => {
  const { app, auth, register, post } = await service({ auth: { methods: [apiKeys()] } })
  const Staff = defineModel('McpStaff', { fields: userFields(), unique: ['email'] })
  const staff = createAuthRouter({ model: Staff, token: { secret: 's'.repeat(32) } })
  const guarded = (guard: Guard) =>
    createRouter({ model: Task, allowedFields: ['title'], middlewares: [guard] })
  app.mount('/staff', staff.router)
  app.mount('/for-people', guarded(auth.requireSession))
  app.mount('/for-staff', guarded(staff.requireAuth))
  app.mount('/for-programs', guarded(apiKey({ keys: ['k'.repeat(16)] })))
  app.mount('/tasks', guarded(auth.requireAuth))
  app.mount('/mcp', mcp())
  const { token } = await register('ann@example.com')
  const allow = [{ mount: '*', actions: ['list', 'read'] }]
  const { key } = (await post('/auth/keys', { name: 'Agent', allow }, token)).body.data
  const tool = (name: string, given: object, bearer: string) =>
    post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
      bearer,
    )
  const actions = ['list', 'read']
  const listed = await tool('list_models', {}, key)
  expect([listed.status, listed.body.result.structuredContent.data]).toEqual([
    200,
    [{ model: '/tasks', actions }],
  ])
  const found = await tool('describe_model', { model: '/tasks' }, key)
  expect(found.body.result.structuredContent.data).toMatchObject({ fields: { title: {} } })
  const { data } = (await tool('list_models', {}, token)).body.result.structuredContent
  expect(data).toEqual([
    { model: '/for-people', actions },
    { model: '/tasks', actions },
  ])
  // What no router takes is to be replaced.
  for (const bad of ['fg_unknown', `${token}x`]) {
    expect((await tool('list_models', {}, bad)).status).toBe(401)
  }
})

it('a key that allows nothing here is good, beside a router that takes none', async () => {
  const { app, auth, register, post } = await service({ auth: { methods: [apiKeys()] } })
  const guarded = (...middlewares: Guard[]) => createRouter({ model: Task, middlewares })
  app.mount('/for-people', guarded(auth.requireSession))
  app.mount('/tasks', guarded(auth.requireAuth))
  app.mount('/open', guarded())
  app.mount('/mcp', mcp())
  const { token } = await register('ann@example.com')
  const allow = [{ mount: '/tasks', actions: ['remove'] }]
  const { key } = (await post('/auth/keys', { name: 'Agent', allow }, token)).body.data
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_models' } }
  const { status, body } = await post('/mcp', json, key)
  expect([status, body.result?.structuredContent.data]).toEqual([
    200,
    [{ model: '/open', actions: ['list', 'read'] }],
  ])
})

it('a model is not there for a caller to whom it is closed, whom a guard of the app has found', async () => {
  const { app, auth, tool, Country } = await agents()
  let role = 'user'
  app.use((request) => {
    request.auth = { userId: '0'.repeat(24), role }
  })
  const middlewares = [auth.requireRole('admin')]
  app.mount('/own', createRouter({ model: Country, allowedFields: ['name'], middlewares }))
  const isListed = async () => JSON.stringify(await tool('list_models')).includes('/own')
  expect(await isListed()).toBe(false)
  role = 'admin'
  expect(await isListed()).toBe(true)
})
