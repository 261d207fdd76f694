/**
 * The service on the older package: express-controller-sets 1.1.7 as npm has it, on Express and Mongoose, wired as its README says.
 *
 * @module
 */

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installation } from '../services/installation.ts'
import type { Service } from './service.ts'

type Handler = (request: object, response: object, next?: () => void) => unknown
type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete'
type Router = RequestListener & { [verb in Verb]: (path: string, handler: Handler) => void } & {
  set(name: string, value: string): void
  use(...handlers: (string | RequestListener)[]): void
}

/** What is used of Express. */
interface Express {
  (): Router
  Router(): Router
  json(): RequestListener
}

/** What is used of Mongoose. */
interface Mongoose {
  Schema: (new (fields: object) => object) & { Types: { ObjectId: unknown; Mixed: unknown } }
  model(name: string, schema: object): object
  connect(url: string, options: object): Promise<unknown>
  disconnect(): Promise<void>
}

/** What is used of the older package. */
interface OlderPackage {
  ControllerSets: new (
    model: object,
    orderBy: string,
    query: string[],
  ) => Record<'getAll' | 'getById' | 'create' | 'update' | 'delete', Handler>
}

/** The fields that the service filters by. */
export const FILTERED = ['name', 'code', 'price', 'active', 'status', 'tags', 'seen', 'maker']

/** Starts it over `database`. */
export async function startThere(url: string, database: string): Promise<Service> {
  const installed = await installation(import.meta.dirname)
  const load = createRequire(join(installed, 'package.json'))
  const express = load('express') as Express
  const mongoose = load('mongoose') as Mongoose
  // Its index.js imports './ControllerSets.js', which is spelled otherwise: on Linux only the file itself can be loaded.
  const file = join(installed, 'node_modules/express-controller-sets/controllerSets.js')
  const { ControllerSets } = (await import(pathToFileURL(file).href)) as OlderPackage

  const { ObjectId } = mongoose.Schema.Types
  const Maker = mongoose.model('Maker', new mongoose.Schema({ name: String }))
  const Item = mongoose.model(
    'Item',
    new mongoose.Schema({
      name: { type: String, required: true },
      code: { type: String, unique: true, sparse: true },
      price: { type: Number, min: 0 },
      stock: { type: Number, default: 0 },
      active: Boolean,
      status: { type: String, enum: ['draft', 'live'] },
      tags: { type: [String], default: undefined },
      size: { w: Number, h: Number },
      seen: Date,
      maker: { type: ObjectId, ref: 'Maker' },
      secret: { type: String, select: false },
    }),
  )
  await mongoose.connect(url, { dbName: database })

  const app = express()
  // Express prints the errors of its requests otherwise.
  app.set('env', 'test')
  app.use(express.json())
  for (const [path, model, query] of [
    ['/items', Item, FILTERED],
    ['/makers', Maker, ['name']],
  ] as const) {
    const sets = new ControllerSets(model, 'name', [...query])
    const router = express.Router()
    router.get('/', sets.getAll.bind(sets))
    router.get('/:id', sets.getById.bind(sets))
    router.post('/', sets.create.bind(sets))
    router.put('/:id', sets.update.bind(sets))
    router.patch('/:id', sets.update.bind(sets))
    router.delete('/:id', sets.delete.bind(sets))
    app.use(path, router)
  }
  const server = createServer(app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await mongoose.disconnect()
    },
  }
}
