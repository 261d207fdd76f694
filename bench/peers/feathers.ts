/**
 * Feathers on Koa with its adapter for knex and pg, laid out as its generator does: schemas of TypeBox, and hooks.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { feathers, type HookContext } from '@feathersjs/feathers'
import { KnexService } from '@feathersjs/knex'
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa'
import { Ajv, hooks, resolve } from '@feathersjs/schema'
import { getValidator, querySyntax, Type } from '@feathersjs/typebox'
import knex from 'knex'
import pg from 'pg'
import { schema, url } from './products/address.ts'

pg.types.setTypeParser(pg.types.builtins.INT8, Number)

const closed = { additionalProperties: false }
const values = {
  sku: Type.String({ minLength: 1, maxLength: 40 }),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  category: Type.String({ minLength: 1, maxLength: 60 }),
  price: Type.Number({ minimum: 0 }),
  stock: Type.Integer({ minimum: 0 }),
  active: Type.Boolean(),
  description: Type.String({ maxLength: 2000 }),
}
const data = Type.Object(values, { $id: 'ProductData', ...closed })
const product = Type.Object({
  _id: Type.String(),
  ...values,
  createdAt: Type.Any(),
  updatedAt: Type.Any(),
})
const asked = Type.Pick(product, ['_id', 'name', 'category', 'price'])
const query = Type.Intersect(
  [
    querySyntax(asked, { name: { $ilike: Type.String({ maxLength: 130 }) } }),
    Type.Object({}, closed),
  ],
  closed,
)
const now = async () => new Date()
const completed = resolve({
  _id: async () => randomBytes(12).toString('hex'),
  createdAt: now,
  updatedAt: now,
})

const app = koa(feathers())
app.use(errorHandler())
app.use(bodyParser())
app.configure(rest())
const products = new KnexService({
  Model: knex({ client: 'pg', connection: url, searchPath: [schema], pool: { min: 2, max: 10 } }),
  name: 'products',
  id: '_id',
  paginate: { default: 50, max: 50 },
})
app.use('products', products, { methods: ['find', 'get', 'create'] })
app.service('products').hooks({
  before: {
    all: [hooks.validateQuery(getValidator(query, new Ajv({ coerceTypes: true })))],
    find: [inOrder],
    create: [hooks.validateData(getValidator(data, new Ajv({}))), hooks.resolveData(completed)],
  },
})
const server = await app.listen(0, '127.0.0.1')
server.once('listening', () => {
  console.log(`listening ${(server.address() as AddressInfo).port}`)
})

/** Its own `$sort` cannot say where nulls go, which the index does; a list is counted where it begins somewhere. */
async function inOrder({ params }: HookContext): Promise<void> {
  params.knex = products.createQuery(params).orderByRaw('price DESC NULLS LAST, _id')
  if (params.query?.$skip === undefined) params.paginate = false
}
