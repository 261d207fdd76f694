/**
 * A shop whose items have a field of every type, behind one router with the options that a test gives.
 *
 * @module
 */

import { expect } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  type AppOptions,
  createRouter,
  defineModel,
  type Fields,
  type RouterOptions,
  ref,
  type Values,
} from '../../../src/index.ts'
import { type Answer, type RecordedLog, service } from '../service.ts'
import { type Watched, watched } from '../watched.ts'

export const Maker = defineModel('ShopMaker', {
  fields: {
    name: z.string(),
    aliases: z.array(z.string()).optional(),
    password: z.string().optional(),
    home: z.object({ city: z.string(), code: z.string().optional() }).optional(),
    boss: ref('ShopMaker').nullish(),
  },
  hidden: ['password', 'home.code'],
  collection: 'makers',
})

const fields = {
  name: z.string(),
  note: z.string().nullish(),
  size: z.number().nullish(),
  done: z.boolean().nullish(),
  at: z.date().nullish(),
  kind: z.enum(['cup', 'jug', 'pot']).nullish(),
  maker: ref('ShopMaker').nullish(),
  makers: z.array(ref('ShopMaker')).optional(),
  tags: z.array(z.string()).optional(),
  marks: z.array(z.number()).optional(),
  days: z.array(z.date()).optional(),
  place: z.object({ row: z.number().nullish(), city: z.string().nullish() }).nullish(),
  stops: z.array(z.object({ km: z.number(), city: z.string() })).optional(),
  any: z.unknown().optional(),
  secret: z.string().optional(),
  vault: z.object({ pin: z.string(), label: z.string() }).optional(),
}
export const Item = defineModel('ShopItem', {
  fields,
  timestamps: true,
  hidden: ['secret', 'vault.pin'],
  collection: 'items',
})
export type ItemValues = Values<typeof fields>
export type ItemOptions = Partial<Omit<RouterOptions<ItemValues>, 'model'>>

/** Every field that a list may be filtered by. */
export const EVERY = [
  '_id',
  'name',
  'note',
  'size',
  'done',
  'at',
  'kind',
  'maker',
  'makers',
  'tags',
  'marks',
  'days',
  'place.row',
  'place.city',
  'stops.km',
  'stops.city',
  'any',
] as const

/** A running shop. */
export interface Shop {
  readonly log: RecordedLog
  readonly store: Watched
  readonly clock: { at: number }
  /** The stored items, as `insert` gave them. */
  readonly items: readonly Fields[]
  /** `GET /items` with a query string, or with parameters that are encoded. */
  list(query?: string | Readonly<Record<string, string>>): Promise<Answer>
  /** `QUERY /items` with a body. */
  ask(body?: unknown): Promise<Answer>
  send: ReturnType<typeof service>['send']
  insert(values: Partial<ItemValues>): Promise<Fields>
  change(id: unknown, values: Partial<ItemValues>): Promise<unknown>
  remove(id: unknown): Promise<unknown>
  make(values: Values<typeof Maker.fields> | { name: string; password?: string }): Promise<Fields>
}

/** Opens a shop with `items` in it; each lacks but what it does not say. */
export async function open(
  options: ItemOptions = {},
  items: readonly Partial<ItemValues>[] = [],
  app: Partial<AppOptions> = {},
): Promise<Shop> {
  const store = watched(sqliteStore())
  const { app: served, log, clock, send } = service({ store, ...app })
  const router = createRouter({ model: Item, allowedFields: ['name'], ...options })
  served.mount('/items', router)
  await served.ready()
  const stored = served.store.collection(Item)
  const insert = async (values: Partial<ItemValues>) =>
    (await stored.insert({ name: 'item', ...values })) as unknown as Fields
  const kept: Fields[] = []
  for (const item of items) kept.push(await insert(item))
  store.taken()
  return {
    log,
    store,
    clock,
    items: kept,
    list: (query = '') => send('GET', `/items?${new URLSearchParams(query)}`),
    ask: (json) => send('QUERY', '/items', json === undefined ? {} : { json }),
    send,
    insert,
    change: (id, values) => stored.update(String(id), values),
    remove: (id) => stored.delete(String(id)),
    make: async (values) =>
      (await served.store.collection(Maker).insert(values as never)) as unknown as Fields,
  }
}

/** The names of a list's records, in order. */
export function names(answer: Answer): unknown[] {
  expect(answer.body.error).toBeUndefined()
  expect(answer.status).toBe(200)
  return answer.records.map((record) => record.name)
}

/** Asserts a refusal: the envelope exactly, and a store that was asked nothing. */
export function expectRefused(shop: Shop, answer: Answer, error: string, status = 400): void {
  expect(answer.body).toEqual({
    success: false,
    error,
    requestId: answer.headers.get('x-request-id'),
  })
  expect(answer.status).toBe(status)
  expect(shop.store.taken()).toEqual([])
}
