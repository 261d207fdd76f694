import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import type { TestApp } from './app.ts'
import { calls, recording } from './recording.ts'
import { Gate, ScriptedServer, ScriptedStorage } from './scripted.ts'

const URL = 'https://api.example.com'
const password = 'a long pass phrase'

function started() {
  const server = new ScriptedServer()
  const storage = new ScriptedStorage()
  const told: string[] = []
  const open = (more: object = {}) =>
    createClient<TestApp>(URL, {
      fetch: server.fetch,
      storage,
      onSignedOut: () => void told.push('signed out'),
      ...more,
    })
  return { server, storage, told, open, api: open() }
}
type Api = ReturnType<typeof started>['api']

const login = (api: Api, identifier: string) => api('/auth').login({ identifier, password })
/** Who is signed in; the status if nobody is. */
async function who(api: Api) {
  const me = await api('/auth').me()
  return me.ok ? me.data.email : me.error.status
}

/** A refresh whose answer is on its way until the test opens the gate. */
async function duringRefresh({ server, api }: ReturnType<typeof started>) {
  server.expire()
  const gate = new Gate()
  const begun = new Gate()
  server.after = (path) => {
    if (path !== '/auth/token/refresh') return undefined
    begun.open()
    return gate.opened
  }
  const call = who(api)
  await begun.opened
  return {
    call,
    async arrives() {
      server.after = undefined
      gate.open()
      return call
    },
  }
}

describe('a refresh that ends after the session has', () => {
  it('a sign-in during a refresh stays, and the call of before is not sent again as the new user', async () => {
    const all = started()
    const { api, server } = all
    await login(api, 'ann')
    const refresh = await duringRefresh(all)
    expect(await login(api, 'bob')).toMatchObject({ ok: true })
    const before = server.seen.length
    expect(await refresh.arrives()).toBe(401)
    expect(server.seen.slice(before)).toEqual([])
    expect(await who(api)).toBe('bob')
  })

  it.each([true, false])(
    'a sign-out during a refresh stays, also if the server can be reached for it: %j',
    async (isReachable) => {
      const all = started()
      const { api, server, storage, told } = all
      await login(api, 'cy')
      const refresh = await duringRefresh(all)
      if (!isReachable) server.lost.add('/auth/logout')
      expect((await api('/auth').logout()).ok).toBe(isReachable)
      expect(await refresh.arrives()).toBe(401)
      expect(await who(api)).toBe(401)
      expect([...storage.items.keys()]).toEqual([])
      expect(told).toEqual(['signed out'])
    },
  )

  it('a sign-out ends the session at the server, also where it ends the page: Firefox sends nothing else then', async () => {
    const { open, server } = started()
    let isLeft = false
    const api = open({
      fetch: async (url: string, init: RequestInit) => {
        if (isLeft && !init.keepalive) throw new TypeError('NetworkError')
        return server.fetch(url, init)
      },
      onSignedOut() {
        isLeft = true
      },
    })
    await login(api, 'ann')
    expect(await api('/auth').logout()).toMatchObject({ ok: true })
    expect(isLeft).toBe(true)
    expect(server.isEnded('ann 1')).toBe(true)
  })

  it('a call with an old token is not sent again after a sign-in as someone else by another client', async () => {
    const all = started()
    const { api, server } = all
    await login(api, 'ann')
    server.expire()
    const gate = new Gate()
    server.after = (path) => (path === '/auth/me' ? gate.opened : undefined)
    const call = who(api)
    await login(all.open(), 'bob')
    server.after = undefined
    gate.open()
    expect(await call).toBe(401)
    expect(server.seen.filter(({ session }) => session?.startsWith('bob'))).toEqual([])
    expect(await who(api)).toBe('bob')
  })

  it('calls of another client on the same storage share one refresh', async () => {
    const { api, open, server } = started()
    await login(api, 'ann')
    server.expire()
    expect(await Promise.all([who(api), who(open()), who(open()), who(api)])).toEqual(
      Array(4).fill('ann'),
    )
    expect(server.seen.filter(({ path }) => path === '/auth/token/refresh')).toHaveLength(1)
  })

  it('a refresh that cannot be asked for is no 401 of a download, a file or a live list', async () => {
    const { api, open, server, told } = started()
    await login(api, 'ann')
    server.expire()
    const busy = open({
      fetch: async (input: string, init: RequestInit) =>
        input.endsWith('/refresh')
          ? new Response('{"success":false,"error":"Busy."}', {
              status: 503,
              headers: { 'Retry-After': '3' },
            })
          : server.fetch(input, init),
    })
    const response = await busy.fetch('/cities')
    expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '3'])
    const error = { status: 503, message: 'Busy.', retryAfter: 3 }
    expect(await calls(busy)('/cities').export?.('csv')).toEqual({ ok: false, error })
    const ending = new AbortController()
    const errors: unknown[] = []
    const onError = (failure: unknown) => {
      if (errors.push(failure) === 2) ending.abort()
    }
    await calls(busy)('/cities').live?.({}, { onChange() {}, onError, signal: ending.signal })
    expect(errors).toEqual([error, error])
    server.lost.add('/auth/token/refresh')
    await expect(api.fetch('/cities')).rejects.toThrow('The connection is lost.')
    server.lost.clear()
    expect([await who(api), told]).toEqual(['ann', []])
  })

  it('a live list ends after a sign-in as someone else, and is not opened again as the new user', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { api, open, server } = started()
    await login(api, 'ann')
    const asked: (string | undefined)[] = []
    const page = open({
      // Each connection breaks at once.
      fetch: async (_: string, init: RequestInit) => {
        asked.push(server.sessionOf(new Headers(init.headers).get('Authorization')))
        return new Response('', { headers: { 'Content-Type': 'text/event-stream' } })
      },
    })
    const onError = vi.fn()
    const signal = AbortSignal.timeout(5000)
    const running = calls(page)('/cities').live?.({}, { onChange() {}, onError, signal })
    await vi.waitFor(() => expect(asked).toEqual(['ann 1']))
    // A pause takes between half a second and one.
    await vi.advanceTimersByTimeAsync(1000)
    const times = asked.length
    expect(times).toBeGreaterThan(1)
    await login(api, 'bob')
    await vi.advanceTimersByTimeAsync(1000)
    await running
    expect(asked).toEqual(Array(times).fill('ann 1'))
    expect(onError.mock.calls).toEqual([[{ status: 401, message: 'The session has ended.' }]])
  })

  it("a live list goes on after the same user's next sign-in, with its tokens", async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const storage = new ScriptedStorage()
    const asked: unknown[] = []
    let count = 0
    const fetch = async (url: string, init: RequestInit) => {
      if (!url.endsWith('/login')) {
        asked.push(new Headers(init.headers).get('Authorization')?.split('.')[2])
        return new Response('', { headers: { 'Content-Type': 'text/event-stream' } })
      }
      const { identifier } = JSON.parse(String(init.body))
      const claims = btoa(JSON.stringify({ sub: `\xff\xfe ${identifier}` })).replaceAll('/', '_')
      count += 1
      const data = { token: `head.${claims}.${count}`, expiresIn: 900, user: {} }
      return Response.json({ success: true, data })
    }
    const open = () => createClient<TestApp>(URL, { storage, fetch: fetch as never })
    const [page, tab] = [open(), open()]
    await login(page, 'ann')
    const onError = vi.fn()
    const signal = AbortSignal.timeout(5000)
    const running = calls(page)('/cities').live?.({}, { onChange() {}, onError, signal })
    await vi.waitFor(() => expect(asked).toEqual(['1']))
    await login(tab, 'ann')
    await vi.advanceTimersByTimeAsync(2000)
    const again = asked.length - 1
    expect([again > 1, onError.mock.calls]).toEqual([true, []])
    await login(tab, 'bob')
    await vi.advanceTimersByTimeAsync(1000)
    await running
    expect(asked).toEqual(['1', ...Array(again).fill('2')])
    expect(onError.mock.calls).toEqual([[{ status: 401, message: 'The session has ended.' }]])
  })

  it('every request of a call is sent by the user who made the call', async () => {
    const { api, server } = started()
    await login(api, 'ann')
    const gate = new Gate()
    const begun = new Gate()
    server.after = (path) => {
      if (path !== '/cities') return undefined
      begun.open()
      return gate.opened
    }
    const pages = (async () => {
      const found = []
      for await (const page of api('/cities').pages({ where: { name: { ne: 'x' } } })) {
        found.push(page)
      }
      return found
    })()
    await begun.opened
    await login(api, 'bob')
    server.after = undefined
    gate.open()
    await pages
    expect(
      server.seen.filter(({ path }) => path === '/cities').map(({ session }) => session),
    ).toEqual(['ann 1', 'ann 1'])
  })
})

it('where the platform has no AbortSignal.timeout, a call refreshes too', async () => {
  const { timeout } = AbortSignal
  Object.assign(AbortSignal, { timeout: undefined })
  onTestFinished(() => void Object.assign(AbortSignal, { timeout }))
  const { api, server } = started()
  await login(api, 'ann')
  server.expire()
  expect(await who(api)).toBe('ann')
})

it('where parameters have no size, those of a call are sent', async () => {
  const { prototype } = URLSearchParams
  const size = Object.getOwnPropertyDescriptor(prototype, 'size') ?? {}
  Object.defineProperty(prototype, 'size', { value: undefined, configurable: true })
  onTestFinished(() => void Object.defineProperty(prototype, 'size', size))
  const { api, sent } = recording()
  await calls(api)('/cities').call?.('GET /near', { query: { place: 'Oslo' } })
  await calls(api)('/cities').history?.('1', { pageSize: 5 })
  await calls(api)('/cities').history?.('1')
  expect(sent.map(({ url }) => url)).toEqual([
    '/cities/near?place=Oslo',
    '/cities/1/history?pageSize=5',
    '/cities/1/history',
  ])
})

describe('two sessions at one server', () => {
  it('clients with different storages, and clients with different keys, know nothing of each other', async () => {
    const { api, open, server, told } = started()
    const shop = open({ storage: new ScriptedStorage() })
    const staff = open({ key: 'staff' })
    await login(api, 'ann')
    await login(shop, 'bob')
    await login(staff, 'cy')
    server.expire()
    const start = Date.now()
    expect(await Promise.all([who(api), who(shop), who(staff)])).toEqual(['ann', 'bob', 'cy'])
    expect(Date.now() - start).toBeLessThan(3000)
    expect((await staff('/auth').logout()).ok).toBe(true)
    expect(told).toEqual(['signed out'])
    expect([await who(api), await who(shop), await who(staff)]).toEqual(['ann', 'bob', 401])
  })

  it('clients of different servers never share a session', async () => {
    const { api, open, server, storage } = started()
    await login(api, 'ann')
    const other = createClient<TestApp>('https://other.example.com', {
      fetch: server.fetch,
      storage,
    })
    expect(await who(other)).toBe(401)
    const mine = open({ key: 'same' })
    await login(mine, 'ann')
    const yours = createClient<TestApp>('https://other.example.com', {
      fetch: server.fetch,
      storage,
      ...{ key: 'same' },
    })
    expect(await who(yours)).toBe(401)
  })
})

describe('a storage that fails', () => {
  it('that cannot be read counts as signed out, and public calls go on', async () => {
    const { api, storage } = started()
    storage.broken.add('getItem')
    expect(await api('/cities').list()).toMatchObject({ ok: true })
    expect(await who(api)).toBe(401)
  })

  it('that cannot be read has the session of a client that has signed in meanwhile, for that one', async () => {
    const { api, open, storage, server } = started()
    storage.broken.add('getItem')
    expect(await login(api, 'ann')).toMatchObject({ ok: true })
    expect(await who(api)).toBe('ann')
    server.expire()
    expect(await who(api)).toBe('ann')
    expect(await who(open())).toBe(401)
    expect(await api('/auth').logout()).toMatchObject({ ok: true })
    expect(await who(api)).toBe(401)
  })

  it('that the browser denies to the page, with locks, leaves a session with a name to the program', async () => {
    const denied = () => {
      throw new DOMException('denied', 'SecurityError')
    }
    const navigator = { locks: { request: async () => denied(), query: async () => denied() } }
    vi.stubGlobal('window', Object.defineProperty({ navigator }, 'localStorage', { get: denied }))
    onTestFinished(() => void vi.unstubAllGlobals())
    const api = started().open({ key: 'mine' })
    expect(await login(api, 'ann')).toMatchObject({ ok: true })
    expect(await who(api)).toBe('ann')
  })

  it('that is full leaves the session in memory', async () => {
    const { api, storage, server } = started()
    storage.broken.add('setItem')
    expect(await login(api, 'ann')).toMatchObject({ ok: true })
    expect(await who(api)).toBe('ann')
    server.expire()
    expect(await who(api)).toBe('ann')
    expect(await api('/auth').logout()).toMatchObject({ ok: true })
    expect(await who(api)).toBe(401)
  })

  it('that is full when the tokens are refreshed leaves the new ones in memory, and no old ones behind', async () => {
    const { api, storage, server } = started()
    await login(api, 'ann')
    storage.broken.add('setItem')
    server.expire()
    expect(await who(api)).toBe('ann')
    server.expire()
    expect(await who(api)).toBe('ann')
    expect([...storage.items.keys()]).toEqual([])
  })

  it('that cannot forget does not bring the session back', async () => {
    const { api, storage } = started()
    await login(api, 'ann')
    storage.broken.add('removeItem').add('getItem')
    await api('/auth').logout()
    storage.broken.clear()
    expect(await who(api)).toBe(401)
  })

  it.each([
    '{"token":5',
    '{"token":{},"refreshToken":7}',
    'null',
    '5',
    '[]',
    '""',
    '',
    '{"token":"a","refreshAt":5,"logoutAt":"/x","at":1}',
    '{"token":"a","refreshToken":{},"refreshAt":"/x","logoutAt":"/x","at":1,"id":"x"}',
  ])('that holds %j counts as signed out, and it is removed', async (text) => {
    const { api, storage } = started()
    storage.items.set(`fieldgate:${URL}`, text)
    expect(await api('/cities').list()).toMatchObject({ ok: true })
    expect(await who(api)).toBe(401)
    expect([...storage.items.keys()]).toEqual([])
    expect(await login(api, 'ann')).toMatchObject({ ok: true })
    expect(await who(api)).toBe('ann')
  })

  it('a failing onSignedOut fails no call, and is logged', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => logged.mockRestore())
    const { open } = started()
    const api = open({
      onSignedOut() {
        throw new Error('my mistake')
      },
    })
    await login(api, 'ann')
    expect(await api('/auth').logout()).toMatchObject({ ok: true })
    expect(await who(api)).toBe(401)
    expect(logged).toHaveBeenCalledTimes(1)
  })
})

it('users of a server whose clients have one key do not wait for each other', async () => {
  // Deno has locks, and Node since 24. With them, whoever signs in would make the others wait for tokens that never come.
  const request = vi.fn()
  const before = Object.getOwnPropertyDescriptor(navigator, 'locks')
  Object.defineProperty(navigator, 'locks', { value: { request }, configurable: true })
  onTestFinished(() => {
    Reflect.deleteProperty(navigator, 'locks')
    if (before) Object.defineProperty(navigator, 'locks', before)
  })
  const { open } = started()
  const [ann, bob] = [1, 2].map(() => open({ key: 'staff', storage: new ScriptedStorage() }))
  await login(ann as Api, 'ann')
  await login(bob as Api, 'bob')
  expect([await who(ann as Api), await who(bob as Api)]).toEqual(['ann', 'bob'])
  expect(request).not.toHaveBeenCalled()
})
