/**
 * Books of entries, one for each writer, that batches write: the newest batch of a book is all that it holds.
 *
 * @module
 */

import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { batch } from '../../../src/batch/index.ts'
import {
  type App,
  createApp,
  createRouter,
  defineModel,
  ref,
  type Store,
} from '../../../src/index.ts'

const Book = defineModel('KillBook', {
  fields: { name: z.string(), at: z.number().int() },
  unique: ['name'],
})
const Entry = defineModel('KillEntry', {
  fields: { book: ref('KillBook', { onDelete: 'restrict' }), at: z.number().int() },
})

/** Where a process finds its records: a SQLite file, a schema of PostgreSQL, or a database of MongoDB. */
export type Where =
  | { readonly path: string }
  | { readonly url: string; readonly schema: string }
  | { readonly url: string; readonly database: string }

function storeAt(where: Where): Store {
  if ('path' in where) return sqliteStore(where)
  return 'schema' in where ? postgresStore(where) : mongoStore(where)
}

/** What a book holds. */
export interface Holding {
  readonly book: { readonly _id: string; readonly name: string; readonly at: number }
  readonly entries: readonly { readonly _id: string; readonly at: number }[]
}

/** An app over the books at a place. */
export interface Library {
  readonly app: App
  /** The books with these names, and their entries. */
  holdings(names: readonly string[]): Promise<readonly Holding[]>
}

/** Entries of each batch. */
export const ENTRIES = 5

/** An app over the books at `where`. */
export function libraryAt(where: Where): Library {
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: console.error }
  const app = createApp({ store: storeAt(where), env: {}, logger })
    .mount('/books', createRouter({ model: Book, allowedFields: ['name', 'at'], middlewares: [] }))
    .mount(
      '/entries',
      createRouter({ model: Entry, allowedFields: ['book', 'at'], middlewares: [] }),
    )
    .mount('/batch', batch())
  return {
    app,
    async holdings(names) {
      const books = await app.store.collection(Book).find({ name: names })
      const ids = books.map(({ _id }) => _id)
      const entries = await app.store.collection(Entry).find({ book: ids })
      return books.map((book) => ({
        book,
        entries: entries.filter((entry) => entry.book === book._id),
      }))
    },
  }
}

/** The batch that makes `at` the newest of a book: it creates the entries, and removes those before. */
export function batchOf({ book, entries }: Holding, at: number): readonly object[] {
  return [
    ...Array.from({ length: ENTRIES }, () => ({
      method: 'POST',
      path: '/entries',
      body: { book: book._id, at },
    })),
    { method: 'PATCH', path: `/books/${book._id}`, body: { at } },
    ...entries.map(({ _id }) => ({ method: 'DELETE', path: `/entries/${_id}` })),
  ]
}

/** What is half of a batch, as sentences. */
export function halves(holdings: readonly Holding[]): string[] {
  return holdings.flatMap(({ book, entries }) => {
    const expected = book.at === 0 ? 0 : ENTRIES
    const isWhole = entries.length === expected && entries.every(({ at }) => at === book.at)
    return isWhole ? [] : [`book ${book.name} at ${book.at}: ${entries.map(({ at }) => at)}`]
  })
}
