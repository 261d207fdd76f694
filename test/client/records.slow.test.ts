import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ClientError, createClient } from '../../src/client/index.ts'
import { served, type TestApp } from './app.ts'

let server: Awaited<ReturnType<typeof served>>
beforeAll(async () => {
  server = await served()
})
afterAll(() => server?.close())

const client = () => createClient<TestApp>(server.url)
/** What reached the app while `work` ran. */
async function requests(work: () => Promise<unknown>): Promise<string[]> {
  const before = server.watched.seen.length
  await work()
  return server.watched.seen.slice(before)
}

/** The data of a call that must succeed. */
async function done<T>(call: Promise<{ ok: true; data: T } | { ok: false; error: unknown }>) {
  const result = await call
  if (!result.ok) throw new Error(`it failed: ${JSON.stringify(result.error)}`)
  return result.data
}

beforeEach(async () => {
  const { store } = server.app
  void store
  const api = client()
  for await (const city of api('/cities').all()) await done(api('/cities').remove(city._id))
})

async function cities(count: number) {
  const api = client()
  const made = []
  for (let index = 0; index < count; index += 1) {
    const name = `city ${String(index).padStart(3, '0')}`
    made.push(await done(api('/cities').create({ name, population: index })))
  }
  return made
}

describe('records', () => {
  it('a record is created, read, changed and deleted', async () => {
    const api = client()
    const made = await done(
      api('/cities').create({ name: 'Oslo', foundedAt: new Date('1048-01-01'), tags: ['sea'] }),
    )
    expect(made).toMatchObject({ name: 'Oslo', foundedAt: '1048-01-01T00:00:00.000Z' })
    expect(await done(api('/cities').get(made._id))).toEqual(made)
    const changed = await done(api('/cities').update(made._id, { foundedAt: null, population: 5 }))
    expect(changed).toMatchObject({ population: 5 })
    expect(changed).not.toHaveProperty('foundedAt')
    expect(await api('/cities').remove(made._id)).toMatchObject({
      ok: true,
      data: 'Item successfully deleted.',
    })
    expect(await api('/cities').get(made._id)).toMatchObject({
      ok: false,
      error: { status: 404, message: 'Entry not found.', requestId: expect.any(String) },
    })
  })

  it('a refused value is a failure with its fields, and so is a duplicate', async () => {
    const api = client()
    expect(await api('/cities').create({ name: '' })).toMatchObject({
      ok: false,
      error: {
        status: 400,
        message: 'Check the submitted values.',
        fields: { name: expect.any(String) },
      },
    })
    await api('/countries').create({ code: 'NO', name: 'Norway' })
    const again = await api('/countries').create({ code: 'NO', name: 'Norway' })
    expect(again).toMatchObject({
      ok: false,
      error: { status: 409, fields: { code: 'Already exists.' } },
    })
  })

  it('a server that is not there, and an aborted call, are failures with the status 0', async () => {
    const nobody = createClient<TestApp>('http://127.0.0.1:1')
    expect(await nobody('/cities').list()).toMatchObject({ ok: false, error: { status: 0 } })
    const signal = AbortSignal.abort()
    expect(await client()('/cities').list({ where: { name: 'a' }, signal })).toMatchObject({
      ok: false,
      error: { status: 0 },
    })
  })

  it('something else than fieldgate that answers is a failure with its status', async () => {
    const proxy = createClient<TestApp>('https://proxy.example', {
      fetch: async () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
    })
    expect(await proxy('/cities').list()).toEqual({
      ok: false,
      error: { status: 502, message: 'The server answered 502 without JSON.' },
    })
  })

  const inUtc = (ms: number) => new Date(ms).toUTCString()
  it.each<[string, number | undefined, { readonly Date: string }?]>([
    ['7', 7],
    [inUtc(Date.now() + 90_000), 90],
    [inUtc(1_090_000), 90, { Date: inUtc(1_000_000) }],
    ['soon', undefined],
  ])("Retry-After %j is %j seconds, by the server's clock", async (header, seconds, clock) => {
    const api = createClient<TestApp>('https://busy.example', {
      fetch: async () =>
        Response.json(
          { success: false, error: 'Busy.', requestId: 'a' },
          { status: 503, headers: { 'Retry-After': header, ...clock } },
        ),
    })
    const result = await api('/cities').list()
    if (result.ok) throw new Error('it succeeded')
    expect(result.error).toMatchObject({ status: 503, message: 'Busy.', requestId: 'a' })
    if (seconds === undefined) expect(result.error).not.toHaveProperty('retryAfter')
    else expect(Math.abs((result.error.retryAfter ?? 0) - seconds)).toBeLessThanOrEqual(30)
  })
})

describe('lists', () => {
  it('a list that a URL can say is a GET, any other a QUERY', async () => {
    await cities(3)
    const api = client()('/cities')
    expect(await requests(() => api.list())).toEqual(['GET /cities'])
    expect(await requests(() => api.list({ search: 'city', sort: '-name', page: 1 }))).toEqual([
      'GET /cities',
    ])
    for (const options of [
      { where: { population: { gte: 1 } } },
      { sort: ['-population', 'name'] as const },
      { limit: 2 },
      { pageSize: 2 },
    ]) {
      expect(await requests(() => api.list(options))).toEqual(['QUERY /cities'])
    }
  })

  it('conditions narrow it, and pages say how many there are', async () => {
    await cities(5)
    const api = client()
    const found = await api('/cities').list({
      where: { population: { gte: 1 }, name: { ne: 'city 004' } },
      sort: '-population',
      pageSize: 2,
    })
    expect(found).toMatchObject({
      ok: true,
      data: [{ name: 'city 003' }, { name: 'city 002' }],
      pagination: { currentPage: 1, pageSize: 2, totalPages: 2, totalRecords: 3 },
    })
    const fed = await api('/feed').list({ sort: '-population', pageSize: 2 })
    if (!fed.ok || !fed.pagination) throw new Error('it failed')
    expect(fed.pagination).toMatchObject({ hasMore: true, nextCursor: expect.any(String) })
    const cursor = fed.pagination.nextCursor ?? ''
    expect(await api('/feed').list({ sort: '-population', pageSize: 2, cursor })).toMatchObject({
      ok: true,
      data: [{ name: 'city 002' }, { name: 'city 001' }],
    })
  })

  it.each(['/cities', '/feed', '/closed', '/closed-feed'] as const)(
    'all of %s yields every record once, page by page',
    async (mount) => {
      const made = await cities(7)
      const names: string[] = []
      const api = client()
      const seen = await requests(async () => {
        for await (const city of api(mount).all({ pageSize: 3 })) names.push(city.name)
      })
      expect(names).toEqual(made.map(({ name }) => name))
      expect(seen.length).toBeGreaterThanOrEqual(3)
    },
  )

  it('without QUERY, a condition that a URL can say is a GET, and another is what the router says', async () => {
    await cities(3)
    const api = client()('/closed')
    expect(await done(api.list({ where: { population: { gte: 1 } }, pageSize: 5 }))).toHaveLength(2)
    expect(
      await requests(() => api.list({ where: { population: { gte: 1 } }, pageSize: 5 })),
    ).toEqual(['GET /closed'])
    const between = { population: { gte: 1, lte: 2 }, name: { ne: 'city 001' } }
    const [city, ...others] = await done(api.list({ where: between }))
    expect([city?.name, ...others]).toEqual(['city 002'])
    expect(await api.list({ where: { population: { gte: 1, lt: 2 } } })).toMatchObject({
      ok: false,
      error: { status: 405 },
    })
  })

  it.each([405, 501, 403, 0])(
    'behind a proxy that answers QUERY with %j, a condition that no URL can say is a POST that says so',
    async (status) => {
      await cities(3)
      const methods: string[] = []
      const api = createClient<TestApp>(server.url, {
        async fetch(input, init) {
          methods.push(String(init?.method))
          if (init?.method !== 'QUERY') return fetch(input, init)
          if (status === 0) throw new TypeError('fetch failed')
          return new Response('<h1>Not here</h1>', { status })
        },
      })
      const options = { where: { population: { gte: 1, lt: 2 } } }
      const [city, ...others] = await done(api('/proxied').list(options))
      expect([city?.name, ...others]).toEqual(['city 001'])
      await done(api('/proxied').list(options))
      // A refusal is remembered; a lost connection refuses nothing.
      expect(methods).toEqual(['QUERY', 'POST', ...(status === 0 ? ['QUERY', 'POST'] : ['POST'])])
      // A router without `methodOverride` creates nothing; the answer is what QUERY got.
      expect(await api('/cities').list(options)).toMatchObject({ ok: false, error: { status } })
    },
  )

  it('a page that cannot be read ends the loop with an error that has the members of the failure', async () => {
    await cities(3)
    const api = client()
    const names: string[] = []
    const loop = async () => {
      for await (const { data } of api('/feed').pages({ pageSize: 2 })) {
        names.push(...data.map(({ name }) => name))
        // The record that the cursor points at.
        await done(api('/cities').remove(data[1]?._id ?? ''))
      }
    }
    const error = await loop().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ClientError)
    expect(error).toMatchObject({ status: 400, requestId: expect.any(String) })
    expect(names).toEqual(['city 000', 'city 001'])
  })

  it('references that onGet fills in are records', async () => {
    const api = client()
    const country = await done(api('/countries').create({ code: 'SE', name: 'Sweden' }))
    await done(api('/cities').create({ name: 'Malmö', country: country._id }))
    const [city] = await done(api('/shown').list())
    if (typeof city?.country !== 'object') throw new Error('it is not filled in')
    expect(city.country?.name).toBe('Sweden')
  })
})

describe('ifMatch', () => {
  it.each(['get', 'list', 'update'] as const)(
    'a record that %s has returned guards against changes that it does not know',
    async (call) => {
      const [made] = await cities(1)
      const id = made?._id ?? ''
      const api = client()('/cities')
      const read = async () => {
        if (call === 'get') return done(api.get(id))
        if (call === 'update') return done(api.update(id, { population: 50 }))
        return (await done(api.list()))[0] as NonNullable<typeof made>
      }
      const mine = await read()
      // What the program does with its copy does not count.
      Object.assign(mine, { name: 'mine' })
      expect(await api.update(id, { name: 'first' }, { ifMatch: mine })).toMatchObject({ ok: true })
      expect(await api.update(id, { name: 'second' }, { ifMatch: mine })).toMatchObject({
        ok: false,
        error: { status: 412, message: 'The record has changed since it was read.' },
      })
      expect(await api.remove(id, { ifMatch: mine })).toMatchObject({ error: { status: 412 } })
      expect(await done(api.get(id))).toMatchObject({ name: 'first' })
    },
  )

  it('an ETag does too, and without one nothing is sent', async () => {
    const [made] = await cities(1)
    const id = made?._id ?? ''
    const api = client()('/cities')
    const read = await api.get(id)
    if (!read.ok || read.etag === undefined) throw new Error('there is no tag')
    expect(await api.update(id, { name: 'first' }, { ifMatch: read.etag })).toMatchObject({
      ok: true,
    })
    expect(await api.update(id, { name: 'second' }, { ifMatch: read.etag })).toMatchObject({
      error: { status: 412 },
    })
    expect(await api.update(id, { name: 'second' })).toMatchObject({ ok: true })
  })

  it('a record of elsewhere is a mistake of the program', async () => {
    const [made] = await cities(1)
    const api = client()('/cities')
    await expect(
      api.update(made?._id ?? '', { name: 'a' }, { ifMatch: { ...made } }),
    ).rejects.toThrow(`'ifMatch' must be an ETag, or a record as this client has returned it`)
  })
})

describe('files', () => {
  it('a Blob among the values is uploaded', async () => {
    const png = new Uint8Array(64)
    png.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
    const api = client()
    const photo = new File([png], 'a.png', { type: 'image/png' })
    const made = await done(
      api('/cities').create({ name: 'Bergen', population: 5, tags: ['a', 'b'], photo }),
    )
    expect(made).toMatchObject({
      name: 'Bergen',
      population: 5,
      tags: ['a', 'b'],
      photo: expect.stringMatching(/\.png$/),
    })
    await expect(api('/cities').update(made._id, { population: null, photo })).rejects.toThrow(
      `'population' is null`,
    )
  })
})
