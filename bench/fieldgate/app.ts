/**
 * fieldgate as the bench measures it.
 *
 * @module
 */

import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import {
  type App,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Logger,
  type Model,
  type RouterOptions,
  ref,
  type Store,
  userFields,
  type Values,
} from '../../src/index.ts'
import { mountOthers } from './models.ts'

const productFields = {
  sku: z.string().min(1).max(40),
  name: z.string().min(1).max(200),
  category: z.string().min(1).max(60),
  price: z.number().min(0),
  stock: z.number().int().min(0),
  active: z.boolean(),
  description: z.string().max(2000),
}
type ProductValues = Values<typeof productFields>

/** A product. */
export const Product: Model<ProductValues> = defineModel('Product', {
  fields: productFields,
  timestamps: true,
  indexes: ['-price', ['category', '-price']],
})

const orderFields = { product: ref('Product'), quantity: z.number().int().min(1) }

/** An order of a product. */
export const Order: Model<Values<typeof orderFields>> = defineModel('Order', {
  fields: orderFields,
  indexes: ['product'],
})

const accounts = { identifiers: ['email'] } as const
const userShape = { ...userFields(accounts) }

const User: Model<Values<typeof userShape>> = defineModel('User', {
  fields: userShape,
  timestamps: true,
  unique: ['email'],
})

const SECRET = 'a secret that guards nothing, for the bench'

const quiet: Logger = { debug() {}, info() {}, warn() {}, error: console.error }

/** Products in offset and in cursor pages and through a cache, accounts, and a route that says a constant. */
export function benchApp(store: Store): App {
  const app = createApp({ store, secret: SECRET, logger: quiet, cache: memoryCache() })
  const auth = createAuthRouter({ ...accounts, model: User, token: { secret: SECRET } })
  const options: RouterOptions<ProductValues> = {
    model: Product,
    orderBy: '-price',
    query: ['category'],
    search: ['name'],
    allowedFields: ['sku', 'name', 'category', 'price', 'stock', 'active', 'description'],
    maxLimit: 50,
  }
  const products = createRouter(options)
  products.get('/constant', () => Response.json({ success: true, data: { message: 'hello' } }))
  mountOthers(app)
  app.mount('/products', products)
  app.mount('/feed/products', createRouter({ ...options, pagination: 'cursor' }))
  app.mount('/hot/products', createRouter({ ...options, cache: true }))
  app.mount('/orders', createRouter({ model: Order, search: ['product.name'], allowedFields: [] }))
  app.mount('/auth', auth.router)
  return app
}
