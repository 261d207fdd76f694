/**
 * An app with what caches in front of it could mix up: callers of all kinds, forms, codings, origins, files.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../../adapters/caches/memory.ts'
import { diskFiles } from '../../../../adapters/files/disk.ts'
import { apiKey, compress, cors, secureHeaders } from '../../../../src/guards/index.ts'
import { health } from '../../../../src/health/index.ts'
import {
  type ApiRequest,
  type App,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type Guard,
  ref,
} from '../../../../src/index.ts'
import { apiKeys } from '../../../../src/methods/api-keys/index.ts'
import { openapi } from '../../../../src/openapi/index.ts'
import { authOptions, password, userModel } from '../../../auth/accounts.ts'
import { form, png } from '../../../uploads/png.ts'
import { answerOf, request, service } from '../../service.ts'
import type { Asked, Told } from './http-cache.ts'

const Country = defineModel('CachingCountry', { fields: { name: z.string() } })
const Page = defineModel('CachingPage', {
  fields: {
    title: z.string(),
    text: z.string(),
    owner: z.string(),
    isOpen: z.boolean(),
    cost: z.number(),
    country: ref('CachingCountry').optional(),
    image: z.string().optional(),
    poster: z.string().optional(),
  },
  hidden: ['cost'],
  changes: true,
})
const User = userModel({ auth: { methods: [apiKeys()] } })

export const ORIGINS = ['https://a.example', 'https://b.example', 'https://evil.example'] as const
export const PARTNERS = ['partner-one', 'partner-two'] as const

export interface World {
  readonly app: App
  readonly ids: readonly string[]
  /** The headers of each kind of caller. */
  readonly callers: readonly Readonly<Record<string, string>>[]
  /** The paths of files, of those that are signed too. */
  readonly files: readonly string[]
  ask(asked: Asked): Promise<Told>
}

/** Sets whom a cookie names, if any. */
const byCookie: Guard = (asked) => {
  const userId = /user=(\w+)/.exec(asked.headers.get('cookie') ?? '')?.[1]
  if (userId) asked.auth = { userId }
}

export async function world(): Promise<World> {
  const root = mkdtempSync(join(tmpdir(), 'fieldgate-caching-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const files = diskFiles({ root, secret: 'a secret of at least thirty-two characters' })
  const { app } = service({ cache: memoryCache(), files, secret: 's'.repeat(40) })
  const auth = createAuthRouter(authOptions(User, [], { methods: [apiKeys()] }))
  const listed = ['https://a.example', 'https://b.example']
  app.use(cors({ origins: listed, credentials: true }))
  app.use(compress())
  app.use(secureHeaders())
  app.mount('/auth', auth.router)
  mount(app, auth)
  const made = await filled(app)
  const ask = async ({ method, path, headers, body }: Asked): Promise<Told> => {
    const response = await app.handle(
      request(method, path, { headers: { ...headers }, ...(body !== undefined && { body }) }),
    )
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, bytes }
  }
  return { app, ...made, ask }
}

function mount(
  app: App,
  { optionalAuth, requireAuth }: Record<'optionalAuth' | 'requireAuth', Guard>,
): void {
  const allowedFields = ['title', 'text', 'isOpen', 'image', 'poster'] as const
  const pages = {
    model: Page,
    allowedFields,
    query: ['title', 'isOpen'],
    sortableFields: ['title'],
  } as const
  const more = { exportLimit: 100, expandable: ['country'], history: true } as const
  const mine = ({ auth: who }: ApiRequest) => ({
    or: [{ owner: who?.userId ?? '' }, { isOpen: true }],
  })
  const open = { ...pages, ...more, middlewares: [] }
  app.mount('/open', createRouter({ ...open, cache: true, search: ['title'] }))
  app.mount('/cursor', createRouter({ ...pages, middlewares: [], pagination: 'cursor' }))
  app.mount(
    '/mine',
    createRouter({
      ...{ ...pages, ...more, cache: true, middlewares: [optionalAuth], scope: mine },
      fieldsFor: (asked) => (asked.auth ? undefined : ['title', 'isOpen', 'country']),
    }),
  )
  const kept: Guard = (_, context) => context.headers.set('Cache-Control', 'public, max-age=60')
  app.mount(
    '/kept',
    createRouter({
      ...{ ...pages, middlewares: [optionalAuth, kept], scope: mine },
      fieldsFor: (asked) => (asked.auth ? undefined : ['title', 'isOpen']),
    }),
  )
  app.mount('/own', createRouter({ ...pages, ...more, middlewares: [requireAuth], scope: mine }))
  const partner = apiKey({ keys: [...PARTNERS] })
  app.mount('/partner', createRouter({ ...pages, middlewares: [partner] }))
  app.mount(
    '/cookie',
    createRouter({
      ...{ ...pages, cache: true, middlewares: [byCookie] },
      onGet: (asked) => (asked.auth ? {} : { select: ['title'] }),
    }),
  )
  const upload = { fields: [{ name: 'image' }, { name: 'poster' }] } as const
  app.mount(
    '/photos',
    createRouter({ ...pages, middlewares: [], upload: { ...upload, signUrls: 600 } }),
  )
  const posters = { ...upload, acl: 'public-read' } as const
  app.mount('/posters', createRouter({ ...pages, middlewares: [], upload: posters }))
  app.get('/hello', (asked) => {
    const name = asked.headers.get('authorization') === null ? 'stranger' : 'friend'
    return Response.json({ hello: name })
  })
  app.get('/page', ({ headers }) => {
    const known = headers.get('if-none-match')?.includes('"page"')
    const page = { 'Content-Type': 'text/html', ETag: '"page"' }
    return new Response(known ? null : '<p>', {
      ...{ status: known ? 304 : 200, headers: known ? { ETag: page.ETag } : page },
    })
  })
  app.mount('/', health())
  app.mount('/docs', openapi({ title: 'Pages', version: '1' }))
}

async function filled(app: App): Promise<Pick<World, 'ids' | 'callers' | 'files'>> {
  const send = async (method: string, path: string, json: unknown, headers = {}) =>
    answerOf(await app.handle(request(method, path, { json, headers })))
  const signedIn = async (name: string) => {
    const { record } = await send('POST', '/auth/register', {
      email: `${name}@example.com`,
      password,
    })
    const headers = { authorization: `Bearer ${record.token}` }
    return { id: String((record.user as Fields)._id), headers }
  }
  const [ann, bob, boss] = [await signedIn('ann'), await signedIn('bob'), await signedIn('boss')]
  await app.store.collection(User).update(boss.id, { role: 'admin' })
  const allow = [{ mount: '*', actions: ['list', 'read'] }]
  const { record } = await send('POST', '/auth/keys', { name: 'k', allow }, ann.headers)
  const country = await app.store.collection(Country).insert({ name: 'Portugal' })
  const ids: string[] = []
  for (let at = 0; at < 12; at += 1) {
    const own = { owner: at % 2 ? ann.id : bob.id, isOpen: at % 3 === 0, cost: at }
    const text = `${at} `.repeat([5, 700, 5, 20_000][at % 4] ?? 5)
    const page = { title: `page ${at % 4}`, text, country: country._id, ...own }
    ids.push(String((await app.store.collection(Page).insert(page))._id))
  }
  const uploaded = async (mounted: string, field: string): Promise<string> => {
    const body = form({ title: 'x', text: 'y', [field]: png })
    const made = await answerOf(
      await app.handle(request('PATCH', `${mounted}/${ids[0]}`, { body })),
    )
    return String(made.record[field])
  }
  const files = [await uploaded('/photos', 'image'), await uploaded('/posters', 'poster')]
  const callers = [
    ...[{}, ann.headers, bob.headers, boss.headers],
    { authorization: `Bearer ${(record as { key: string }).key}` },
    { authorization: 'Bearer wrong' },
    ...PARTNERS.map((key) => ({ 'x-api-key': key })),
    ...['ann', 'bob'].map((name) => ({ cookie: `user=${name}` })),
  ]
  const [signed = ''] = files
  return {
    ids,
    callers,
    files: [...files, signed.split('?')[0] ?? '', '/uploads/none.png'],
  }
}
