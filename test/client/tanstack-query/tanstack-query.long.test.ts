import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dataOf, recordQueries, retries } from '../../../adapters/clients/tanstack-query.ts'
import { ClientError, createClient } from '../../../src/client/index.ts'
import { served, type TestApp } from '../app.ts'
import { entryOf, installPackages, typeErrors } from './install.ts'

let server: Awaited<ReturnType<typeof served>>
let core: Awaited<ReturnType<typeof load>>
const load = () => import(pathToFileURL(entryOf('@tanstack/query-core')).href)
beforeAll(async () => {
  await installPackages()
  core = await load()
}, 300_000)

let queryClient: InstanceType<typeof core.QueryClient>
let api: ReturnType<typeof createClient<TestApp>>
const setUp = () => {
  api = createClient<TestApp>(server.url)
  return recordQueries(['cities'], api('/cities'))
}
let cities: ReturnType<typeof setUp>
beforeEach(async () => {
  server = await served()
  cities = setUp()
  queryClient = new core.QueryClient({ defaultOptions: { queries: retries } })
})
afterEach(async () => {
  queryClient.clear()
  await server.close()
})
afterAll(() => core.focusManager.setFocused(undefined))

async function stored(count: number) {
  for (let index = 0; index < count; index += 1) {
    const made = await api('/cities').create({ name: `city ${index}`, population: index })
    dataOf(made)
  }
}

/** A mutation, as hooks run it. */
const mutation = (options: object) => new core.MutationObserver(queryClient, options)

describe('queries', () => {
  it('a list is fetched with its conditions, and cached under them', async () => {
    await stored(3)
    const options = cities.list({ where: { population: { gte: 1 } }, sort: '-population' })
    const found = await queryClient.fetchQuery(options)
    expect(found.data.map((city: { name: string }) => city.name)).toEqual(['city 2', 'city 1'])
    expect(found.pagination).toBeUndefined()
    expect(
      queryClient.getQueryData([
        'cities',
        'list',
        { sort: '-population', where: { population: { gte: 1 } } },
      ]),
    ).toBe(found)
    expect(queryClient.getQueryData(cities.list({ sort: 'name' }).queryKey)).toBeUndefined()
  })

  it('a page comes with its pagination', async () => {
    await stored(3)
    const found = await queryClient.fetchQuery(cities.list({ page: 2, pageSize: 2 }))
    expect(found.data).toMatchObject([{ name: 'city 2' }])
    expect(found.pagination).toEqual({
      currentPage: 2,
      pageSize: 2,
      totalPages: 2,
      totalRecords: 3,
    })
  })

  it.each([
    ['by number', () => cities.pages({ pageSize: 2 })],
    ['by cursor', () => recordQueries(['a'], api('/feed')).pages({ pageSize: 2 })],
    ['by number without QUERY', () => recordQueries(['b'], api('/closed')).pages({ pageSize: 2 })],
    [
      'by cursor without QUERY',
      () => recordQueries(['c'], api('/closed-feed')).pages({ pageSize: 2 }),
    ],
  ])('pages %s are fetched until the last', async (_, pages) => {
    await stored(5)
    const found = await queryClient.fetchInfiniteQuery({ ...pages(), pages: 9 })
    expect(
      found.pages.map(({ data }: { data: { name: string }[] }) => data.map(({ name }) => name)),
    ).toEqual([['city 0', 'city 1'], ['city 2', 'city 3'], ['city 4']])
  })

  it('a hook fetches the next page when it is asked to', async () => {
    await stored(3)
    const observer = new core.InfiniteQueryObserver(queryClient, cities.pages({ pageSize: 2 }))
    const end = observer.subscribe(() => {})
    const first = await observer.refetch()
    expect(first.hasNextPage).toBe(true)
    const second = await observer.fetchNextPage()
    expect(second.data.pages.flatMap(({ data }: { data: unknown[] }) => data)).toHaveLength(3)
    expect(second.hasNextPage).toBe(false)
    end()
  })

  it('a failure is a ClientError, and is not tried again when it cannot pass', async () => {
    const before = server.watched.seen.length
    const error = await queryClient.fetchQuery(cities.get('0'.repeat(24))).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ClientError)
    expect(error).toMatchObject({ status: 404, message: 'Entry not found.' })
    // fetchQuery itself never tries again: a hook does, if its options say so.
    const observer = new core.QueryObserver(queryClient, cities.get('1'.repeat(24)))
    const end = observer.subscribe(() => {})
    expect((await observer.refetch()).error).toMatchObject({ status: 404 })
    end()
    expect(server.watched.seen.slice(before)).toHaveLength(2)
  })

  it('an outage is tried again', async () => {
    await stored(1)
    let failures = 0
    server.watched.guard = () => {
      if (failures === 1) return
      failures += 1
      return new Response('{}', { status: 503, headers: { 'Retry-After': '0' } })
    }
    const observer = new core.QueryObserver(queryClient, cities.list())
    const end = observer.subscribe(() => {})
    expect((await observer.refetch()).data?.data).toHaveLength(1)
    expect(failures).toBe(1)
    end()
  })

  it('a query that nobody waits for any more is aborted', async () => {
    const aborted = new Promise<void>((resolve) => {
      const slow = recordQueries(
        ['slow'],
        createClient<TestApp>(server.url, {
          fetch: (_, init) =>
            new Promise((__, reject) => {
              init?.signal?.addEventListener('abort', () => {
                reject(new Error('aborted'))
                resolve()
              })
            }),
        })('/cities'),
      )
      const observer = new core.QueryObserver(queryClient, slow.list())
      const end = observer.subscribe(() => {})
      // The request starts after the token has been looked up.
      queueMicrotask(() => setTimeout(end))
    })
    await expect(aborted).resolves.toBeUndefined()
  })
})

describe('mutations', () => {
  it('a write refreshes what is shown', async () => {
    const observer = new core.QueryObserver(queryClient, cities.list())
    const end = observer.subscribe(() => {})
    const names = () =>
      observer.getCurrentResult().data?.data.map(({ name }: { name: string }) => name)
    const made = await mutation(cities.create()).mutate({ name: 'Oslo' })
    expect(names()).toEqual(['Oslo'])
    await mutation(cities.update()).mutate({ id: made._id, changes: { name: 'Kristiania' } })
    expect(names()).toEqual(['Kristiania'])
    expect(await mutation(cities.remove()).mutate({ id: made._id })).toBe(
      'Item successfully deleted.',
    )
    expect(names()).toEqual([])
    end()
  })

  it('a record from the cache is an ifMatch, also after it was fetched again', async () => {
    const { _id: id } = dataOf(await api('/cities').create({ name: 'Oslo', population: 1 }))
    await queryClient.fetchQuery(cities.get(id))
    await mutation(cities.update()).mutate({ id, changes: { population: 2 } })
    await queryClient.fetchQuery(cities.get(id))
    // What a hook shows: sharing would make it a copy.
    const read = queryClient.getQueryData(cities.get(id).queryKey)
    expect(read.population).toBe(2)
    const update = mutation(cities.update())
    const changed = await update.mutate({ id, changes: { name: 'Kristiania' }, ifMatch: read })
    expect(changed.name).toBe('Kristiania')
    await expect(
      update.mutate({ id, changes: { name: 'Christiania' }, ifMatch: read }),
    ).rejects.toMatchObject({ name: 'ClientError', status: 412 })
    await expect(mutation(cities.remove()).mutate({ id, ifMatch: read })).rejects.toMatchObject({
      status: 412,
    })
  })

  it('a refused write says which fields are wrong', async () => {
    await expect(mutation(cities.create()).mutate({ name: '' })).rejects.toMatchObject({
      status: 400,
      fields: { name: expect.any(String) },
    })
  })
})

const PROGRAM = `
import { createClient } from 'fieldgate/client'
import { dataOf, recordQueries, retries } from 'fieldgate/tanstack-query'
import {
  infiniteQueryOptions, QueryClient, queryOptions, useInfiniteQuery, useMutation, useQuery, useSuspenseQuery,
} from '@tanstack/react-query'
import type { TestApp } from '../../test/client/app.ts'

const queryClient = new QueryClient({ defaultOptions: { queries: retries } })
const api = createClient<TestApp>('', { onSignedOut: () => queryClient.clear() })
const cities = recordQueries(['cities'], api('/cities'))
const feed = recordQueries(['feed'], api('/feed'))
// "any" is the same as itself alone.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>) => {}

export function page() {
  const found = useQuery({ ...cities.list({ where: { population: { gte: 1 } } }), enabled: true })
  const total = found.data?.pagination?.totalRecords
  same<typeof total, number | undefined>(true)
  const names = useQuery({ ...cities.list(), select: ({ data }) => data.map((city) => city.name) })
  same<typeof names.data, string[] | undefined>(true)
  const city = useSuspenseQuery(cities.get('1'))
  same<typeof city.data.population, number | undefined>(true)
  const pages = useInfiniteQuery(feed.pages({ search: 'a' }))
  const next = pages.data?.pages[0]?.pagination.nextCursor
  same<typeof next, string | null | undefined>(true)
  const create = useMutation(cities.create({ onProgress: ({ loaded }) => loaded }))
  create.mutate({ name: 'Oslo', photo: new File([], 'a.png') })
  const update = useMutation({ ...cities.update(), onSuccess: (record) => record.name.length })
  update.mutate({ id: '1', changes: { population: null }, ifMatch: city.data })
  const remove = useMutation(cities.remove())
  remove.mutate({ id: '1' })
  const me = useQuery({ queryKey: ['me'], queryFn: async () => dataOf(await api('/auth').me()) })
  same<string | undefined, NonNullable<typeof me.data>['name']>(true)
  const tagged = queryClient.getQueryData(queryOptions(cities.get('1')).queryKey)
  same<typeof tagged, typeof city.data | undefined>(true)
  const infinite = queryClient.getQueryData(infiniteQueryOptions(feed.pages()).queryKey)
  same<typeof infinite, typeof pages.data>(true)

  // @ts-expect-error: no such field
  cities.list({ where: { mayor: 'x' } })
  // @ts-expect-error: an update does not take it
  update.mutate({ id: '1', changes: { tags: [] } })
  // @ts-expect-error: a name is a string
  create.mutate({ name: 1 })
  // @ts-expect-error: its pages have no numbers
  feed.list({ page: 1 })
}
`

describe('the types', () => {
  it('fit the hooks, and carry what the app says', async () => {
    expect(await typeErrors(PROGRAM)).toBe('')
  })
})
