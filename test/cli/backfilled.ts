/**
 * Projects in whose database are records of an earlier model.
 *
 * @module
 */

import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, defineModel } from '../../src/index.ts'
import { type Project, project } from './project.ts'

/** The app of now. */
const APP = `
import * as z from 'zod'
import { createApp, createRouter, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'

const Book = defineModel('Book', {
  fields: { title: z.string(), pages: z.number(), language: z.string().default('en') },
  unique: ['title'],
  renamed: { name: 'title' },
  convert: { pages: (stored) => (stored === 'unknown' ? undefined : Number(stored)) },
})
export const app = createApp({ store: sqliteStore({ path: new URL('books.db', import.meta.url).pathname }) })
app.mount('/books', createRouter({ model: Book, allowedFields: ['title'], middlewares: [] }))
`

/** The model that stored the records. */
const Old = defineModel('Book', {
  fields: { name: z.string(), pages: z.string() },
  indexes: ['pages'],
})

/** A project in whose database are `records` of the old model. */
export async function books(records: readonly { name: string; pages: string }[]): Promise<Project> {
  const made = await project({ 'app.ts': APP })
  onTestFinished(() => made.remove())
  const app = createApp({ store: sqliteStore({ path: join(made.folder, 'books.db') }) })
  const stored = app.store.collection(Old)
  await Promise.all(records.map((record) => stored.insert(record)))
  await app.close()
  return made
}

/** The records as they are stored, under whatever names. */
export async function stored({ folder }: Project): Promise<Record<string, unknown>[]> {
  const { DatabaseSync } = await import('node:sqlite')
  const db = new DatabaseSync(join(folder, 'books.db'), { readOnly: true })
  const rows = db.prepare('SELECT doc FROM books ORDER BY _id').all()
  db.close()
  return rows.map(({ doc }) => {
    const { _id, ...rest } = JSON.parse(String(doc))
    return rest
  })
}

/** So many books of the old model. */
export const booksOf = (count: number): { name: string; pages: string }[] =>
  Array.from({ length: count }, (_, at) => ({ name: `book ${at}`, pages: `${at}` }))
