import { expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type Model } from '../../../src/index.ts'
import { collectionSchema } from '../../../src/model/collection-schema.ts'
import { service } from '../service.ts'

it('a field that was named -a keeps its records under a new name', async () => {
  const store = sqliteStore()
  const options = { middlewares: [], allowedFields: ['a'], query: ['a'], sortableFields: ['a'] }
  const collection = 'minus'
  const Old = defineModel('RenamedMinus', { fields: { old: z.number() }, collection })
  const schema = collectionSchema(Old as unknown as Model)
  await store.prepare([schema])
  const records = store.collection({ ...schema, shape: { ...schema.shape, fields: new Map() } })
  await records.insert({ _id: '0'.repeat(24), '-a': 2 })
  const renamed = { '-a': 'a' } as const
  const New = defineModel('RenamedMinus', { fields: { a: z.number() }, renamed, collection })
  const { app, send } = service({ store })
  app.mount('/minus', createRouter({ model: New, ...options } as never))
  await send('POST', '/minus', { json: { a: 1 } })
  const found = async (query: string) =>
    (await send('GET', `/minus?${query}`)).records.map(({ a }) => a)
  expect(await found('a=2')).toEqual([2])
  expect(await found('sort=a')).toEqual([1, 2])
  expect(await found('sort=-a')).toEqual([2, 1])
})
