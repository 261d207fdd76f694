/**
 * The same service on fieldgate.
 *
 * @module
 */

import * as z from 'zod'
import { serve } from '../../adapters/runtimes/node.ts'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { createApp, createRouter, defineModel, ref } from '../../src/index.ts'
import type { Service } from './service.ts'

const Maker = defineModel('Maker', { fields: { name: z.string().nullish() }, collection: 'makers' })

const Item = defineModel('Item', {
  fields: {
    name: z.string(),
    code: z.string().nullish(),
    price: z.number().min(0).nullish(),
    stock: z.number().default(0),
    active: z.boolean().nullish(),
    status: z.enum(['draft', 'live']).nullish(),
    tags: z.array(z.string()).nullish(),
    size: z.object({ w: z.number().nullish(), h: z.number().nullish() }).nullish(),
    seen: z.date().nullish(),
    maker: ref('Maker').nullish(),
    secret: z.string().nullish(),
  },
  collection: 'items',
  unique: ['code'],
  hidden: ['secret'],
})

/** Starts it over `database`. */
export async function startHere(url: string, database: string): Promise<Service> {
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  const app = createApp({ store: mongoStore({ url, database }), logger: quiet })
  app.mount(
    '/items',
    createRouter({
      model: Item,
      middlewares: [],
      orderBy: 'name',
      query: ['name', 'code', 'price', 'active', 'status', 'tags', 'seen', 'maker'],
      sortableFields: [],
      allowedFields: [
        'name',
        'code',
        'price',
        'stock',
        'active',
        'status',
        'tags',
        'size',
        'seen',
        'maker',
        'secret',
      ],
    }),
  )
  app.mount(
    '/makers',
    createRouter({ model: Maker, middlewares: [], query: ['name'], allowedFields: ['name'] }),
  )
  const server = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
  return {
    url: server.url.replace(/\/$/, ''),
    async stop() {
      await server.close()
      await app.close()
    },
  }
}
