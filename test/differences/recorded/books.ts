/**
 * Books behind routers of most kinds, as the records of the cases.
 *
 * @module
 */

import * as z from 'zod'
import {
  type AppOptions,
  createRouter,
  defineModel,
  type Fields,
  type Model,
  type RouterOptions,
  ref,
  type Values,
} from '../../../src/index.ts'
import { type Answer, type Service, service } from '../../records/service.ts'

const authorFields = { name: z.string() }
const bookFields = {
  title: z.string(),
  code: z.string().optional(),
  year: z.number().nullish(),
  pages: z.number().optional(),
  rare: z.boolean().optional(),
  printed: z.date().nullish(),
  tags: z.array(z.string()).optional(),
  stock: z.number().default(0),
  author: ref('RecordedAuthor').optional(),
  place: z.object({ shelf: z.string(), room: z.string().optional() }).optional(),
  reviews: z.array(z.object({ by: z.string() })).optional(),
  secret: z.string().optional(),
}

/** Who writes books. */
export const Author: Model<Values<typeof authorFields>> = defineModel('RecordedAuthor', {
  fields: authorFields,
})
/** A book. */
export const Book: Model<BookValues> = defineModel('RecordedBook', {
  fields: bookFields,
  collection: 'recordedbooks',
  unique: ['code'],
  hidden: ['secret', 'place.room'],
})

/** A book's own fields. */
export type BookValues = Values<typeof bookFields>

type BookOptions = Partial<RouterOptions<BookValues>>

/** The usual options of the router. */
export const BOOKS = {
  middlewares: [],
  query: ['title', 'code', 'year', 'pages', 'printed', 'tags', 'author'],
  sortableFields: ['title', 'year'],
  search: ['title'],
  allowedFields: Object.keys(bookFields) as (keyof BookValues)[],
} as const

/** An app with five books, served at /books, at /feed by cursors, and as `options` say at /own. */
export interface Shop extends Service {
  readonly ids: readonly string[]
  get(path: string): Promise<Answer>
  post(json: unknown, path?: string): Promise<Answer>
  /** Changes the first book. */
  patch(json: unknown, path?: string): Promise<Answer>
  /** The first book as it is stored, hidden fields included. */
  stored(): Promise<Fields>
}

/** Opens one. */
export async function shop(
  options: BookOptions = {},
  app: Partial<AppOptions> = {},
): Promise<Shop> {
  const served = service(app)
  served.app.mount('/books', createRouter({ model: Book, ...BOOKS }))
  served.app.mount(
    '/feed',
    createRouter({ model: Book, ...BOOKS, orderBy: '-year', pagination: 'cursor' }),
  )
  served.app.mount('/own', createRouter({ model: Book, ...BOOKS, ...options }))
  const author = await served.app.store.collection(Author).insert({ name: 'Ann' })
  const books = served.app.store.collection(Book)
  const rows: Partial<BookValues>[] = [
    { code: '007', year: 1990, printed: new Date('2024-01-15'), pages: 5, author: author._id },
    { code: '7', year: 1990 },
    { code: '8', year: null, printed: new Date('2024-03-01') },
    { code: '9' },
    { code: '10', year: 2000 },
  ]
  const ids: string[] = []
  for (const [at, row] of rows.entries()) {
    const title = 'abcde'[at] ?? ''
    const place = { shelf: 'A', room: 'back' }
    const book = { title, place, secret: 'hush', ...row } as BookValues
    ids.push((await books.insert(book))._id)
  }
  const first = ids[0] ?? ''
  return {
    ...served,
    ids,
    get: (path) => served.send('GET', path),
    post: (json, path = '/books') => served.send('POST', path, { json }),
    patch: (json, path = '/books') => served.send('PATCH', `${path}/${first}`, { json }),
    stored: async () => ({ ...(await books.findById(first)) }),
  }
}
