import { afterEach, describe, expect, it, vi } from 'vitest'
import { calls, methods, recording } from './recording.ts'

describe('groups', () => {
  it('go by QUERY, with what is computed in one member', async () => {
    const { api, sent } = recording()
    await api('/cities').aggregate({ count: true, where: { name: 'a' }, sort: '-count', limit: 3 })
    await api('/cities').aggregate({ count: true })
    const aggregate = { count: true }
    expect(sent.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['QUERY', '/cities', { aggregate, filter: { name: 'a' }, sort: '-count', limit: 3 }],
      ['QUERY', '/cities', { aggregate }],
    ])
  })

  it('go by a POST that says so where QUERY does not get through, and never by GET', async () => {
    const { api, sent } = recording(({ method }) =>
      method === 'QUERY' ? new Response('<h1>No</h1>', { status: 405 }) : undefined,
    )
    expect((await api('/cities').aggregate({ count: true })).ok).toBe(true)
    expect(methods(sent)).toEqual(['QUERY', 'POST'])
  })
})

describe('QUERY that does not get through', () => {
  const two = { where: { population: { gt: 1, lt: 4 }, name: 'a' } }
  const one = { where: { population: { gte: 1 } } }
  const refused = (status: number) => new Response('<h1>No</h1>', { status })
  afterEach(() => void vi.useRealTimers())

  it('a lost connection is no refusal: QUERY is tried again by the next call', async () => {
    let isLost = false
    const { api, sent } = recording(({ method }) => {
      if (isLost && method === 'QUERY') throw new TypeError('fetch failed')
      return method === 'POST' ? refused(405) : undefined
    })
    const cities = api('/cities')
    expect((await cities.list(two)).ok).toBe(true)
    isLost = true
    expect((await cities.list(one)).ok).toBe(true)
    isLost = false
    expect((await cities.list(two)).ok).toBe(true)
    expect(methods(sent)).toEqual(['QUERY', 'QUERY', 'GET', 'QUERY'])
  })

  it('after a refusal it is asked again in a minute', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { api, sent } = recording(({ method }) => (method === 'QUERY' ? refused(501) : undefined))
    for (const [seconds, seen] of [
      [0, ['QUERY', 'GET']],
      [50, ['GET']],
      [11, ['QUERY', 'GET']],
      [59, ['GET']],
    ] as const) {
      vi.setSystemTime(Date.now() + seconds * 1000)
      sent.length = 0
      expect((await api('/cities').list(one)).ok).toBe(true)
      expect(methods(sent)).toEqual(seen)
    }
  })

  it('a router that pages by cursor is asked for a page number once a minute at most', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const error = "This endpoint paginates by cursor. Omit 'page' for the first page."
    const { api, sent } = recording(({ method, url }) =>
      method === 'QUERY'
        ? refused(405)
        : (url.includes('page=') && Response.json({ success: false, error }, { status: 400 })) ||
          undefined,
    )
    const asked = async () => {
      sent.length = 0
      expect((await api('/cities').list({ pageSize: 5 })).ok).toBe(true)
      return sent.map(({ method, url }) => method + url.slice('/cities'.length))
    }
    const learning = ['QUERY', 'GET?pageSize=5&page=1', 'GET?pageSize=5']
    expect(await asked()).toEqual(learning)
    expect(await asked()).toEqual(['GET?pageSize=5'])
    // Without a page, a router that pages by number would give everything.
    vi.setSystemTime(Date.now() + 60_000)
    expect(await asked()).toEqual(learning)
  })

  it('what was learned is forgotten when the POST is refused', async () => {
    let isThrough = false
    const { api, sent } = recording(({ method }) => {
      if (method === 'POST')
        return Response.json({ success: false, error: 'Method not allowed.' }, { status: 405 })
      return method === 'QUERY' && !isThrough ? refused(403) : undefined
    })
    await api('/cities').list(one)
    isThrough = true
    expect((await api('/cities').list(two)).ok).toBe(true)
    expect((await api('/cities').list(two)).ok).toBe(true)
    expect(methods(sent)).toEqual(['QUERY', 'GET', 'POST', 'QUERY', 'QUERY'])
  })

  it.each<[object, string]>([
    [{ population: { gte: 3, lte: 9 } }, 'rangeField=population&range=3-9'],
    [{ population: { gte: 0, lte: 1.5 } }, 'rangeField=population&range=0-1.5'],
    [
      { foundedAt: { gte: new Date(0), lte: '2024-01-01' } },
      'rangeField=foundedAt&range=1970-01-01T00%3A00%3A00.000Z..2024-01-01',
    ],
    [
      { population: { gte: 3, lte: 9 }, name: { ne: 'x' } },
      'rangeField=population&range=3-9&compareField=name&compareOperator=ne&compareValue=x',
    ],
    [
      { name: 'x', population: { gte: 3 } },
      'rangeField=population&range=3-&compareField=name&compareOperator=eq&compareValue=x',
    ],
    [{ population: { gte: -3 } }, 'compareField=population&compareOperator=gte&compareValue=-3'],
    [
      { population: { gte: 3, lte: undefined } },
      'compareField=population&compareOperator=gte&compareValue=3',
    ],
    [
      { foundedAt: { lt: new Date(0) } },
      'compareField=foundedAt&compareOperator=lt&compareValue=1970-01-01T00%3A00%3A00.000Z',
    ],
  ])('the conditions %j go by GET', async (where, query) => {
    const { api, sent } = recording(({ method }) => (method === 'QUERY' ? refused(405) : undefined))
    const found = await calls(api)('/cities').list?.({ where, sort: 'name' })
    expect(found).toMatchObject({ ok: true })
    const { url = '' } = sent.at(-1) ?? {}
    const [a, b] = [new URLSearchParams(url.slice('/cities?'.length)), new URLSearchParams(query)]
    b.set('sort', 'name')
    expect(Object.fromEntries(a)).toEqual(Object.fromEntries(b))
    expect(methods(sent)).toEqual(['QUERY', 'GET'])
  })

  it.each<object>([
    { population: { gte: -3, lte: 9 } },
    { population: { gte: 1, lt: 2 } },
    { population: { gte: -3, lt: 9 } },
    { name: { gte: 'a', lte: 'b' } },
    { population: { gte: 1, lte: 2 }, name: 'a', _id: 'b' },
    { population: { gte: 1, lte: 2 }, foundedAt: { gte: '2024-01-01', lte: '2024-01-02' } },
    { population: [1, 2] },
    { population: null },
    { name: '' },
    // Of a field that holds numbers and strings, a URL would say the number.
    ...['5', '-5', '05', '1e3', '1.5', ' '].map((name) => ({ name })),
    { name: { gte: '5' } },
    { population: { gte: 1 }, name: { ne: '5' } },
  ])('the conditions %j, which no URL can say, go by POST', async (where) => {
    const { api, sent } = recording(({ method }) => (method === 'QUERY' ? refused(405) : undefined))
    expect(await calls(api)('/cities').list?.({ where })).toMatchObject({ ok: true })
    expect(methods(sent)).toEqual(['QUERY', 'POST'])
    expect(sent.at(-1)?.body).toEqual({ filter: where })
  })

  it('a range of dates of a field that holds no dates goes by POST', async () => {
    const { api, sent } = recording(({ method }) => {
      if (method === 'QUERY') return refused(405)
      return method === 'GET'
        ? Response.json({ success: false, error: 'Invalid range.' }, { status: 400 })
        : undefined
    })
    const where = { name: { gte: '2024-01-01', lte: '2024-02-01' } }
    expect(await calls(api)('/cities').list?.({ where })).toMatchObject({ ok: true })
    expect(methods(sent)).toEqual(['QUERY', 'GET', 'POST'])
  })
})
