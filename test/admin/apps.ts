/**
 * Two apps for the admin page, which has never seen them: a library with accounts and roles, and a depot without any.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { inject } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { admin } from '../../packages/admin/src/index.ts'
import { batch } from '../../src/batch/index.ts'
import {
  type App,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  ref,
} from '../../src/index.ts'
import { apiKeys } from '../../src/methods/api-keys/index.ts'
import { totp } from '../../src/methods/totp/index.ts'
import { openapi } from '../../src/openapi/index.ts'
import { cheap } from '../auth/accounts.ts'

const secret = 'a secret of at least 32 characters, for tests'
const quiet = { debug() {}, info() {}, warn() {}, error: console.error }

export const PASSWORD = 'correct horse battery'

/** The users of the library, by their roles. */
export const PEOPLE = {
  admin: 'ada@example.com',
  editor: 'ed@example.com',
  reader: 'rae@example.com',
}

export const Author = defineModel('Author', {
  fields: { name: z.string().min(1).max(100), born: z.date().optional() },
  unique: ['name'],
})

export const Book = defineModel('Book', {
  fields: {
    title: z.string().min(1).max(200),
    author: ref('Author'),
    status: z.enum(['draft', 'review', 'published']).default('draft'),
    pages: z.number().int().min(1).max(5000).optional(),
    price: z.number().min(0).optional(),
    isLent: z.boolean(),
    summary: z.string().max(2000).optional(),
    tags: z.array(z.string().max(30)).optional(),
    chapters: z.array(z.object({ title: z.string().min(1), page: z.number().int() })).optional(),
    place: z.object({ room: z.string(), shelf: z.number().int().optional() }).optional(),
    extra: z.unknown().optional(),
    cover: z.string().optional(),
    isbn: z.string().max(20).optional(),
  },
  timestamps: true,
  unique: ['isbn'],
  transitions: { status: { draft: ['review'], review: ['draft', 'published'], published: [] } },
  initial: { status: ['draft'] },
  indexes: ['title'],
  changes: true,
})

/** Books, authors and accounts. Editors write, admins delete, readers read. */
export async function library(isFilled = true): Promise<App> {
  const files = diskFiles({ root: join(inject('folder'), randomUUID()), secret })
  const app = createApp({ store: sqliteStore(), secret, files, logger: quiet })
  const auth = createAuthRouter({
    fields: { name: z.string().max(100).optional() },
    token: { secret },
    refresh: { enabled: true },
    password: cheap,
    registerFields: ['name'],
    updateFields: ['name'],
    roles: { list: ['reader', 'editor', 'admin'], default: 'reader' },
    methods: [totp({ issuer: 'Library' }), apiKeys()],
  })
  const editors = auth.requireRole('editor', 'admin')
  const access = { create: editors, update: editors, remove: auth.requireRole('admin') }
  app
    .mount('/auth', auth.router)
    .mount(
      '/books',
      createRouter({
        model: Book,
        middlewares: [auth.requireAuth],
        access: { ...access, restore: editors },
        history: true,
        live: true,
        orderBy: 'title',
        query: ['status', 'author'],
        search: ['title', 'author.name'],
        filterableFields: ['title', 'author', 'status', 'pages', 'price', 'isLent', 'createdAt'],
        sortableFields: ['title', 'pages', 'price', 'createdAt'],
        expandable: ['author'],
        exportLimit: 10_000,
        aggregates: { by: ['status', 'author', 'createdAt:month'], of: ['pages', 'price'] },
        upload: { path: 'covers/', fields: [{ name: 'cover' }], acl: 'public-read' },
      }),
    )
    .mount(
      '/authors',
      createRouter({
        model: Author,
        middlewares: [auth.requireAuth],
        access,
        orderBy: 'name',
        search: ['name'],
        allowedFields: ['name', 'born'],
      }),
    )
    .mount('/batch', batch())
    .mount('/docs', openapi({ title: 'Library', version: '1' }))
    .mount(
      '/admin',
      admin({
        title: 'Library',
        resources: { books: { list: ['title', 'author', 'status', 'pages', 'isLent'] } },
      }),
    )
  if (!isFilled) return app
  await people(app, (id, role) => app.store.collection(auth.model).update(id, { role }))
  await books(app)
  return app
}

/** Accounts of each role. */
async function people(
  app: App,
  give: (id: string, role: string) => Promise<unknown>,
): Promise<void> {
  for (const [role, email] of Object.entries(PEOPLE)) {
    const response = await app.handle(
      new Request('http://library/auth/register', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email, password: PASSWORD, name: `${role} of the library` }),
      }),
    )
    const { data } = (await response.json()) as { data: { user: { _id: string } } }
    await give(data.user._id, role)
  }
}

const TITLES = [
  'Atlas',
  'Birds',
  'Clouds',
  'Dunes',
  'Eels',
  'Ferns',
  'Gales',
  'Hills',
  'Ice',
  'Jade',
]

async function books(app: App): Promise<void> {
  const authors: string[] = []
  for (const name of ['Ines Moor', 'Otto Lind', 'Pia Vogt']) {
    authors.push((await app.store.collection(Author).insert({ name }))._id)
  }
  for (let at = 0; at < 60; at += 1) {
    await app.store.collection(Book).insert({
      title: `${TITLES[at % TITLES.length]} ${Math.floor(at / TITLES.length) + 1}`,
      author: authors[at % authors.length] ?? '',
      status: 'draft',
      pages: 100 + at * 7,
      price: 9.5 + at,
      isLent: at % 4 === 0,
      tags: ['new', at % 2 === 0 ? 'even' : 'odd'],
      isbn: `978-${at}`,
    })
  }
}

const Part = defineModel('Part', {
  fields: { label: z.string().min(1), weight: z.number(), kind: z.enum(['bolt', 'nut']) },
  id: 'uuid',
})

/** Parts that anyone may change, paged by cursor, below a path, without a document of its own. */
export async function depot(count = 70): Promise<App> {
  const app = createApp({ store: sqliteStore(), secret, basePath: '/api', logger: quiet })
  app
    .mount(
      '/parts',
      createRouter({
        model: Part,
        middlewares: [],
        pagination: 'cursor',
        query: ['kind'],
        sortableFields: ['label', 'weight'],
        allowedFields: ['label', 'weight', 'kind'],
        access: { remove: false },
      }),
    )
    .mount('/back/office', admin({ title: 'Depot' }))
  for (let at = 0; at < count; at += 1) {
    const kind = at % 2 === 0 ? 'bolt' : 'nut'
    await app.store.collection(Part).insert({ label: `Part ${100 + at}`, weight: at / 2, kind })
  }
  return app
}
