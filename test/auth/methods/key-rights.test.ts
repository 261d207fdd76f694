import { expect, it } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { runs } from '../../runs.ts'
import { service } from '../service.ts'
import { keysThatWiden } from './key-rights.ts'

it('A key never does more than its owner, nor more than it allows, nor anything with accounts', async () => {
  expect(await keysThatWiden(runs(40), 1)).toEqual([])
})

it('A key needs no right to a wider route that the one it allows never leaves a request to', async () => {
  const app = await service({ auth: { methods: [apiKeys()] } })
  const middlewares = [app.auth.requireAuth]
  const Narrow = defineModel('NarrowTask', { fields: { title: z.string() } })
  const Wide = defineModel('WideTask', { fields: { title: z.string() } })
  app.app.mount('/tasks', createRouter({ model: Narrow, middlewares }))
  app.app.mount('/:team', createRouter({ model: Wide, middlewares }))
  const { token } = await app.register('ann@example.com')
  const asked = { name: 'CI', allow: [{ mount: '/tasks', actions: ['list'] }] }
  const { key } = (await app.post('/auth/keys', asked, token)).body.data
  const get = async (path: string) => (await app.call('GET', path, undefined, key)).status
  expect([await get('/tasks'), await get('/others')]).toEqual([200, 403])
})
