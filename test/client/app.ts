/**
 * An app for clients, on a real server: records in several ways, files, and accounts with short-lived tokens.
 *
 * @module
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import {
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Guard,
  HttpError,
  ref,
  userFields,
} from '../../src/index.ts'
import { cheap } from '../auth/accounts.ts'

export const SECRET = 'a secret of at least 32 characters, for tests'

const accounts = { refresh: { enabled: true } } as const

export const User = defineModel('ClientUser', {
  fields: { name: z.string().optional(), ...userFields(accounts) },
  unique: ['email'],
})

const Country = defineModel('ClientCountry', {
  fields: { code: z.string().length(2), name: z.string().min(1) },
  unique: ['code'],
})

const City = defineModel('ClientCity', {
  fields: {
    name: z.string().min(1),
    country: ref('ClientCountry').optional(),
    population: z.number().int().min(0).optional(),
    foundedAt: z.date().optional(),
    tags: z.array(z.string()).default([]),
    photo: z.string().optional(),
    notes: z.string().optional(),
  },
  timestamps: true,
  hidden: ['notes'],
})

const Note = defineModel('ClientNote', {
  fields: { owner: z.string(), text: z.string() },
})

/** What a served app can be asked for, and what it saw. */
export interface Watched {
  /** Method and path of each request that reached the app. */
  readonly seen: string[]
  /** Epoch milliseconds; tests move it. */
  now: number
  /** Runs before each request, if set. */
  guard?: Guard | undefined
  /** Runs after each response is made and before it is sent, if set. */
  answered?: (request: Request) => Promise<void>
}

function cityOptions() {
  return {
    model: City,
    middlewares: [],
    orderBy: 'name',
    query: ['name'],
    search: ['name'],
    filterableFields: ['name', 'country', 'population', 'foundedAt', 'tags'],
    sortableFields: ['name', 'population'],
    allowedFields: {
      create: ['name', 'country', 'population', 'foundedAt', 'tags', 'photo'],
      update: ['name', 'population', 'foundedAt', 'photo'],
    },
    upload: { fields: [{ name: 'photo' }] },
  } as const
}

/** The app; its type is what the tests' clients are checked against. */
export function makeApp(watched: Watched, folder: string) {
  const auth = createAuthRouter({
    ...accounts,
    model: User,
    token: { secret: SECRET, expiresIn: 60 },
    password: cheap,
    registerFields: ['name'],
    updateFields: ['name'],
  })
  return createApp({
    store: sqliteStore(),
    files: diskFiles({ root: folder, secret: SECRET }),
    now: () => watched.now,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
    .use((request, context) => {
      watched.seen.push(`${request.method} ${new URL(request.url).pathname}`)
      return watched.guard?.(request, context)
    })
    .mount('/auth', auth.router)
    .mount('/countries', createRouter({ model: Country, middlewares: [], query: ['code'] }))
    .mount('/cities', createRouter(cityOptions()))
    .mount('/feed', createRouter({ ...cityOptions(), pagination: 'cursor' }))
    .mount('/closed', createRouter({ ...cityOptions(), enableQuery: false }))
    .mount(
      '/closed-feed',
      createRouter({ ...cityOptions(), enableQuery: false, pagination: 'cursor' }),
    )
    .mount('/proxied', createRouter({ ...cityOptions(), methodOverride: true }))
    .mount('/shown', createRouter({ ...cityOptions(), onGet: () => ({ populate: 'country' }) }))
    .mount(
      '/notes',
      createRouter({
        model: Note,
        middlewares: [auth.requireAuth],
        scope: (request) => ({ owner: request.auth?.userId ?? '' }),
        query: ['text'],
      }).get('/busy', () => {
        throw new HttpError(429, 'Slow down.', { headers: { 'Retry-After': '7' } })
      }),
    )
}

/** The app's type. */
export type TestApp = ReturnType<typeof makeApp>

/** Serves an app of its own on a free port of 127.0.0.1. */
export async function served() {
  const watched: Watched = { seen: [], now: Date.now() }
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-client-'))
  const app = makeApp(watched, folder)
  const handle: typeof app.handle = async (request, env, platform) => {
    const response = await app.handle(request, env, platform)
    await watched.answered?.(request)
    return response
  }
  const server = await serve({ ...app, handle }, { port: 0, hostname: '127.0.0.1', signals: false })
  return {
    app,
    watched,
    url: server.url.replace(/\/$/, ''),
    async close() {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
