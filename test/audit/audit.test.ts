import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { textOf } from '../../adapters/cli/audit.ts'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { audit } from '../../src/audit/index.ts'
import { apiKey, readOnly } from '../../src/guards/index.ts'
import { health, metrics } from '../../src/health/index.ts'
import {
  type App,
  type AuthOptions,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  describeGuard,
  type Guard,
  type RouterOptions,
  ref,
  userFields,
} from '../../src/index.ts'
import type { Fields } from '../../src/ports/store/records.ts'
import { atlasApp } from '../openapi/apps.ts'

const SECRET = 'gq3f9RZ1-for-tests-of-the-audit-only!'
const logger = { debug() {}, info() {}, warn() {}, error() {} }

/** What a hole may change of the app. */
interface Parts {
  model: Record<string, unknown>
  notes: Record<string, unknown>
  books: Record<string, unknown>
  accounts: Record<string, unknown>
  guards: Guard[]
  more: ((app: App, notes: ReturnType<typeof noteModel>) => void)[]
  extra: Guard[]
}

const owner = () => ({ owner: '0'.repeat(24) })

/** An app with guards, scopes and lists of fields, in which `dig` makes a hole. */
function library(dig: (parts: Parts, auth: Guards) => void = () => {}): App {
  const app = createApp({
    store: sqliteStore(),
    files: diskFiles({ root: '/nowhere', secret: SECRET }),
    secret: SECRET,
    logger,
  })
  const User = defineModel('User', {
    fields: { name: z.string().optional(), plan: z.string().optional(), ...userFields() },
    unique: ['email'],
  })
  const given = { registerFields: ['name'], updateFields: ['name'], visibleFields: ['name'] }
  const guardsOf = (options: object) =>
    createAuthRouter({ model: User, token: { secret: SECRET }, ...options } as AuthOptions<
      never,
      string
    > & { model: typeof User })
  const parts: Parts = {
    model: { hidden: ['price', 'author.taxNumber'], output: (record: object) => record },
    notes: {
      query: ['text'],
      filterableFields: ['text'],
      sortableFields: ['text'],
      allowedFields: ['text', 'book'],
      blockedFields: { create: ['book'] },
      enableQuery: false,
      access: { remove: describeGuard(() => {}, 'the librarian'), update: false },
      scope: owner,
    },
    books: {
      allowedFields: ['title'],
      search: ['title'],
      aggregates: { by: ['title'], of: ['pages'] },
      fieldsFor: () => ['title'],
      scope: { read: () => ({ title: 'public' }), write: () => ({ title: 'mine' }) },
    },
    accounts: given,
    guards: [apiKey({ keys: ['0123456789abcdef0123456789abcdef'] })],
    more: [],
    extra: [describeGuard(() => {}, 'a paid plan')],
  }
  const plain = guardsOf(given)
  parts.notes.middlewares = [plain.requireAuth, plain.requireRole('editor')]
  parts.books.middlewares = [readOnly()]
  dig(parts, plain)
  const auth = guardsOf(parts.accounts)
  const Note = noteModel()
  const Book = defineModel('Book', {
    fields: {
      title: z.string(),
      pages: z.number().optional(),
      price: z.number().optional(),
      scan: z.string().optional(),
      author: z.object({ name: z.string(), taxNumber: z.string().optional() }).optional(),
    },
    ...parts.model,
  })
  for (const guard of parts.guards) app.use(guard)
  app.mount('/auth', auth.router)
  const notes = createRouter({ model: Note, ...parts.notes } as unknown as RouterOptions<Fields>)
  notes.get('/mine', ...(parts.extra as [Guard]), () => Response.json({}))
  app.mount('/notes', notes)
  app.mount(
    '/books',
    createRouter({ model: Book, ...parts.books } as unknown as RouterOptions<Fields>),
  )
  app.mount('/', health())
  for (const more of parts.more) more(app, Note)
  return app
}

type Guards = Pick<ReturnType<typeof createAuthRouter>, 'requireAuth' | 'requireRole'>

function noteModel() {
  return defineModel('Note', {
    fields: { text: z.string(), owner: ref('User').optional(), book: ref('Book').optional() },
  })
}

/** Each opens a door, in the way that it happens. */
const HOLES: Readonly<Record<string, (parts: Parts, auth: Guards) => void>> = {
  'no guard on a router': ({ notes }) => {
    notes.middlewares = []
  },
  'a role that is not asked for': ({ notes }, { requireAuth }) => {
    notes.middlewares = [requireAuth]
  },
  'another role': ({ notes }, { requireAuth, requireRole }) => {
    notes.middlewares = [requireAuth, requireRole('user')]
  },
  'a guard of the app that is gone': ({ guards }) => void guards.pop(),
  'a scope that is gone': ({ notes }) => {
    delete notes.scope
  },
  'a field that may be written': ({ notes }) => {
    notes.allowedFields = ['text', 'book', 'owner']
  },
  'a field that may be written on a create alone': ({ notes }) => {
    notes.allowedFields = { create: ['text', 'book', 'owner'], update: ['text'] }
  },
  'no list of writable fields': ({ notes }) => {
    delete notes.allowedFields
  },
  'a blocked field that is not blocked': ({ notes }) => {
    delete notes.blockedFields
  },
  'a scope of reads alone': ({ books }) => {
    books.scope = undefined
  },
  'a field to filter by': ({ notes }) => {
    notes.filterableFields = ['text', 'owner']
  },
  'a field to compare with in a URL': ({ notes }) => {
    notes.query = ['text', 'owner']
  },
  'a field to sort by': ({ notes }) => {
    notes.sortableFields = ['text', 'owner']
  },
  'a field to search': ({ notes }) => {
    notes.search = ['text']
  },
  'a field to group by': ({ books }) => {
    books.aggregates = { by: ['title', 'scan'], of: ['pages'] }
  },
  'a field to compute with': ({ books }) => {
    books.aggregates = { by: ['title'], of: [] }
  },
  'a search through a reference': ({ notes }) => {
    notes.search = ['book.title']
  },
  'a hidden field that is shown': ({ model }) => {
    model.hidden = ['author.taxNumber']
  },
  'a hidden field inside another that is shown': ({ model }) => {
    model.hidden = ['price']
  },
  'fields that are shown to everyone': ({ books }) => {
    delete books.fieldsFor
  },
  'an output that is gone': ({ model }) => {
    delete model.output
  },
  'an output that is skipped': ({ books }) => {
    books.lean = true
  },
  'a QUERY route': ({ notes }) => {
    notes.enableQuery = true
  },
  'a guard of one route that is gone': ({ notes }) => {
    notes.access = { ...(notes.access as object), remove: true }
  },
  'a route that was closed': ({ notes }) => {
    notes.access = { ...(notes.access as object), update: true }
  },
  'references that are filled in': ({ notes }) => {
    notes.onGet = () => ({ populate: 'owner' })
  },
  'a router that may be written': ({ books }) => {
    books.middlewares = []
  },
  'files that are taken': ({ books }) => {
    books.middlewares = []
    books.allowedFields = ['title', 'scan']
    books.upload = { fields: [{ name: 'scan' }] }
  },
  'legacy mode': ({ notes }) => {
    notes.legacyMode = true
  },
  'an extra route without its guard': ({ extra }) => void extra.pop(),
  'the same records at another place': ({ more }) => {
    more.push((app, model) => void app.mount('/all', createRouter({ model, middlewares: [] })))
  },
  'metrics for everyone': ({ more }) => {
    more.push((app) => void app.mount('/', metrics()))
  },
  'a field that is set on registration': ({ accounts }) => {
    accounts.registerFields = ['name', 'plan']
  },
  'a field that users change': ({ accounts }) => {
    accounts.updateFields = ['name', 'plan']
  },
  'users shown whole': ({ accounts }) => {
    delete accounts.visibleFields
  },
  'a route for accounts that is on': ({ accounts }) => {
    accounts.routes = { deleteUser: true }
  },
  'a route for accounts at another place': ({ accounts }) => {
    accounts.routes = { listUsers: '/people' }
  },
}

describe('audit', () => {
  const sound = textOf(audit(library()))

  it('is the same for the same app', () => {
    expect(textOf(audit(library()))).toBe(sound)
  })

  it.each(Object.entries(HOLES))('shows %s', (_, dig) => {
    expect(textOf(audit(library(dig)))).not.toBe(sound)
  })

  it('says of each route what it needs and reaches', () => {
    const rows = audit(library())
    const at = (method: string, path: string) =>
      rows.find((row) => row.method === method && row.path === path)
    expect(at('GET', '/notes')).toEqual({
      method: 'GET',
      path: '/notes',
      model: 'Note',
      who: 'holders of an API key, signed in, role editor',
      scope: true,
      read: ['_id', 'text', 'owner', 'book'],
      write: [],
      filter: ['text'],
      sort: ['text'],
      search: [],
    })
    expect(at('PATCH', '/notes/:id')).toBeUndefined()
    expect(at('POST', '/notes')).toMatchObject({ write: ['text'] })
    expect(at('DELETE', '/notes/:id')).toMatchObject({
      who: 'holders of an API key, signed in, role editor, the librarian',
      scope: true,
      read: [],
      write: [],
    })
    expect(at('QUERY', '/books')).toMatchObject({ group: ['title'], aggregate: ['pages'] })
    expect(at('GET', '/books/:id')).toMatchObject({
      read: ['_id', 'title', 'pages', 'scan', 'author.name'],
      output: true,
    })
    expect(at('POST', '/books')).toBeUndefined()
    expect(at('GET', '/notes/mine')).toMatchObject({
      who: 'holders of an API key, signed in, role editor, a paid plan',
      model: null,
    })
    expect(at('GET', '/healthz')).toMatchObject({ who: 'anyone', model: null })
    expect(at('PATCH', '/auth/users/:id')).toMatchObject({
      who: 'holders of an API key, self or admin',
      write: ['name'],
    })
    expect(at('GET', '/auth/users')).toMatchObject({
      who: 'holders of an API key, signed in, role admin',
    })
  })

  it('tells what start-up takes away from the writable fields of accounts', () => {
    const User = defineModel('User', {
      fields: { name: z.string().optional(), ...userFields() },
      unique: ['email'],
    })
    const app = createApp({ store: sqliteStore(), logger })
    app.mount('/auth', createAuthRouter({ model: User, token: { secret: SECRET } }).router)
    const options = { model: User, middlewares: [], allowedFields: { create: ['name'] } } as const
    app.mount('/people', createRouter(options))
    const row = audit(app).find(({ method, path }) => method === 'PATCH' && path === '/people/:id')
    expect(row?.write).toEqual(['name'])
  })

  // After a change that is meant, read the difference, then: npx vitest run --project unit test/audit -u
  it('of the atlas is as it was', async () => {
    const file = fileURLToPath(new URL('../../examples/atlas/audit.json', import.meta.url))
    await expect(`${textOf(audit(atlasApp()))}\n`).toMatchFileSnapshot(file)
  })
})
