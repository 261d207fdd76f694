/** What docs/client.md says of results, renamed routes, react-admin and refine, as far as no other test here shows it. */

import { describe, expect, it } from 'vitest'
import { reactAdminAuth, reactAdminData } from '../../adapters/clients/react-admin.ts'
import { refineAuth, refineData } from '../../adapters/clients/refine.ts'
import { recordQueries, retries } from '../../adapters/clients/tanstack-query.ts'
import { ClientError, createClient } from '../../src/client/index.ts'
import type { TestApp } from './app.ts'
import { calls, recording, type Sent, URL } from './recording.ts'
import { ScriptedServer, ScriptedStorage } from './scripted.ts'

const record = { _id: '6b00335e8b1a4c0c9f2d7e55', name: 'Oslo', id: 'own' }
const page = (pagination: object, data: object[] = [record]) =>
  Response.json({ success: true, data, pagination })
const failure = (status: number, error: string, more: object = {}) =>
  Response.json({ success: false, error, ...more }, { status })
const lost = (): never => {
  throw new TypeError('fetch failed')
}

/** What a list was asked for: of the URL, or of the body of a QUERY. */
const askedIn = ({ url, body }: Sent) =>
  body ?? Object.fromEntries(new URLSearchParams(url.split('?')[1]))

describe('a result', () => {
  it('has the message for its data, where there is nothing else', async () => {
    const { api } = recording(() => Response.json({ success: true, message: 'Gone.' }))
    expect(await api('/cities').remove(record._id)).toEqual({ ok: true, data: 'Gone.' })
  })

  it('of a first step has the ticket and its time', async () => {
    const { api } = recording(() =>
      failure(401, 'Code?', { ticket: 't', expiresIn: 300, requestId: 'r' }),
    )
    expect(await api('/auth').login({ identifier: 'ann', password: 'p' })).toEqual({
      ok: false,
      error: { status: 401, message: 'Code?', ticket: 't', expiresIn: 300, requestId: 'r' },
    })
  })
})

describe('routes that an auth router renames', () => {
  it('are called at the paths that the option names, the others at their own', async () => {
    const routes = { '/auth': { login: '/sign-in', getUser: '/people/:id' } }
    const { api, sent } = recording(() => undefined, { routes })
    const auth = calls(api)('/auth')
    await auth.login?.({ identifier: 'ann', password: 'p' })
    await auth.getUser?.('7')
    await auth.me?.()
    expect(sent.map(({ url }) => url.replace(/\?$/, ''))).toEqual([
      '/auth/sign-in',
      '/auth/people/7',
      '/auth/me',
    ])
  })
})

describe('the data provider of refine', () => {
  const filters = (...given: (readonly [operator: string, value: unknown])[]) =>
    given.map(([operator, value]) => ({ field: 'population', operator, value }))

  it.each<[ReturnType<typeof filters>, object]>([
    ...(['eq', 'ne', 'lt', 'lte', 'gt', 'gte'] as const).map(
      (name) => [filters([name, 5]), { [name]: 5 }] as [never, object],
    ),
    [filters(['in', [1, 2]], ['nin', [3]]), { in: [1, 2], nin: [3] }],
    [filters(['between', [1, 9]]), { gte: 1, lte: 9 }],
    [filters(['null', true]), { eq: null }],
    [filters(['nnull', true]), { ne: null }],
    [filters(['and', filters(['gt', 1], ['lt', 9])]), { gt: 1, lt: 9 }],
  ])('sends the filters %j as conditions', async (given, conditions) => {
    const { api, sent } = recording()
    await refineData(api as never).getList({ resource: 'cities', filters: given })
    expect(sent.map(askedIn)).toMatchObject([{ filter: { population: conditions } }])
  })

  it('asks for what `meta` chooses, and nothing else of it', async () => {
    const { api, sent } = recording(() => Response.json({ success: true, data: record }))
    const meta = { select: ['name'], expand: ['country'], other: 1 } as object
    await refineData(api as never).getOne({ resource: 'cities', id: 'a', meta })
    await reactAdminData(api as never).getOne('cities', { id: 'a', meta })
    const url = '/cities/a?select=name&expand=country'
    expect(sent.map((one) => one.url)).toEqual([url, url])
  })

  it('sends `or` as alternatives', async () => {
    const { api, sent } = recording()
    const value = [
      { field: 'name', operator: 'eq', value: 'a' },
      { operator: 'and', value: [{ field: 'size', operator: 'gte', value: 1 }] },
    ]
    await refineData(api as never).getList({
      resource: 'cities',
      filters: [{ operator: 'or', value }],
    })
    const or = [{ name: { eq: 'a' } }, { size: { gte: 1 } }]
    expect(sent.map(askedIn)).toMatchObject([{ filter: { or } }])
  })

  it.each(['contains', 'startswith', 'ncontains'])(
    'throws a TypeError for %s, which the server does not have',
    async (operator) => {
      const { api, sent } = recording()
      const asked = refineData(api as never).getList({
        resource: 'cities',
        filters: [{ field: 'name', operator, value: [] }],
      })
      await expect(asked).rejects.toThrow(TypeError)
      expect(sent).toEqual([])
    },
  )

  it('searches for q, and has records with their _id as id', async () => {
    const { api, sent } = recording(() => page({ totalRecords: 7 }))
    const list = await refineData(api as never, { mounts: { towns: '/cities' } }).getList({
      resource: 'towns',
      filters: [{ field: 'q', operator: 'contains', value: 'os' }],
    })
    expect(list).toEqual({ data: [{ ...record, id: record._id }], total: 7 })
    expect(sent.map(askedIn)).toMatchObject([{ s: 'os' }])
    expect(sent[0]?.url).toMatch(/^\/cities\?/)
  })

  it.each([
    [true, 21],
    [false, 20],
  ])('has a total of one more than was seen, while there is more: %s', async (hasMore, total) => {
    const { api } = recording(() => page({ hasMore, pageSize: 10 }, Array(10).fill(record)))
    const pagination = { currentPage: 2, pageSize: 10 }
    const list = await refineData(api as never).getList({ resource: 'cities', pagination })
    expect(list.total).toBe(total)
  })
})

describe('the auth provider of refine', () => {
  it.each(['email', 'username', 'identifier'])('signs in with %s', async (name) => {
    const { api, sent } = recording(() => failure(401, 'Invalid credentials.'))
    const auth = refineAuth(api as never)
    const outcome = await auth.login({ [name]: 'ann', password: 'p', ticket: 't' })
    expect(sent[0]?.body).toEqual({ identifier: 'ann', password: 'p', ticket: 't' })
    expect(outcome).toMatchObject({ success: false, error: { statusCode: 401 } })
  })

  it('leads to / after a sign-in, and to loginPath after a sign-out', async () => {
    const data = { token: 'a', refreshToken: 'b', user: { _id: '1' } }
    const { api } = recording(() => Response.json({ success: true, data }))
    const auth = refineAuth(api as never, { loginPath: '/hello' })
    expect(await auth.login({ email: 'a', password: 'p' })).toMatchObject({ redirectTo: '/' })
    expect(await auth.logout()).toMatchObject({ success: true, redirectTo: '/hello' })
  })

  it.each([
    ['a 401', false, () => failure(401, 'No.')],
    ['a server that is not there', true, lost],
    ['a 503', true, () => failure(503, 'Later.')],
  ])('after %s a user is still signed in: %s', async (_, authenticated, reply) => {
    const { api } = recording(reply as never)
    expect(await refineAuth(api as never).check()).toMatchObject({ authenticated })
  })
})

describe('the data provider of react-admin', () => {
  const pagination = { page: 2, perPage: 10 }

  it('takes filters on fields of objects, which react-admin nests', async () => {
    const { api, sent } = recording(() => page({}))
    const filter = { address: { city: 'Oslo', zip: { gte: '0150' } }, size: { lt: 9 }, tags: {} }
    await reactAdminData(api as never).getList('cities', { filter })
    const wanted = { 'address.city': 'Oslo', 'address.zip': { gte: '0150' }, size: { lt: 9 } }
    expect(askedIn(sent[0] as Sent)).toMatchObject({ filter: wanted })
  })

  it('leaves the order to the router where react-admin asks for one by id', async () => {
    const { api, sent } = recording(() => page({ totalRecords: 1 }))
    const data = reactAdminData(api as never)
    await data.getList('cities', { pagination, sort: { field: 'id', order: 'ASC' } })
    await data.getList('cities', { pagination, sort: { field: 'name', order: 'DESC' } })
    expect(sent.map((one) => (askedIn(one) as { sort?: string }).sort)).toEqual([
      undefined,
      '-name',
    ])
  })

  it('has pageInfo where the router does not count, and no total', async () => {
    const { api } = recording(() => page({ hasMore: true, pageSize: 10 }))
    const list = await reactAdminData(api as never).getList('cities', { pagination })
    expect(list).toEqual({
      data: [{ ...record, id: record._id }],
      pageInfo: { hasNextPage: true, hasPreviousPage: true },
    })
  })

  it('has a next page that begins within the last one of the router', async () => {
    const { api } = recording(({ url }) =>
      page({ hasMore: url.includes('page=1'), pageSize: 2 }, [record, record]),
    )
    const asked = { pagination: { page: 1, perPage: 3 } }
    const { pageInfo } = await reactAdminData(api as never).getList('cities', asked)
    expect(pageInfo?.hasNextPage).toBe(true)
  })

  it('reads several records with a request each', async () => {
    const { api, sent } = recording(() => Response.json({ success: true, data: record }))
    await reactAdminData(api as never).getMany('cities', { ids: ['a', 'b'] })
    expect(sent.map(({ url }) => url)).toEqual(['/cities/a', '/cities/b'])
  })

  it('sends what differs from what was read', async () => {
    const { api, sent } = recording(() => Response.json({ success: true, data: record }))
    await reactAdminData(api as never).update('cities', {
      id: record._id,
      data: { ...record, name: 'Kristiania', population: null, tags: ['a'] },
      previousData: { ...record, population: 5, tags: ['a'] },
    })
    expect(sent.map(({ body }) => body)).toEqual([{ name: 'Kristiania', population: null }])
  })
})

describe('the auth provider of react-admin', () => {
  it('signs in with username and password, and passes other members on', async () => {
    const { api, sent } = recording(() => failure(401, 'Invalid credentials.'))
    const auth = reactAdminAuth(api as never)
    const given = { username: 'ann', password: 'p', ticket: 't' }
    await expect(auth.login(given)).rejects.toMatchObject({ status: 401 })
    expect(sent[0]?.body).toEqual({ identifier: 'ann', password: 'p', ticket: 't' })
  })

  it.each([
    [{ name: 'Ann', email: 'ann@example.com' }, 'Ann'],
    [{ email: 'ann@example.com' }, 'ann@example.com'],
  ])('calls %j %s', async (user, fullName) => {
    const { api } = recording(() => Response.json({ success: true, data: { _id: '1', ...user } }))
    expect(await reactAdminAuth(api as never).getIdentity()).toMatchObject({ id: '1', fullName })
  })

  it('a 401 signs out, and a server that is not there does not', async () => {
    const { api } = recording(() => failure(401, 'No.'))
    await expect(reactAdminAuth(api as never).checkAuth()).rejects.toMatchObject({ status: 401 })
    const { api: away } = recording(lost)
    await expect(reactAdminAuth(away as never).checkAuth()).resolves.toBeUndefined()
  })
})

describe('the options for TanStack Query', () => {
  const error = (status: number, more: object = {}) =>
    new ClientError({ status, message: 'No.', ...more })

  it.each([
    [0, true],
    [429, true],
    [500, true],
    [503, true],
    [400, false],
    [401, false],
    [404, false],
  ])('try again after the status %i: %s, and three times at most', (status, isTried) => {
    expect(retries.retry(0, error(status))).toBe(isTried)
    expect(retries.retry(2, error(status))).toBe(isTried)
    expect(retries.retry(3, error(status))).toBe(false)
  })

  it('wait as long as the server says', () => {
    expect(retries.retryDelay(0, error(503, { retryAfter: 7 }))).toBe(7000)
  })

  it('have keys that start with the first argument, and after a write all of them are fetched again', async () => {
    const { api } = recording()
    const cities = recordQueries(['org', 7], api('/cities'))
    const keys = [cities.list(), cities.pages(), cities.get('a')].map(({ queryKey }) => queryKey)
    for (const key of keys) expect(key.slice(0, 2)).toEqual(['org', 7])
    expect(new Set(keys.map(String)).size).toBe(3)
    const fetched: unknown[] = []
    const client = {
      invalidateQueries: async ({ queryKey }: object & { queryKey: unknown }) =>
        void fetched.push(queryKey),
    }
    for (const made of [cities.create(), cities.update(), cities.remove()]) {
      await made.onSettled(undefined, new Error('failed'), undefined, undefined, { client })
    }
    expect(fetched).toEqual([cities.queryKey, cities.queryKey, cities.queryKey])
  })

  it('ask for groups, and for what is chosen of one record, each under a key of its own', async () => {
    const pagination = { hasMore: false }
    const { api, sent } = recording(() => Response.json({ success: true, data: [], pagination }))
    const cities = recordQueries(['cities'], api('/cities') as never) as unknown as Record<
      string,
      (...given: unknown[]) => { queryKey: unknown; queryFn(context: object): Promise<unknown> }
    >
    const { signal } = new AbortController()
    const groups = cities.aggregate?.({ count: true, by: ['country'] })
    expect(await groups?.queryFn({ signal })).toEqual({ data: [], pagination })
    const some = cities.get?.('a', { select: ['name'] })
    await some?.queryFn({ signal })
    expect(sent.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['QUERY', '/cities', { aggregate: { count: true }, by: ['country'] }],
      ['GET', '/cities/a?select=name', undefined],
    ])
    expect(some?.queryKey).not.toEqual(cities.get?.('a').queryKey)
  })

  it('keep the records that were read, which ifMatch knows', () => {
    const { api } = recording()
    expect(recordQueries(['cities'], api('/cities')).get('a').structuralSharing).toBe(false)
  })
})

describe('the end of a session', () => {
  const login = { identifier: 'ann', password: 'a long pass phrase' }

  async function signedIn() {
    const server = new ScriptedServer()
    const told: string[] = []
    const onSignedOut = () => void told.push('signed out')
    const storage = new ScriptedStorage()
    const api = createClient<TestApp>(URL, { fetch: server.fetch, storage, onSignedOut })
    await api('/auth').login(login)
    return { api, server, told }
  }

  it('comes with logout, even if the server is not there', async () => {
    const { api, server, told } = await signedIn()
    server.lost.add('*')
    await api('/auth').logout()
    server.lost.delete('*')
    expect((await api('/auth').me()).ok).toBe(false)
    expect(told).toEqual(['signed out'])
    expect(server.seen.at(-1)?.headers.get('authorization')).toBeNull()
  })

  it('is not told when another sign-in takes its place', async () => {
    const { api, told } = await signedIn()
    await api('/auth').login({ ...login, identifier: 'bob' })
    const me = await api('/auth').me()
    expect(me).toMatchObject({ ok: true, data: { email: 'bob' } })
    expect(told).toEqual([])
  })
})
