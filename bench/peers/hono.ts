/**
 * Hono on Node, with MongoDB's official driver or Drizzle, and zod for what clients send.
 *
 * @module
 */

import { serve } from '@hono/node-server'
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import * as z from 'zod'

const { createProduct, findProduct, listProducts, productsAfter } = process.argv[2]?.startsWith(
  'mongodb://',
)
  ? await import('./products/mongodb.ts')
  : await import('./products/drizzle.ts')

const values = z.object({
  sku: z.string().min(1).max(40),
  name: z.string().min(1).max(200),
  category: z.string().min(1).max(60),
  price: z.number().min(0),
  stock: z.number().int().min(0),
  active: z.boolean(),
  description: z.string().max(2000),
})
const query = z.object({
  category: z.string().optional(),
  s: z.string().max(128).optional(),
  page: z.string().regex(/^\d+$/).optional(),
  pageSize: z.string().optional(),
})
const id = z.object({ id: z.string().regex(/^[0-9a-f]{24}$/) })

const app = new Hono()
app.get('/products', zValidator('query', query), async (context) =>
  context.json({ success: true, ...(await listProducts(context.req.valid('query'))) }),
)
app.get('/products/:id', zValidator('param', id), async (context) => {
  const data = await findProduct(context.req.valid('param').id)
  return context.json({ success: true, data }, data ? 200 : 404)
})
app.get('/feed/products', async (context) =>
  context.json({ success: true, ...(await productsAfter(context.req.query('after') ?? '')) }),
)
app.post('/products', zValidator('json', values), async (context) =>
  context.json({ success: true, data: await createProduct(context.req.valid('json')) }, 201),
)

serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`listening ${port}`)
})
