/**
 * Pages of several people behind guards, in two apps over one database: one with the cache, one without.
 *
 * @module
 */

import * as z from 'zod'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import {
  type CacheOptions,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type Model,
  type Values,
} from '../../src/index.ts'
import { authOptions, password, userModel } from '../auth/accounts.ts'
import { NOON, type Service, service } from '../records/service.ts'

const pageFields = { owner: z.string(), title: z.string(), cost: z.number() }
/** A page; its cost is for admins alone. */
export const Page: Model<Values<typeof pageFields>> = defineModel('CachedPage', {
  fields: pageFields,
})
/** The accounts' model. */
export const User: Model<Fields> = userModel({
  fields: { isDisabled: z.boolean().optional() },
})

/** Who asks. The last two are refused wherever anybody is. */
export const PEOPLE = ['admin', 'ann', 'bob', 'anonymous', 'bad', 'expired'] as const
/** One of them. */
export type Person = (typeof PEOPLE)[number]

/** The two apps, and what is in their database. */
export interface People {
  readonly cached: Service
  readonly plain: Service
  readonly clock: { at: number }
  readonly pages: readonly Fields[]
  /** The stored accounts. */
  readonly users: Readonly<Record<'admin' | 'ann' | 'bob', string>>
  headers(person: Person): Record<string, string>
}

/** Signs everybody in. `cache` is the option of every router of the cached app. */
export async function people(cache: true | CacheOptions = true): Promise<People> {
  const store = { ...sqliteStore(), close: async () => {} }
  const clock = { at: NOON }
  const auth = createAuthRouter(authOptions(User, [], { fields: { disabled: 'isDisabled' } }))
  const cached = served(cache)
  const plain = served(false)
  const accounts = cached.app.store.collection(User)

  function served(option: boolean | CacheOptions): Service {
    const own = service({ store, cache: memoryCache(), now: () => clock.at })
    const pages = {
      model: Page,
      query: ['owner', 'title'],
      search: ['title'],
      allowedFields: ['title', 'cost'],
      cache: option,
    } as const
    const { requireAuth, requireRole, optionalAuth } = auth
    own.app.mount('/auth', auth.router)
    own.app.mount(
      '/pages',
      createRouter({
        ...pages,
        middlewares: [optionalAuth],
        onGet: (request) => (request.auth?.role === 'admin' ? {} : { select: '-cost' }),
      }),
    )
    const scope = ({ auth: who }: { auth?: { userId: string } }) => ({ owner: who?.userId })
    own.app.mount('/own', createRouter({ ...pages, middlewares: [requireAuth], scope }))
    const admins = [requireAuth, requireRole('admin')]
    own.app.mount('/admin', createRouter({ ...pages, middlewares: admins }))
    return own
  }

  async function signedIn(name: string): Promise<{ token: string; id: string }> {
    const json = { email: `${name}@example.com`, password }
    const { record } = await cached.send('POST', '/auth/register', { json })
    return { token: String(record.token), id: String((record.user as Fields)._id) }
  }
  const expired = await signedIn('expired')
  clock.at += 365 * 86_400_000
  const [admin, ann, bob] = [await signedIn('admin'), await signedIn('ann'), await signedIn('bob')]
  await accounts.update(admin.id, { role: 'admin' })
  const tokens: Record<Person, string | undefined> = {
    admin: admin.token,
    ann: ann.token,
    bob: bob.token,
    anonymous: undefined,
    bad: `${ann.token}x`,
    expired: expired.token,
  }
  const stored = cached.app.store.collection(Page)
  const pages: Fields[] = []
  for (const [at, { id }] of [ann, bob, ann, bob].entries()) {
    pages.push({ ...(await stored.insert({ owner: id, title: `page ${at}`, cost: at })) })
  }
  return {
    cached,
    plain,
    clock,
    pages,
    users: { admin: admin.id, ann: ann.id, bob: bob.id },
    headers: (person) => {
      const token = tokens[person]
      return token === undefined ? {} : { authorization: `Bearer ${token}` }
    },
  }
}
