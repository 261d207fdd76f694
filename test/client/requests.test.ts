import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createClient, memoryStorage } from '../../src/client/index.ts'
import { uploaded } from '../../src/client/sending/upload.ts'
import type { TestApp } from './app.ts'
import { calls, methods, recording, URL } from './recording.ts'
import { ScriptedServer } from './scripted.ts'

const password = 'a long pass phrase'

describe('values in paths', () => {
  const WRONG = ['', '.', '..']

  it.each(WRONG)('the id %j is a failure of every call, and nothing is sent', async (id) => {
    const { api, sent } = recording()
    const failure = { ok: false, error: { status: 0, message: `'${id}' can't be an id.` } }
    const auth = calls(api)('/auth')
    const cities = calls(api)('/cities')
    for (const call of ['get', 'remove', 'update']) {
      expect(await cities[call]?.(id, { name: 'a' }), call).toEqual(failure)
    }
    const byId = [
      'endSession',
      'getUser',
      'updateUser',
      'deleteUser',
      'modifyRoles',
      'endUserSessions',
    ]
    for (const call of [...byId, 'social']) {
      expect(await auth[call]?.(id, { role: 'a' }), call).toEqual(failure)
    }
    const within = calls(api)('/orgs/:org/cities', { org: id })
    for (const call of ['list', 'create', 'get', 'update', 'remove', 'aggregate', 'history']) {
      expect(await within[call]?.('x', {}), call).toEqual(failure)
    }
    expect(await within.export?.('csv'), 'export').toEqual(failure)
    const ending = new AbortController()
    const onError = vi.fn(() => ending.abort())
    await within.live?.({}, { onChange: () => {}, onError, signal: ending.signal })
    expect(onError).toHaveBeenCalledWith(failure.error)
    expect(await api('/cities').update(id, { name: 'a' }, { ifMatch: '"x"' })).toEqual(failure)
    expect(sent).toEqual([])
  })

  it('a missing id or parameter is one too', async () => {
    const { api, sent } = recording()
    const failure = { ok: false, error: { status: 0, message: `'' can't be an id.` } }
    expect(await calls(api)('/orgs/:org/cities', {}).list?.()).toEqual(failure)
    expect(await calls(api)('/orgs/:org/cities').list?.()).toEqual(failure)
    expect(await calls(api)('/orgs/:org/cities', { org: undefined }).list?.()).toEqual(failure)
    expect(await calls(api)('/cities').get?.(undefined)).toEqual(failure)
    expect(await calls(api)('/auth').getUser?.()).toEqual(failure)
    expect(sent).toEqual([])
  })

  it('a method alone goes to the path of the mount', async () => {
    const { api, sent } = recording()
    await calls(api)('/batch').call?.('POST')
    expect(sent).toMatchObject([{ method: 'POST', url: '/batch' }])
  })

  it.each(['GET top', 'GET .example.com'])('the route %j is a mistake', async (route) => {
    const { api, sent } = recording()
    const wrong = calls(api)('/').call?.(route)
    await expect(wrong).rejects.toThrow(`'${route}' must be a method and a path`)
    expect(sent).toEqual([])
  })

  it.each([
    ['a/../b', '/cities/a%2F..%2Fb'],
    ['...', '/cities/...'],
    ['%2e%2e', '/cities/%252e%252e'],
    ['.a', '/cities/.a'],
    ['a?b#c', '/cities/a%3Fb%23c'],
    ['\ud800', '/cities/%EF%BF%BD'],
    ['\u{1f600}', '/cities/%F0%9F%98%80'],
    ['..\\', '/cities/..%5C'],
  ])('the id %j is a part of the path', async (id, path) => {
    const { api, sent } = recording()
    await api('/cities').get(id)
    expect(sent.map(({ url }) => url)).toEqual([path])
  })
})

describe('api.fetch', () => {
  it.each([
    '.evil.com/x',
    'x',
    '',
    '@evil.com',
    ':1/x',
    '//evil.com',
    '/\\evil.com',
    '\\\\evil.com',
    '/\t/evil.com',
    'https://evil.com',
  ])('refuses %j, which does not stay on the server', async (path) => {
    const { api, sent } = recording()
    await expect(api.fetch(path as '/')).rejects.toThrow(TypeError)
    expect(sent).toEqual([])
  })

  it.each(['/', '/?a=b', '/shown/top', '/a//b', '/#x'])('sends %j', async (path) => {
    const { api, sent } = recording()
    await api.fetch(path as '/')
    expect(sent.map(({ url }) => url)).toEqual([path])
  })
})

describe('numbers that JSON cannot say', () => {
  const cities = () => recording()
  it.each([
    [{ population: Number.NaN }, "'population' is NaN"],
    [{ population: Number.POSITIVE_INFINITY }, "'population' is Infinity"],
    [{ population: 5n }, "'population' is 5"],
    [{ place: { at: [1, Number.NaN] } }, "'place.at.1' is NaN"],
    [{ foundedAt: new Date(Number.NaN) }, "'foundedAt' is Invalid Date"],
    [{ photo: new Blob(['x']), population: Number.NaN }, "'population' is NaN"],
    [{ photo: new Blob(['x']), foundedAt: new Date('x') }, "'foundedAt' is Invalid Date"],
  ])('the values %o are a mistake of the program', async (values, message) => {
    const { api, sent } = cities()
    const { create, update } = calls(api)('/cities')
    await expect(create?.(values)).rejects.toThrow(TypeError)
    await expect(create?.(values)).rejects.toThrow(message)
    await expect(update?.('x', values)).rejects.toThrow(message)
    await expect(calls(api)('/auth').register?.(values)).rejects.toThrow(message)
    expect(sent).toEqual([])
  })

  it.each([
    [
      { where: { population: { lte: Number.POSITIVE_INFINITY } } },
      "'where.population.lte' is Infinity",
    ],
    [{ where: { population: Number.NaN } }, "'where.population' is NaN"],
    [{ where: { population: [1, Number.NaN] } }, "'where.population.1' is NaN"],
    [{ page: Number.NaN }, "'page' is NaN"],
  ])('the conditions %o are one too', async (options, message) => {
    const { api, sent } = cities()
    await expect(calls(api)('/cities').list?.(options)).rejects.toThrow(message)
    await expect(
      api('/cities')
        .all(options as object)
        .next(),
    ).rejects.toThrow(TypeError)
    expect(sent).toEqual([])
  })

  it('a value that says itself how it is written is asked', async () => {
    const { api, sent } = cities()
    const decimal = { digits: [5n], toJSON: () => '5' }
    await calls(api)('/cities').create?.({ population: decimal })
    expect(sent[0]?.body).toEqual({ population: '5' })
  })
})

describe('headers', () => {
  it('each call takes headers, over those of the client', async () => {
    const { api, sent } = recording(undefined, {
      headers: { 'Accept-Language': 'nb', 'X-Key': 'a' },
    })
    const headers = { 'accept-language': 'nn' }
    await api('/cities').list({ ...{ headers } })
    await api('/cities').list({ where: { name: ['a'] }, ...{ headers } })
    for await (const city of api('/cities').all({ ...{ headers } })) void city
    await api('/cities').get('x', { ...{ headers } })
    await api('/cities').create({ name: 'a' }, { ...{ headers } })
    await api('/cities').update('x', { name: 'a' }, { ...{ headers, ifMatch: '"x"' } })
    await api('/cities').remove('x', { ...{ headers } })
    const auth = calls(api)('/auth')
    await auth.me?.({ headers })
    await auth.getUser?.('x', { headers })
    await auth.listUsers?.({ page: 1 }, { headers })
    await auth.forgotPassword?.({ identifier: 'a' }, { headers })
    await auth.social?.('google', { idToken: 'a' }, { headers })
    await api.fetch('/x', { headers })
    expect(sent).toHaveLength(13)
    for (const one of sent) {
      expect(one.headers.get('accept-language'), `${one.method} ${one.url}`).toBe('nn')
      expect(one.headers.get('x-key')).toBe('a')
      expect(JSON.stringify(one.body) ?? '').not.toContain('nn')
    }
    expect(sent[5]?.headers.get('if-match')).toBe('"x"')
  })

  it('headers may be a function, which runs for each request', async () => {
    let count = 0
    const headers = async () => {
      count += 1
      return { 'X-Count': String(count) }
    }
    const { api, sent } = recording(undefined, { headers })
    await api('/cities').list()
    await api('/cities').list()
    expect(sent.map((one) => one.headers.get('x-count'))).toEqual(['1', '2'])
  })

  it('create sends its idempotencyKey', async () => {
    const { api, sent } = recording()
    await api('/cities').create({ name: 'a' }, { ...{ idempotencyKey: 'k 1' } })
    await api('/cities').create(
      { name: 'a', photo: new Blob(['x']) },
      { ...{ idempotencyKey: 'k 2' } },
    )
    expect(sent.map((one) => one.headers.get('idempotency-key'))).toEqual(['k 1', 'k 2'])
  })

  it('an upload with onProgress goes through a fetch that was given', async () => {
    class NoRequest {
      constructor() {
        throw new Error('it was asked')
      }
    }
    vi.stubGlobal('XMLHttpRequest', NoRequest)
    try {
      const { api, sent } = recording()
      const made = await api('/cities').create(
        { name: 'a', photo: new Blob(['x']) },
        { onProgress() {} },
      )
      expect(made.ok).toBe(true)
      expect(methods(sent)).toEqual(['POST'])
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('an upload leaves nothing at its signal', async () => {
    class Ended {
      upload = {}
      onloadend() {}
      open() {}
      send() {
        this.onloadend()
      }
    }
    vi.stubGlobal('XMLHttpRequest', Ended)
    try {
      const { signal } = new AbortController()
      await uploaded('/cities', { headers: new Headers(), signal }, () => {})
      expect(getEventListeners(signal, 'abort')).toEqual([])
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('a function that throws is a failure with the status 0', async () => {
    const headers = () => {
      throw new Error('no cookies here')
    }
    const { api } = recording(undefined, { headers })
    expect(await api('/cities').list()).toMatchObject({
      ok: false,
      error: { status: 0, message: 'no cookies here' },
    })
  })
})

describe('on a server', () => {
  afterEach(() => void vi.restoreAllMocks())

  it('a client without storage keeps no session, and says so once', async () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const server = new ScriptedServer()
    const api = createClient<TestApp>(URL, { fetch: server.fetch })
    const signedIn = await api('/auth').login({ identifier: 'ann', password })
    expect(signedIn).toMatchObject({ ok: true, data: { token: expect.any(String) } })
    expect(await api('/auth').me()).toMatchObject({ error: { status: 401 } })
    await api('/auth').login({ identifier: 'bob', password })
    expect(server.seen.map(({ session }) => session)).toEqual(Array(3).fill(undefined))
    expect(warned).toHaveBeenCalledTimes(1)
    expect(String(warned.mock.calls[0])).toContain('storage')
  })

  it('token says for each request who asks', async () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const server = new ScriptedServer()
    const first = createClient<TestApp>(URL, { fetch: server.fetch, ...{ token: () => undefined } })
    const signedIn = await first('/auth').login({ identifier: 'ann', password })
    if (!signedIn.ok) throw new Error('it failed')
    let token: string | undefined = signedIn.data.token
    const api = createClient<TestApp>(URL, { fetch: server.fetch, ...{ token: async () => token } })
    expect(await api('/auth').me()).toMatchObject({ ok: true, data: { email: 'ann' } })
    expect((await api.fetch('/auth/me')).status).toBe(200)
    server.expire()
    const before = server.seen.length
    expect(await api('/auth').me()).toMatchObject({ error: { status: 401 } })
    expect(server.seen).toHaveLength(before + 1)
    const { refresh, logout } = calls(api)('/auth')
    const { refreshToken } = signedIn.data
    const renewed = (await refresh?.({ refreshToken })) as typeof signedIn
    token = renewed.data.token
    expect(await api('/auth').me()).toMatchObject({ ok: true })
    expect(await logout?.({ refreshToken: renewed.data.refreshToken })).toMatchObject({ ok: true })
    expect(server.isEnded('ann 1')).toBe(true)
    token = undefined
    expect(await api('/auth').me()).toMatchObject({ error: { status: 401 } })
    expect(warned).not.toHaveBeenCalled()
  })

  it('memoryStorage keeps a session for a script, and each has its own', async () => {
    const server = new ScriptedServer()
    const open = () => createClient<TestApp>(URL, { fetch: server.fetch, storage: memoryStorage() })
    const api = open()
    await api('/auth').login({ identifier: 'ann', password })
    expect(await api('/auth').me()).toMatchObject({ ok: true })
    expect(await open()('/auth').me()).toMatchObject({ error: { status: 401 } })
  })
})

describe('records of any form', () => {
  it.each(['text', null, 5, true, ['a', 'b']])(
    'a record that is %j is read, listed and written',
    async (record) => {
      const { api } = recording(({ method, url }) =>
        Response.json({
          success: true,
          data: method === 'GET' && url === '/cities' ? [record] : record,
        }),
      )
      expect(await api('/cities').list()).toEqual({ ok: true, data: [record] })
      expect(await api('/cities').get('x')).toEqual({ ok: true, data: record })
      expect(await api('/cities').create({ name: 'a' })).toEqual({ ok: true, data: record })
      expect(await api('/cities').update('x', { name: 'a' })).toEqual({ ok: true, data: record })
    },
  )

  it('a list that is none is a failure', async () => {
    const { api } = recording(() => Response.json({ success: true, message: 'Hello.' }))
    expect(await api('/cities').list()).toMatchObject({ ok: true, data: 'Hello.' })
  })
})

describe('what a client chooses of records', () => {
  it('goes by GET where a URL can say it, and by QUERY with alternatives', async () => {
    const { api, sent } = recording()
    const cities = calls(api)('/cities')
    const chosen = { select: ['name', 'place.x'], expand: ['country'] }
    await cities.list?.(chosen)
    await cities.get?.('a', chosen)
    await cities.list?.({ ...chosen, where: { or: [{ name: 'a' }, { name: 'b' }] } })
    expect(sent.map(({ method, url, body }) => [method, decodeURIComponent(url), body])).toEqual([
      ['GET', '/cities?select=name,place.x&expand=country', undefined],
      ['GET', '/cities/a?select=name,place.x&expand=country', undefined],
      ['QUERY', '/cities', { ...chosen, filter: { or: [{ name: 'a' }, { name: 'b' }] } }],
    ])
  })

  it('sends a tag that a compressing proxy has made weak as the strong one that it was', async () => {
    const reply = () =>
      Response.json({ success: true, data: { _id: 'a' } }, { headers: { ETag: 'W/"1"' } })
    const { api, sent } = recording(reply)
    const { update, get } = calls(api)('/cities')
    const found = (await get?.('a')) as { data: object; etag: string }
    for (const ifMatch of [found.data, found.etag]) await update?.('a', { name: 'b' }, { ifMatch })
    expect(sent.map(({ headers }) => headers.get('if-match'))).toEqual([null, '"1"', '"1"'])
  })

  it('is no condition of a write', async () => {
    const reply = () =>
      Response.json({ success: true, data: { _id: 'a' } }, { headers: { ETag: '"1"' } })
    const { api } = recording(reply)
    const found = (await calls(api)('/cities').get?.('a', { select: ['name'] })) as { data: object }
    await expect(
      calls(api)('/cities').update?.('a', { name: 'b' }, { ifMatch: found.data }),
    ).rejects.toThrow("'ifMatch' must be an ETag")
  })
})

describe('a list as a file', () => {
  it('is the response, asked for by Accept', async () => {
    const headers = { 'Content-Type': 'text/csv; charset=utf-8' }
    const { api, sent } = recording(() => new Response('_id,name\r\n', { headers }))
    const file = await calls(api)('/cities').export?.('csv', { search: 'a', select: ['name'] })
    const { ok, data } = file as { ok: boolean; data: Response }
    expect([ok, await data.text()]).toEqual([true, '_id,name\r\n'])
    expect(sent.map(({ url, headers }) => [url, headers.get('accept')])).toEqual([
      ['/cities?s=a&select=name', 'text/csv'],
    ])
    await calls(api)('/cities').export?.('ndjson', { where: { name: { in: ['a', 'b'] } } })
    expect(sent[1]).toMatchObject({
      method: 'QUERY',
      body: { filter: { name: { in: ['a', 'b'] } } },
    })
    expect(sent[1]?.headers.get('accept')).toBe('application/x-ndjson')
  })

  it('is a failure where the server refuses, or is not there', async () => {
    const error = 'This list is not available as a file. Use Accept: application/json.'
    const refusing = recording(() => Response.json({ success: false, error }, { status: 406 }))
    expect(await calls(refusing.api)('/cities').export?.('csv')).toMatchObject({
      ok: false,
      error: { status: 406, message: error },
    })
    const gone = recording(() => {
      throw new TypeError('fetch failed')
    })
    expect(await calls(gone.api)('/cities').export?.('csv')).toMatchObject({
      ok: false,
      error: { status: 0, message: 'fetch failed' },
    })
  })
  it('is a failure where a page or JSON comes instead, and so is a live list, which is tried again', async () => {
    const type = 'text/html; charset=utf-8'
    for (const [reply, came] of [
      [() => new Response('<p>Log in.</p>', { headers: { 'Content-Type': type } }), type],
      [() => Response.json({ success: true, data: [] }), 'application/json'],
    ] as const) {
      const { api } = recording(reply)
      const error = (wanted: string) => ({
        status: 200,
        message: `The server answered 200 with ${came}, not ${wanted}.`,
      })
      const file = await calls(api)('/cities').export?.('csv')
      expect(file).toEqual({ ok: false, error: error('text/csv') })
      const ending = new AbortController()
      const told: unknown[] = []
      const onError = (failure: unknown) => {
        if (told.push(failure) === 2) ending.abort()
      }
      await calls(api)('/cities').live?.({}, { onChange() {}, onError, signal: ending.signal })
      expect(told).toEqual([error('text/event-stream'), error('text/event-stream')])
    }
  })
})
