/**
 * Books and their authors behind cached routers, with a cache that can fail and a database whose reads are counted.
 *
 * @module
 */

import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import {
  type AppOptions,
  type Collection,
  createRouter,
  defineModel,
  type Fields,
  type Guard,
  type Model,
  type RouterOptions,
  ref,
  type Store,
  type Values,
} from '../../src/index.ts'
import { type Answer, type Message, type Service, service } from '../records/service.ts'
import { type FaultyCache, faultyCache } from './faulty.ts'

const authorFields = { name: z.string(), born: z.number().optional() }
const bookFields = {
  title: z.string(),
  price: z.number(),
  code: z.string().optional(),
  author: ref('CacheAuthor').optional(),
}

/** Who writes books. */
export const Author: Model<Values<typeof authorFields>> = defineModel('CacheAuthor', {
  fields: authorFields,
})
/** A book; its author may be filled in and searched through. */
export const Book: Model<Values<typeof bookFields>> = defineModel('CacheBook', {
  fields: bookFields,
  unique: ['code'],
})

/** How a book router may differ from the usual one. */
export type BookOptions = Partial<RouterOptions<Values<typeof bookFields>>>

/** A database with a count of the reads of records, and a hook that runs in each. */
export interface CountedStore extends Store {
  reads: number
  /** Awaited after the database has answered a read, before the app hears of it. */
  onRead: (() => unknown) | undefined
}

/** An app over the library. */
export interface Library extends Service {
  readonly cache: FaultyCache
  readonly store: CountedStore
  readonly book: Fields
  readonly author: Fields
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  /** The answer's `X-Cache`, or null. */
  xCache(path: string, headers?: Record<string, string>): Promise<string | null>
  query(json: unknown, headers?: Record<string, string>): Promise<Answer>
}

/** Takes user and role from headers, and from nowhere else: what the app does with them is what is tested. */
export const identified: Guard = (request) => {
  const userId = request.headers.get('x-user')
  const role = request.headers.get('x-role')
  if (userId !== null) request.auth = { userId, ...(role !== null && { role }) }
}

/** The usual options of the book router. */
export const BOOKS: BookOptions = {
  query: ['title', 'price', 'author'],
  search: ['title'],
  allowedFields: ['title', 'price', 'code', 'author'],
}

/** An app with one author and one book, and a cached router for each of the two models. */
export async function library(
  books: BookOptions = {},
  app: Partial<AppOptions> & { readonly cache?: FaultyCache; readonly store?: CountedStore } = {},
): Promise<Library> {
  const cache = app.cache ?? faultyCache()
  const store = app.store ?? counted(sqliteStore())
  const served = service({ ...app, store, cache })
  served.app.use(identified)
  served.app.mount('/books', createRouter({ model: Book, ...BOOKS, cache: true, ...books }))
  served.app.mount(
    '/authors',
    createRouter({ model: Author, query: ['name'], allowedFields: ['name', 'born'], cache: true }),
  )
  const author = await served.app.store.collection(Author).insert({ name: 'Ann Leckie' })
  const book = await served.app.store
    .collection(Book)
    .insert({ title: 'Ancillary Justice', price: 10, author: author._id })
  const get = (path: string, headers: Record<string, string> = {}) =>
    served.send('GET', path, { headers })
  return {
    ...served,
    cache,
    store,
    book: { ...book },
    author: { ...author },
    get,
    xCache: async (path, headers) => (await get(path, headers)).headers.get('x-cache'),
    query: (json, headers = {}) => {
      const message: Message = { json, headers }
      return served.send('QUERY', '/books', message)
    },
  }
}

/** `store` with its reads counted; what keeps the fences of the cache is not records. */
export function counted(store: Store): CountedStore {
  const own: CountedStore = {
    ...store,
    reads: 0,
    onRead: undefined,
    collection(schema) {
      const inner = store.collection(schema)
      if (schema.name === 'fieldgate_fences') return inner
      const read = async <T>(call: () => Promise<T>): Promise<T> => {
        own.reads += 1
        const result = await call()
        await own.onRead?.()
        return result
      }
      const collection: Collection = {
        find: (query) => read(() => inner.find(query)),
        findJson: (query) => read(async () => inner.findJson?.(query) ?? []),
        count: (filter, hints) => inner.count(filter, hints),
        estimate: () => inner.estimate(),
        insert: (record) => inner.insert(record),
        update: (filter, change, options) => inner.update(filter, change, options),
        updateMany: (filter, change) => inner.updateMany(filter, change),
        delete: (filter, options) => inner.delete(filter, options),
      }
      return collection
    },
  }
  return own
}
