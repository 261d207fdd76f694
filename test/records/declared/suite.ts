/**
 * Two versions of one app on one database: what the newer one no longer declares is in none of its responses.
 *
 * @module
 */

import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import {
  type App,
  type AppOptions,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  ref,
  type Store,
  userFields,
} from '../../../src/index.ts'
import { cheap } from '../../auth/accounts.ts'
import { type Answer, answerOf, recordedLog, request } from '../service.ts'

/** What only the older version declares holds this text, wherever it stands. */
const SECRET = 's3cret'

const old = z.string().optional()
const hidden = { hidden: ['nationalId'] } as const

/** The models of one version: the older ones declare more. */
function models(version: 'old' | 'new') {
  const more = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
    version === 'old' ? shape : {}
  const collections = { Author: 'authors', Book: 'books', User: 'users' }
  const Author = defineModel('Author', {
    collection: collections.Author,
    fields: {
      name: z.string(),
      home: z.object({ city: z.string(), ...more({ door: old }) }).optional(),
      ...more({ nationalId: old }),
    },
    ...(version === 'old' && (hidden as object)),
  })
  const Book = defineModel('Book', {
    collection: collections.Book,
    fields: {
      title: z.string(),
      author: ref('Author'),
      editors: z.array(ref('Author')).optional(),
      parts: z.array(z.object({ name: z.string(), ...more({ note: old }) })).optional(),
      any: z.unknown().optional(),
      ...more({ draft: z.object({ text: z.string() }).optional(), plain: old }),
    },
    timestamps: true,
  })
  const User = defineModel('User', {
    collection: collections.User,
    fields: {
      name: old,
      ...more({ nationalId: old, card: z.object({ number: z.string() }).optional() }),
      ...userFields(version === 'old' ? { refresh: { enabled: true } } : {}),
    },
    unique: ['email'],
    ...(version === 'old' && (hidden as object)),
  })
  return { Author, Book, User }
}

const VERSIONS = { old: models('old'), new: models('new') }

interface Version {
  readonly app: App
  send(method: string, path: string, json?: unknown, token?: string): Promise<Answer>
}

/** The app of one version, with every kind of router over its models. */
function appOf(version: 'old' | 'new', store: Store, options: Partial<AppOptions> = {}): Version {
  const { Author, Book, User } = VERSIONS[version]
  const logger = recordedLog()
  const app = createApp({ store, logger, env: {}, ...options })
  onTestFinished(() => app.close())
  const auth = createAuthRouter({
    model: User,
    token: { secret: 'a secret for tests, 32 characters or more' },
    password: cheap,
    refresh: { enabled: version === 'old' },
    registerFields: version === 'old' ? ['name', 'nationalId', 'card'] : ['name'],
    updateFields: ['name'],
  } as never)
  const cache = options.cache !== undefined
  const every = { middlewares: [], cache, maxLimit: 50 } as const
  const books = {
    ...every,
    model: Book,
    query: ['title'],
    search: ['title'],
    orderBy: 'title',
  } as const
  const populated = {
    ...books,
    onGet: () => ({ populate: ['author', 'editors'] as const }),
  } as const
  app.mount('/auth', auth.router)
  app.mount('/authors', createRouter({ ...every, model: Author, allowedFields: ['name', 'home'] }))
  app.mount('/books', createRouter({ ...books, allowedFields: ['title', 'parts'] }))
  app.mount('/walk', createRouter({ ...books, pagination: 'cursor', defaultPageSize: 1 }))
  app.mount('/populated', createRouter({ ...populated, allowedFields: ['title', 'author'] }))
  app.mount(
    '/selected',
    createRouter({
      ...books,
      onGet: () => ({
        select: 'title plain draft.text parts',
        populate: { path: 'author', select: ['name', 'nationalId', 'home.door'] },
      }),
    }),
  )
  app.mount('/lean', createRouter({ ...books, lean: true }))
  app.mount('/people', createRouter({ ...every, model: User, allowedFields: ['name'] }))
  return {
    app,
    send: async (method, path, json, token) => {
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
      return answerOf(await app.handle(request(method, path, { json, headers })))
    },
  }
}

/** Records with a secret wherever the older version has a place for one. */
async function written(app: App): Promise<{ author: string; book: string }> {
  const { Author, Book } = VERSIONS.old
  const authors = app.store.collection(Author) as never as Collection
  const books = app.store.collection(Book) as never as Collection
  const author = await authors.insert({
    name: 'Ann',
    nationalId: SECRET,
    home: { city: 'Delft', door: SECRET },
  })
  const whole = {
    author: author._id,
    editors: [author._id],
    plain: SECRET,
    draft: { text: SECRET },
  }
  const parts = [{ name: 'one', note: SECRET }, { name: 'two' }]
  const book = await books.insert({ ...whole, title: 'A', parts, any: { shown: [{ x: 1 }] } })
  await books.insert({ ...whole, title: 'B' })
  return { author: String(author._id), book: String(book._id) }
}

type Collection = { insert(record: Fields): Promise<Fields> }

/** Registers the suite; `open` gives a store, and another one on the same database. */
export function declaredOnly(name: string, open: () => Promise<() => Store>): void {
  describe(`Responses over ${name} show what the model declares, and nothing else`, () => {
    async function deployed(options: Partial<AppOptions> = {}) {
      const store = await open()
      const before = appOf('old', store(), options)
      await before.app.ready()
      const ids = await written(before.app)
      return { before, after: appOf('new', store(), options), ...ids }
    }

    it('lists, QUERY, single records, searches, pages, references and selections', async () => {
      const { after, author, book } = await deployed()
      const asked: [string, string, unknown?][] = [
        ['GET', '/authors'],
        ['GET', `/authors/${author}`],
        ['QUERY', '/authors', {}],
        ...['/books', '/walk', '/populated', '/selected', '/lean'].flatMap((mount) => [
          ['GET', mount] as [string, string],
          ['GET', `${mount}/${book}`] as [string, string],
          ['GET', `${mount}?s=a&sort=-title`] as [string, string],
          ['QUERY', mount, { sort: '-title' }] as [string, string, unknown],
        ]),
        ['GET', '/books?page=1&pageSize=1'],
      ]
      for (const [method, path, json] of asked) {
        const { status, text } = await after.send(method, path, json)
        expect([method, path, status]).toEqual([method, path, 200])
        expect(text, `${method} ${path}`).not.toContain(SECRET)
      }
      const { record } = await after.send('GET', `/books/${book}`)
      expect(record).toMatchObject({
        title: 'A',
        parts: [{ name: 'one' }, { name: 'two' }],
        any: { shown: [{ x: 1 }] },
      })
      const populated = await after.send('GET', `/populated/${book}`)
      const shown = { _id: author, name: 'Ann', home: { city: 'Delft' } }
      expect(populated.record).toMatchObject({ author: shown, editors: [shown] })
    })

    it('the older version goes on showing its own, while both write', async () => {
      const { before, after, author, book } = await deployed()
      for (let turn = 0; turn < 3; turn += 1) {
        const patched = await after.send('PATCH', `/books/${book}`, { title: `A${turn}` })
        expect(patched.status).toBe(200)
        expect(patched.text).not.toContain(SECRET)
        const created = await after.send('POST', '/authors', { name: 'Bo', nationalId: SECRET })
        expect(created.text).not.toContain(SECRET)
        expect((await before.send('GET', `/books/${book}`)).record).toMatchObject({
          title: `A${turn}`,
          plain: SECRET,
          draft: { text: SECRET },
        })
        await before.send('PATCH', `/authors/${author}`, { home: { city: 'D', door: SECRET } })
        expect((await after.send('GET', '/authors')).text).not.toContain(SECRET)
        expect((await after.send('GET', `/populated/${book}`)).text).not.toContain(SECRET)
        expect((await before.send('GET', `/authors/${author}`)).text).toContain(SECRET)
      }
    })

    it('app.store gives declared fields, hidden ones included', async () => {
      const { before, after, author } = await deployed()
      const fresh = after.app.store.collection(VERSIONS.new.Author)
      expect(await fresh.findById(author)).toEqual({
        _id: author,
        name: 'Ann',
        home: { city: 'Delft' },
      })
      expect(await fresh.find({}, { select: ['home'] })).toEqual([
        { _id: author, home: { city: 'Delft' } },
      ])
      expect(JSON.stringify(await fresh.update(author, { name: 'Anna' }))).not.toContain(SECRET)
      const aged = before.app.store.collection(VERSIONS.old.Author)
      expect(await aged.findById(author)).toMatchObject({ name: 'Anna', nationalId: SECRET })
    })

    it('accounts, in every route of the auth router and in a router over users', async () => {
      const { before, after } = await deployed()
      const password = 'correct horse battery'
      const signUp = { email: 'ann@example.com', password, name: 'Ann', nationalId: SECRET }
      await before.send('POST', '/auth/register', { ...signUp, card: { number: SECRET } })
      const { record: session } = await before.send('POST', '/auth/login', {
        identifier: 'ann@example.com',
        password,
      })
      const signedIn = await after.send('POST', '/auth/login', {
        identifier: 'ann@example.com',
        password,
      })
      const { token, user } = signedIn.record as { token: string; user: { _id: string } }
      const asked: [string, string, unknown?][] = [
        ['GET', '/auth/me'],
        ['GET', `/auth/users/${user._id}`],
        ['PATCH', `/auth/users/${user._id}`, { name: 'Anna' }],
        ['GET', '/people'],
        ['GET', `/people/${user._id}`],
        ['PATCH', `/people/${user._id}`, { name: 'Annie' }],
      ]
      const answers = [signedIn]
      for (const [method, path, json] of asked) {
        answers.push(await after.send(method, path, json, token))
      }
      for (const { status, text } of answers) {
        expect(status).toBe(200)
        expect(text).not.toContain(SECRET)
        expect(text).not.toMatch(/refreshTokens|nationalId|card|scrypt/)
      }
      expect(session).toHaveProperty('refreshToken')
    })

    it('cached answers of the older version are not met by the newer one', async () => {
      const cache = memoryCache()
      const { before, after, author } = await deployed({ cache })
      for (const path of ['/authors', `/authors/${author}`, '/books']) {
        await before.send('GET', path)
        expect((await before.send('GET', path)).headers.get('x-cache')).toBe('HIT')
        expect((await after.send('GET', path)).text).not.toContain(SECRET)
        expect((await after.send('GET', path)).text).not.toContain(SECRET)
      }
    })
  })
}
