/**
 * Apps to describe: the atlas, one with everything on, and one with nothing.
 *
 * @module
 */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { atlas } from '../../examples/atlas/app.ts'
import { health, metrics } from '../../src/health/index.ts'
import {
  type App,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  describeGuard,
  HttpError,
  ref,
  userFields,
} from '../../src/index.ts'
import { openapi } from '../../src/openapi/index.ts'
import type { Hasher } from '../../src/ports/services/hasher.ts'
import type { ImageOptimizer } from '../../src/ports/services/images.ts'
import type { Store } from '../../src/ports/store/store.ts'

const SECRET = 'gq3f9RZ1-for-tests-of-the-document-only'
const logger = { debug() {}, info() {}, warn() {}, error() {} }

const files = () => diskFiles({ root: join(tmpdir(), 'fieldgate-openapi'), secret: SECRET })

/** Hashes in no time: what passwords cost is not what is tested with these apps. */
const hasher: Hasher = {
  hash: async (plain) => `plain$${plain}`,
  verify: async (plain, stored) => stored === `plain$${plain}`,
  needsRehash: () => false,
}

/** The atlas, on a store in memory unless told otherwise. */
export function atlasApp(store: Store = sqliteStore()): App {
  return atlas({ store, files: files(), secret: SECRET, hasher, logger })
}

/** An app that mounts nothing. */
export function emptyApp(): App {
  return createApp({ store: sqliteStore(), logger })
}

const images: ImageOptimizer = { optimize: async (bytes) => bytes }

const Category = z.object({
  label: z.string(),
  get children() {
    return z.array(Category).optional()
  },
})

/** An app that uses every option that the document speaks of. */
export function fullApp(): App {
  const options = {
    identifiers: ['email', 'phone'],
    refresh: { enabled: true },
    emailVerification: { enabled: true, required: true },
    roles: { list: ['user', 'editor', 'admin'], multiple: true },
    social: {
      google: { clientId: 'google' },
      github: { clientId: 'github', clientSecret: 'secret' },
      own: { verify: () => undefined },
    },
  } as const
  const User = defineModel('Person', {
    fields: {
      name: z.string().max(100).optional(),
      ...userFields(options),
    },
    timestamps: true,
    unique: ['email', 'phone', 'googleId', 'githubId', 'ownId'],
  })
  const Shelf = defineModel('Shelf', {
    fields: { label: z.string(), secretNote: z.string().optional() },
    id: 'uuid',
    hidden: ['secretNote'],
  })
  const Book = defineModel('Book', {
    fields: {
      title: z.string().min(1).max(200).meta({ description: 'As on the cover.' }),
      isbn: z.string().optional(),
      pages: z.int().min(1).default(1),
      price: z.number().nullish(),
      published: z.date().optional(),
      added: z.date().default(() => new Date()),
      available: z.boolean().default(true),
      genre: z.enum(['novel', 'poetry', 'essay']),
      tags: z.array(z.string()).max(10).default([]),
      shelf: ref('Shelf', { onDelete: 'restrict' }).optional(),
      author: z.object({
        name: z.string(),
        born: z.int().optional(),
        taxNumber: z.string().optional(),
      }),
      category: Category.optional(),
      extra: z.unknown().optional(),
      cover: z.string().optional(),
      scans: z.array(z.object({ url: z.string() })).optional(),
      costPrice: z.number().optional(),
    },
    timestamps: true,
    unique: ['isbn', ['title', 'genre']],
    hidden: ['costPrice', 'author.taxNumber'],
  })
  const Note = defineModel('Note', {
    fields: { text: z.string() },
    output: ({ text }) => ({ text, length: text.length }),
  })
  const Draft = defineModel('Draft', {
    fields: { owner: z.string(), public: z.boolean().default(false), text: z.string() },
  })
  const app = createApp({
    store: sqliteStore(),
    files: files(),
    images,
    secret: SECRET,
    cache: memoryCache(),
    logger,
  })
  const auth = createAuthRouter({
    ...options,
    model: User,
    token: { secret: SECRET },
    registerFields: ['name'],
    updateFields: ['name', 'email'],
    visibleFields: ['name'],
    lockout: { reveal: true },
    mail: { sender: async () => {} },
    sms: { sender: async () => {} },
    password: { check: () => undefined },
    routes: { deleteUser: true, login: '/sign-in' },
    onLogin: () => {},
  })
  const paying = describeGuard(() => {}, 'a paid plan')
  const books = createRouter({
    model: Book,
    middlewares: [auth.requireAuth, auth.requireRole('editor'), paying],
    orderBy: '-published',
    query: ['genre', 'tags', 'shelf', 'author.name'],
    search: ['title', 'shelf.label'],
    filterableFields: ['pages', 'price', 'published', 'available', 'tags', 'author.born', 'shelf'],
    sortableFields: ['title', 'published', 'pages'],
    aggregates: {
      by: ['genre', 'shelf', 'published:month', 'available'],
      of: ['pages', 'price', 'published'],
    },
    allowedFields: {
      create: [
        'title',
        'isbn',
        'pages',
        'genre',
        'tags',
        'shelf',
        'author',
        'category',
        'extra',
        'cover',
        'scans',
        'published',
        'available',
        'price',
      ],
      update: ['title', 'pages', 'price', 'shelf', 'author', 'cover', 'scans'],
    },
    upload: {
      fields: [{ name: 'cover' }, { name: 'scans', maxCount: 3, formatToUrlObject: true }],
      allowClientImageOptions: true,
    },
    validate: () => undefined,
    maxPage: 100,
    cache: { ttl: 5 },
  })
  books.get('/top', (request) => Response.json({ success: true, data: [request.query.limit] }), {
    summary: 'The books that are read most',
    query: z.object({
      limit: z.number().int().max(50).default(10),
      genre: z.array(z.enum(['novel', 'poetry'])).optional(),
    }),
    response: z.object({ success: z.literal(true), data: z.array(z.number()) }),
  })
  books.post('/import', () => new Response(null, { status: 202 }))
  app.use(() => {})
  app.mount('/', health())
  app.mount('/', metrics())
  app.mount('/accounts', auth.router)
  app.mount('/books', books)
  app.mount(
    '/archive/books',
    createRouter({
      model: Book,
      middlewares: [auth.optionalAuth],
      onGet: () => ({ populate: 'shelf' }),
      query: ['genre'],
      allowedFields: ['title', 'genre'],
      pagination: 'cursor',
      enableQuery: false,
    }),
  )
  app.mount(
    '/tenants/:tenant/shelves',
    createRouter({
      model: Shelf,
      middlewares: [
        () => {
          throw new HttpError(402, 'Pay first.')
        },
      ],
      allowedFields: ['label', 'secretNote'],
      countStrategy: 'none',
    }),
  )
  app.mount(
    '/notes',
    createRouter({ model: Note, middlewares: [], allowedFields: ['text'], query: ['text'] }),
  )
  app.mount(
    '/drafts',
    createRouter({
      model: Draft,
      access: {
        query: false,
        create: auth.requireAuth,
        update: [auth.requireAuth, paying],
        remove: false,
      },
      allowedFields: ['public', 'text'],
      scope: {
        read: ({ auth: user }) => ({ or: [{ owner: user?.userId }, { public: true }] }),
        write: ({ auth: user }) => ({ owner: user?.userId }),
      },
    }),
  )
  app.mount('/docs', openapi({ title: 'Library', version: '2.1' }))
  return app
}
