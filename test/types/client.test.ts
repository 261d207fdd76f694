import { describe, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { recordQueries } from '../../adapters/clients/tanstack-query.ts'
import type { SecretName } from '../../src/auth/setup/field-names.ts'
import { createClient, type Failure } from '../../src/client/index.ts'
import {
  type App,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type FieldsFor,
  type Model,
  ref,
  type Store,
  userFields,
} from '../../src/index.ts'

const accounts = {
  refresh: { enabled: true },
  identifiers: ['email', 'phone'],
} as const

const User = defineModel('TypedClientUser', {
  fields: { name: z.string().optional(), age: z.number().optional(), ...userFields(accounts) },
  unique: ['email', 'phone'],
})

const City = defineModel('TypedClientCity', {
  fields: {
    name: z.string(),
    country: ref('TypedClientCountry'),
    population: z.number().optional(),
    kind: z.enum(['town', 'city']).default('city'),
    foundedAt: z.date().nullable(),
    tags: z.array(z.string()),
    photo: z.string().optional(),
    secret: z.string().optional(),
    owner: z.string(),
    note: z.string().optional(),
  },
  hidden: ['secret'],
})

const Other = defineModel('TypedClientOther', {
  fields: { name: z.string() },
  output: () => ({ shown: 1 }),
})

const Place = defineModel('TypedClientPlace', {
  fields: {
    at: z.tuple([z.string(), z.number()]).optional(),
    dates: z.tuple([z.date()], z.number()),
  },
})

const Short = defineModel('TypedClientShort', { fields: { name: z.string() } })
/** Written apart from the router. */
const readers: FieldsFor<{ name: string }> = () => ['name']

const ByHand: Model<{ name: string }> = defineModel('TypedClientByHand', {
  fields: { name: z.string() },
})

/** Compiled, never run. */
function apps(store: Store) {
  const auth = createAuthRouter({
    ...accounts,
    model: User,
    token: { secret: 'x' },
    registerFields: ['name'],
    updateFields: ['name', 'age'],
    routes: { social: false },
  })
  const cities = createRouter({
    model: City,
    orderBy: '-name',
    query: ['country', 'tags'],
    filterableFields: ['country', 'population', 'foundedAt', 'kind', 'tags', '_id', 'createdAt'],
    search: ['name'],
    aggregates: { by: ['country', 'foundedAt:month', 'kind'], of: ['population', 'foundedAt'] },
    allowedFields: {
      create: ['name', 'country', 'population', 'kind', 'foundedAt', 'tags', 'photo', 'owner'],
      update: ['name', 'population', 'foundedAt', 'photo'],
    },
    scope: (request) => ({ owner: request.auth?.userId ?? '' }),
    upload: { fields: [{ name: 'photo' }] },
  })
  const shared = createRouter({
    model: City,
    allowedFields: ['name', 'kind', 'owner', 'note'],
    scope: {
      read: () => ({ or: [{ owner: 'me' }, { kind: 'town' }] }),
      write: async () => ({ or: [{ owner: 'me', tags: 'a' }, { note: 'x' }] }),
    },
  })
  const readOnly = createRouter({
    model: City,
    access: { create: false, update: [auth.requireAuth], remove: false },
  })
  return createApp({ store })
    .mount('/auth', auth.router)
    .mount('/cities', cities)
    .mount('/feed', createRouter({ model: City, pagination: 'cursor', blockedFields: ['note'] }))
    .mount('/counted', createRouter({ model: City, countStrategy: 'none' }))
    .mount(
      '/followed',
      createRouter({
        ...{ model: City, live: true, history: true, exportLimit: 10 },
        access: { restore: [auth.requireAuth] },
      }),
    )
    .mount(
      '/shown',
      createRouter({
        model: City,
        onGet: async () => ({ populate: { path: 'country', select: ['name'] }, select: ['name'] }),
      }).get('/top', () => undefined),
    )
    .mount(
      '/readers',
      createRouter({
        model: City,
        fieldsFor: async (request) =>
          request.auth?.role === 'admin' ? undefined : (['name', 'createdAt'] as const),
      }),
    )
    .mount('/known-readers', createRouter({ model: Short, fieldsFor: readers }))
    .mount('/others', createRouter({ model: Other }))
    .mount('/places', createRouter({ model: Place }))
    .mount('/by-hand', createRouter({ model: ByHand }))
    .mount('/orgs/:org/cities', cities)
    .mount('/shared', shared)
    .mount('/read-only', readOnly)
}
type Api = ReturnType<typeof createClient<ReturnType<typeof apps>>>

/** Compiled, never run: groups are what is asked for. */
async function groups(api: Api): Promise<void> {
  const found = await api('/cities').aggregate({
    count: true,
    sum: ['population'],
    min: ['foundedAt'],
    by: ['kind', 'foundedAt:month'],
    where: { population: { gte: 5 } },
    sort: ['-count', 'sum.population', 'foundedAt:month'],
    limit: 10,
  })
  if (found.ok) {
    expectTypeOf(found.data).toEqualTypeOf<
      {
        kind: 'town' | 'city' | null
        'foundedAt:month': string | null
        count: number
        sum: { population: number }
        min: { foundedAt: string | null }
      }[]
    >()
    expectTypeOf(found.pagination).toEqualTypeOf<{ readonly hasMore: boolean } | undefined>()
  }
  await api('/feed').aggregate({ count: true })
  // @ts-expect-error 'name' is not listed
  await api('/cities').aggregate({ count: true, by: ['name'] })
  // @ts-expect-error the router lists no fields to compute with
  await api('/feed').aggregate({ sum: ['population'] })
  // @ts-expect-error nothing is sorted by it
  await api('/cities').aggregate({ count: true, sort: 'population' })
  // @ts-expect-error dates have no sum
  await api('/cities').aggregate({ sum: ['foundedAt'] })
  // @ts-expect-error and no average to sort by
  await api('/cities').aggregate({ count: true, sort: '-avg.foundedAt' })
  await api('/cities').aggregate({ max: ['foundedAt'], sort: ['max.foundedAt', '-max.foundedAt'] })
  // @ts-expect-error the sum is not asked for
  await api('/cities').aggregate({ max: ['foundedAt'], sort: ['max.foundedAt', 'sum.population'] })
  // @ts-expect-error nor is the count
  await api('/cities').aggregate({ sum: ['population'], sort: '-count' })
  // @ts-expect-error nor are groups
  await api('/cities').aggregate({ count: true, sort: 'country' })
  const by: ('country' | 'kind')[] = ['country']
  await api('/cities').aggregate({ count: true, by, sort: '-kind' })
}

/** Compiled, never run: what the router has an option for, and what it has none for. */
async function chosen(api: Api, signal: AbortSignal): Promise<void> {
  const followed = api('/followed')
  await followed.live({ sort: [] }, { signal, onChange: ([one]) => expectTypeOf(one?.name) })
  await followed.export('csv', { select: ['name'] })
  await followed.history('id')
  await followed.restore('id', 'change')
  const cities = api('/cities')
  // @ts-expect-error the router has no option 'live'
  await cities.live({}, { signal, onChange: () => undefined })
  // @ts-expect-error the router has no option 'exportLimit'
  await cities.export('csv')
  // @ts-expect-error the router has no option 'history'
  await cities.history('id')
  // @ts-expect-error the router has no option 'access'
  await cities.restore('id', 'change')
}

/** Compiled, never run: what may be read. */
async function reads(api: Api): Promise<void> {
  const found = await api('/cities').list({
    where: { population: { gte: 5 }, kind: ['town', 'city'], tags: 'a', foundedAt: null },
    search: 'a',
    sort: ['-name', 'country'],
    pageSize: 5,
  })
  if (!found.ok) {
    expectTypeOf(found.error).toEqualTypeOf<Failure>()
    return
  }
  const [city] = found.data
  if (!city) return
  expectTypeOf(city._id).toEqualTypeOf<string>()
  expectTypeOf(city.createdAt).toEqualTypeOf<string | undefined>()
  expectTypeOf(city.foundedAt).toEqualTypeOf<string | null>()
  expectTypeOf(city.country).toEqualTypeOf<string>()
  expectTypeOf(city.kind).toEqualTypeOf<'town' | 'city'>()
  expectTypeOf(city.population).toEqualTypeOf<number | undefined>()
  expectTypeOf(city.tags).toEqualTypeOf<string[]>()
  expectTypeOf(found.pagination?.totalRecords).toEqualTypeOf<number | undefined>()
  // @ts-expect-error a hidden field is not there
  city.secret
  // @ts-expect-error there is no such field
  city.nmae
  await api('/cities').list({ where: { foundedAt: { lt: new Date() }, createdAt: '2024-01-01' } })
  await api('/cities').list({ page: 2, limit: 5 })
  await api('/feed').list({ cursor: 'x' })
  for await (const each of api('/cities').all({ where: { _id: ['x'] } })) each.name
  for await (const page of api('/feed').pages()) {
    expectTypeOf(page.pagination.nextCursor).toEqualTypeOf<string | null>()
  }
  for await (const page of api('/counted').pages()) {
    expectTypeOf(page.pagination.hasMore).toEqualTypeOf<boolean>()
    // @ts-expect-error it counts nothing
    page.pagination.totalPages
  }
  const readable = await api('/readers').get('x')
  if (readable.ok) {
    expectTypeOf(readable.data._id).toEqualTypeOf<string>()
    expectTypeOf(readable.data.owner).toEqualTypeOf<string | undefined>()
  }
  const knownOne = await api('/known-readers').get('x')
  if (knownOne.ok) expectTypeOf(knownOne.data.name).toEqualTypeOf<string | undefined>()
  const shown = await api('/shown').get('x')
  if (shown.ok && typeof shown.data.country === 'object')
    expectTypeOf(shown.data.country?._id).toEqualTypeOf<string | undefined>()
  if (shown.ok) expectTypeOf(shown.data.name).toEqualTypeOf<string | undefined>()
  const other = await api('/others').get('x')
  if (other.ok) expectTypeOf(other.data.shown).toEqualTypeOf<unknown>()
  const byHand = await api('/by-hand').create({ name: 'a' })
  if (byHand.ok) expectTypeOf(byHand.data.name).toEqualTypeOf<string>()
  await api('/orgs/:org/cities', { org: 'x' }).get('x')
  // @ts-expect-error: a value for :org is missing
  await api('/orgs/:org/cities').get('x')
  // @ts-expect-error: as is it here
  await api('/orgs/:org/cities', { orgs: 'x' }).get('x')
  expectTypeOf(await api.fetch('/shown/top')).toEqualTypeOf<Response>()
}

/** Compiled, never run: tuples. */
async function tuples(api: Api): Promise<void> {
  const place = await api('/places').get('x', { headers: { 'Accept-Language': 'nb' } })
  if (place.ok) {
    expectTypeOf(place.data.at).toEqualTypeOf<[string, number] | undefined>()
    expectTypeOf(place.data.dates).toEqualTypeOf<[string, ...number[]]>()
  }
}

/** Compiled, never run: what may not be asked for. */
async function mistakes(api: Api): Promise<void> {
  // @ts-expect-error there is no such path
  api('/citys')
  // @ts-expect-error there is no such field
  await api('/cities').list({ where: { populaton: 5 } })
  // @ts-expect-error the field cannot be filtered by
  await api('/cities').list({ where: { name: 'a' } })
  // @ts-expect-error there is no such operator
  await api('/cities').list({ where: { population: { like: 5 } } })
  // @ts-expect-error it is a number
  await api('/cities').list({ where: { population: { gte: '5' } } })
  // @ts-expect-error there is no such value
  await api('/cities').list({ where: { kind: 'village' } })
  // @ts-expect-error the records cannot be sorted by it
  await api('/cities').list({ sort: '-population' })
  // @ts-expect-error a list has no order
  await api('/cities').list({ sort: 'tags' })
  // @ts-expect-error it pages by number
  await api('/cities').list({ cursor: 'x' })
  // @ts-expect-error it pages by cursor
  await api('/feed').list({ page: 1 })
  // @ts-expect-error it searches nothing
  await api('/feed').list({ search: 'a' })
  // @ts-expect-error there is no such option
  await api('/cities').list({ pagesize: 5 })
  // @ts-expect-error an auth router has no records
  await api('/auth').list()
  // @ts-expect-error it does not begin with a slash
  await api.fetch('shown/top')
  // @ts-expect-error a router of records has no accounts
  await api('/cities').login({ identifier: 'a', password: 'b' })
}

/** Compiled, never run: what may be written. */
async function writes(api: Api): Promise<void> {
  const city = { name: 'a', country: 'x', foundedAt: new Date(), tags: ['a'] }
  await api('/cities').create(city)
  await api('/cities').create({ ...city, foundedAt: '2024-01-01', kind: 'town', population: null })
  await api('/cities').create({ ...city, photo: new File([], 'a') }, { onProgress: () => {} })
  await api('/cities').update('x', { population: null, foundedAt: null }, { ifMatch: 'x' })
  await api('/cities').remove('x', { ifMatch: { _id: 'x' } })
  await api('/cities').create(city, { idempotencyKey: 'x', headers: { 'X-Key': 'y' } })
  await api('/places').create({ at: ['a', 1], dates: [new Date(), 1, 2] })
  // @ts-expect-error a tuple has its length
  await api('/places').create({ at: ['a', 1, 2], dates: [new Date()] })
  // @ts-expect-error a tuple has its order
  await api('/places').create({ at: [1, 'a'], dates: [new Date()] })
  // @ts-expect-error the name is missing
  await api('/cities').create({ country: 'x', foundedAt: null, tags: [] })
  // @ts-expect-error the scope sets it
  await api('/cities').create({ ...city, owner: 'me' })
  // @ts-expect-error the server sets it
  await api('/cities').create({ ...city, _id: 'x' })
  // @ts-expect-error it is not among the allowed fields
  await api('/cities').create({ ...city, note: 'x' })
  // @ts-expect-error it cannot be changed
  await api('/cities').update('x', { country: 'y' })
  // @ts-expect-error every record has a name
  await api('/cities').update('x', { name: null })
  // @ts-expect-error it is a number
  await api('/cities').update('x', { population: 'many' })
  // @ts-expect-error it takes no files
  await api('/feed').update('x', { photo: new File([], 'a') })
  // @ts-expect-error it is blocked
  await api('/feed').update('x', { note: 'a' })
}

/** Compiled, never run: scopes that differ, and routes that are not there. */
async function limited(api: Api): Promise<void> {
  await api('/shared').create({ name: 'a', kind: 'town' })
  // @ts-expect-error the scope of writes names it
  await api('/shared').update('x', { owner: 'you' })
  // @ts-expect-error the scope of writes names it in another alternative
  await api('/shared').update('x', { note: 'y' })
  const made = await api('/shared').create({ name: 'a' })
  if (made.ok) {
    expectTypeOf(made.data._id).toEqualTypeOf<string>()
    // @ts-expect-error the scope of reads may exclude the record
    made.data.name
    if ('name' in made.data) expectTypeOf(made.data.name).toEqualTypeOf<string>()
  }
  await api('/read-only').list({ sort: [] })
  await api('/read-only').get('x')
  const changed = await api('/read-only').update('x', { name: 'b' })
  if (changed.ok) expectTypeOf(changed.data.name).toEqualTypeOf<string>()
  // @ts-expect-error there is no such route
  await api('/read-only').create({ name: 'a' })
  // @ts-expect-error there is no such route
  await api('/read-only').remove('x')
  const queries = recordQueries(['x'], api('/read-only'))
  queries.list({ sort: [] })
  // @ts-expect-error there is no such route
  queries.remove()
  const { mutationFn } = recordQueries(['x'], api('/shared')).create()
  expectTypeOf((await mutationFn({ name: 'a' }))._id).toEqualTypeOf<string>()
}

/** Compiled, never run: accounts. */
async function signsIn(api: Api): Promise<void> {
  const auth = api('/auth')
  const signedIn = await auth.login({ identifier: 'a', password: 'b' })
  await auth.login({ phone: 'a', password: 'b' })
  await auth.login({ ticket: 'a', code: '000000' })
  if (signedIn.ok) {
    expectTypeOf(signedIn.data.user.email).toEqualTypeOf<string | undefined>()
    // @ts-expect-error a secret is not there
    signedIn.data.user.password
    // @ts-expect-error a secret is not there
    signedIn.data.user.refreshTokens
  }
  await auth.register({ email: 'a', password: 'b', name: 'c' })
  await auth.updateUser('x', { age: 5 })
  await auth.me()
  await auth.listSessions()
  await auth.listUsers({ email: 'a', page: 1 })
  await auth.me({ headers: { 'X-Key': 'y' } })
  const refreshed = await auth.refresh({ refreshToken: 'a' })
  if (refreshed.ok) expectTypeOf(refreshed.data.refreshToken).toEqualTypeOf<string | undefined>()
  await auth.logout({ refreshToken: 'a' })
  // @ts-expect-error a sign-up cannot set it
  await auth.register({ email: 'a', password: 'b', age: 5 })
  // @ts-expect-error it cannot be changed
  await auth.updateUser('x', { email: 'a' })
  // @ts-expect-error the password is missing
  await auth.login({ identifier: 'a' })
  // @ts-expect-error there is no such identifier
  await auth.login({ username: 'a', password: 'b' })
  // @ts-expect-error the route is off
  auth.social
  // @ts-expect-error the route is off unless it is named
  auth.deleteUser
  // @ts-expect-error addresses are not verified
  auth.verifyEmail
}

/** Compiled, never run: an app without mounts in its type, and one that is used as any other. */
function plain(store: Store): App {
  const app: App = createApp({ store })
  app.mount('/others', createRouter({ model: Other }))
  const options = { model: Other, query: ['name'] as const }
  const typed: App = createApp({ store }).mount('/a', createRouter(options))
  void typed
  const api = createClient<typeof app>('')
  // @ts-expect-error its type knows no mounts: chain them
  api('/others')
  return app
}

describe('next 5, the typed client', () => {
  test('reads, writes, lists and sign-ins that the server refuses do not compile', () => {
    for (const compiled of [reads, groups, chosen, tuples, mistakes, writes, limited, signsIn]) {
      expectTypeOf(compiled).returns.resolves.toEqualTypeOf<void>()
    }
    expectTypeOf(plain).returns.toEqualTypeOf<App>()
  })

  test('the type of an app, which its front end reads, names none of the secrets of accounts', () => {
    type Accounts = NonNullable<ReturnType<typeof apps>['~/auth']>
    expectTypeOf<Extract<keyof Accounts['record'], SecretName>>().toBeNever()
    expectTypeOf<Extract<keyof Accounts['input'], SecretName>>().toBeNever()
    expectTypeOf<Accounts['record']>().toHaveProperty('name')
    expectTypeOf<Accounts['input']>().toHaveProperty('name')
  })
})

const Chosen = defineModel('TypedClientChosen', {
  fields: {
    name: z.string(),
    note: z.string().optional(),
    place: z.object({ x: z.number(), y: z.number() }).optional(),
    owner: ref('TypedClientUser'),
    friends: z.array(ref('TypedClientUser')),
  },
})

test('records have the fields that are selected, and references that are expanded are records', () => {
  const router = createRouter({
    model: Chosen,
    middlewares: [],
    query: ['name', 'note'],
    expandable: ['owner', 'friends'],
  })
  type Chosens = ReturnType<typeof made>
  const made = () => createApp({ store: {} as Store }).mount('/chosen', router)
  const api = createClient<Chosens>('http://localhost')
  const one = async () => {
    const all = await api('/chosen').list()
    if (all.ok) expectTypeOf(all.data[0]?.owner).toEqualTypeOf<string | undefined>()
    const some = await api('/chosen').list({ select: ['name', 'place.x'] })
    if (!some.ok) return
    expectTypeOf(some.data[0]).toEqualTypeOf<
      { readonly _id: string; name: string; place?: { x: number } | undefined } | undefined
    >()
    const filled = await api('/chosen').get('a', { select: ['name'], expand: ['owner', 'friends'] })
    if (filled.ok && typeof filled.data.owner === 'object') {
      expectTypeOf(filled.data.owner?._id).toEqualTypeOf<string | undefined>()
      expectTypeOf(filled.data.friends.length).toEqualTypeOf<number>()
      // @ts-expect-error it was not selected
      filled.data.note
    }
    await api('/chosen').list({ where: { or: [{ name: 'a' }, { note: { ne: 'b' } }] } })
    // @ts-expect-error there is no such field
    await api('/chosen').list({ select: ['nam'] })
    // @ts-expect-error the router does not list it
    await api('/chosen').list({ expand: ['name'] })
    // @ts-expect-error the router does not filter by it
    await api('/chosen').list({ where: { or: [{ name: 'a' }, { owner: 'b' }] } })
    // @ts-expect-error nor where the caller chooses fields
    await api('/chosen').list({ where: { owner: 'b' }, select: ['name'] })
    const queries = recordQueries(['chosen'], api('/chosen'))
    // @ts-expect-error the same
    queries.list({ where: { owner: 'b' }, select: ['name'] })
    // @ts-expect-error the sum is not asked for
    queries.aggregate({ count: true, sort: 'sum.population' })
    expectTypeOf(queries.aggregate({ count: true }).queryFn).returns.resolves.toExtend<{
      data: { count: number }[]
    }>()
    expectTypeOf(queries.list({ select: ['name'] }).queryFn).returns.resolves.toExtend<{
      data: { readonly _id: string; name: string }[]
    }>()
  }
  expectTypeOf(one).toBeFunction()
})
