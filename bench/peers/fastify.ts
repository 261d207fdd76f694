/**
 * Fastify, with MongoDB's official driver or pg, and JSON schemas for what comes and goes.
 *
 * @module
 */

import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'
import type { ListQuery } from './paging.ts'

const { createProduct, findProduct, listProducts, productsAfter } = process.argv[2]?.startsWith(
  'mongodb://',
)
  ? await import('./products/mongodb.ts')
  : await import('./products/pg.ts')

const values = {
  sku: { type: 'string', minLength: 1, maxLength: 40 },
  name: { type: 'string', minLength: 1, maxLength: 200 },
  category: { type: 'string', minLength: 1, maxLength: 60 },
  price: { type: 'number', minimum: 0 },
  stock: { type: 'integer', minimum: 0 },
  active: { type: 'boolean' },
  description: { type: 'string', maxLength: 2000 },
}
const product = {
  type: 'object',
  properties: {
    _id: { type: 'string' },
    ...values,
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
  },
}
const pagination = {
  type: 'object',
  properties: {
    ...Object.fromEntries(
      ['currentPage', 'pageSize', 'totalPages', 'totalRecords'].map((name) => [
        name,
        { type: 'integer' },
      ]),
    ),
    hasMore: { type: 'boolean' },
    nextCursor: { type: 'string', nullable: true },
  },
}
const success = { type: 'boolean' }
const one = { type: 'object', properties: { success, data: product } }
const many = {
  type: 'object',
  properties: { success, data: { type: 'array', items: product }, pagination },
}
const id = { type: 'object', properties: { id: { type: 'string', pattern: '^[0-9a-f]{24}$' } } }
const query = {
  type: 'object',
  properties: {
    category: { type: 'string' },
    s: { type: 'string', maxLength: 128 },
    page: { type: 'string', pattern: '^[0-9]+$' },
    pageSize: { type: 'string' },
  },
}
const body = { type: 'object', required: Object.keys(values), properties: values }

const app = fastify()
app.get('/products', { schema: { querystring: query, response: { 200: many } } }, (request) =>
  listed(listProducts(request.query as ListQuery)),
)
app.get('/feed/products', { schema: { response: { 200: many } } }, (request) =>
  listed(productsAfter((request.query as { after: string }).after)),
)
app.get(
  '/products/:id',
  { schema: { params: id, response: { 200: one } } },
  async (request, reply) => {
    const data = await findProduct((request.params as { id: string }).id)
    if (!data) reply.code(404)
    return { success: true, data }
  },
)
app.post('/products', { schema: { body, response: { 201: one } } }, async (request, reply) => {
  reply.code(201)
  return { success: true, data: await createProduct(request.body as object) }
})

await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`listening ${(app.server.address() as AddressInfo).port}`)

async function listed(list: Promise<object>): Promise<object> {
  return { success: true, ...(await list) }
}
