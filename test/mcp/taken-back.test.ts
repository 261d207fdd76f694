/** What an agent has written can be taken back, from the history of each record. */

import { expect, it } from 'vitest'
import * as z from 'zod'
import { Random } from '../../extras/contract/store/random.ts'
import { createRouter, defineModel } from '../../src/index.ts'
import { mcp } from '../../src/mcp/index.ts'
import { apiKeys } from '../../src/methods/api-keys/index.ts'
import { service } from '../auth/service.ts'
import { seeds } from '../runs.ts'

const Task = defineModel('McpTakenBack', {
  fields: { title: z.string(), rank: z.number().optional() },
  changes: true,
})

it.each(seeds(1))('each write of an agent can be taken back (seed %i)', async (seed) => {
  const { app, auth, register, post } = await service({ auth: { methods: [apiKeys()] } })
  const middlewares = [auth.requireAuth]
  const access = { restore: true }
  const allowedFields = ['title', 'rank'] as const
  app.mount(
    '/tasks',
    createRouter({ model: Task, middlewares, allowedFields, history: true, access }),
  )
  app.mount('/mcp', mcp({ write: ['create', 'update', 'remove'] }))
  const { token } = await register('ann@example.com')
  const allow = [{ mount: '/tasks', actions: ['read', 'create', 'update', 'remove'] }]
  const { key, id: keyId } = (await post('/auth/keys', { name: 'Agent', allow }, token)).body.data
  const send = async (method: string, path: string, as: string, json?: object) => {
    const response = await app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
        ...(json && { body: JSON.stringify(json) }),
      }),
    )
    return response.json()
  }
  const tool = async (name: string, given: object) => {
    const params = { name, arguments: { model: '/tasks', ...given } }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    return (await send('POST', '/mcp', key, call)).result.structuredContent
  }
  const tasks = app.store.collection(Task)
  const before = await Promise.all(
    ['a', 'b', 'c'].map((title) => tasks.insert({ title, rank: title.charCodeAt(0) })),
  )
  const random = new Random(seed)
  const touched = new Set<string>()
  for (let turn = 0; turn < 30; turn += 1) {
    const all = await tasks.find()
    const id = all[random.below(all.length + 1)]?._id
    const values = { title: `by the agent ${turn}`, ...(random.chance(50) && { rank: turn }) }
    if (id !== undefined && random.chance(30)) await tool('remove_record', { id })
    else touched.add((await tool('write_record', { ...(id && { id }), values })).data._id)
    if (id !== undefined) touched.add(id)
  }
  // The user finds in the history what the agent did, and makes each record what it was before that.
  for (const id of touched) {
    const { data } = await send('GET', `/tasks/${id}/history?pageSize=100`, token)
    const last = data.find(({ by }: { by: string | null }) => by !== `key:${keyId}`)
    if (last) await send('POST', `/tasks/${id}/restore`, token, { changeId: last.id })
    else await send('DELETE', `/tasks/${id}`, token)
  }
  const shown = (all: readonly object[]) =>
    all.map((record) => ({ ...record, createdAt: 0, updatedAt: 0 }))
  expect(shown(await tasks.find())).toEqual(shown(before.sort((a, b) => (a._id < b._id ? -1 : 1))))
})
