import { expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { type Service, service } from '../service.ts'

const Product = defineModel('OwnRoutesProduct', {
  fields: {
    name: z.string(),
    price: z.number().optional(),
    dimensions: z.object({ w: z.number() }).optional(),
    role: z.string().optional(),
  },
})

async function products(): Promise<Service & { path: string }> {
  const on = service()
  on.app.mount(
    '/products',
    createRouter({
      model: Product,
      middlewares: [],
      query: ['name'],
      orderBy: 'name',
      sortableFields: ['name', 'price'],
      allowedFields: ['name', 'price', 'dimensions'],
    }),
  )
  const records = on.app.store.collection(Product)
  for (let at = 0; at < 101; at += 1) await records.insert({ name: `n${at}` })
  const { _id } = await records.insert({ name: 'one' })
  return { ...on, path: `/products/${_id}` }
}

// What clients of one's own Express routes send, as docs/migrate.md has it.

test.each([
  ['limit=20', 200, 100],
  ['skip=100', 200, 100],
  ['page=1&pageSize=20', 200, 20],
  ['sort=-name', 200, 100],
  ['fields=name', 200, 100],
  ['color=red', 200, 100],
  ['sort=name%20-price', 400, undefined],
  ['sort=name,-price', 400, undefined],
])('a list with %s is a %i', async (query, status, length) => {
  const on = await products()
  const list = await on.send('GET', `/products?${query}`)
  expect([list.status, list.records?.length]).toEqual([status, length])
})

const nothing = 'Request body contains no writable fields.'

type Sent = readonly [
  method: string,
  where: 'all' | 'one',
  json: unknown,
  status: number,
  told?: string,
]

const WRITES: readonly Sent[] = [
  ['POST', 'all', [{ name: 'a' }], 400, nothing],
  ['PUT', 'one', { name: 'a' }, 405, 'Method not allowed.'],
  ['PATCH', 'one', { role: 'admin' }, 400, nothing],
  ['PATCH', 'one', { 'dimensions.w': 5 }, 400, nothing],
  ['PATCH', 'one', { $set: { name: 'a' } }, 400, nothing],
  ['PATCH', 'one', { 'dimensions.w': 5, name: 'b' }, 200],
]

for (const [method, where, json, status, told] of WRITES) {
  test(`${method} of ${where} with ${JSON.stringify(json)} is a ${status}`, async () => {
    const { path, ...on } = await products()
    const answer = await on.send(String(method), where === 'all' ? '/products' : path, { json })
    expect([answer.status, answer.body.error]).toEqual([status, told])
    const stored = await on.send('GET', path)
    expect(stored.record).toEqual({ _id: path.slice(10), name: status === 200 ? 'b' : 'one' })
  })
}

test('DELETE is a 200 with a body, and a wrong id a 400', async () => {
  const { path, ...on } = await products()
  const gone = await on.send('DELETE', path)
  expect(gone).toMatchObject({
    status: 200,
    body: { success: true, message: 'Item successfully deleted.' },
  })
  expect((await on.send('GET', path)).status).toBe(404)
  expect((await on.send('GET', '/products/top')).status).toBe(400)
})
