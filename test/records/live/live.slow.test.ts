import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type AppOptions,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Guard,
  HttpError,
  ref,
  userFields,
} from 'fieldgate'
import { compress, rateLimit } from 'fieldgate/guards'
import { sqliteStore } from 'fieldgate/sqlite'
import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { Reading } from './stream.ts'

const User = defineModel('User', { fields: { name: z.string() }, changes: true })
const Task = defineModel('Task', {
  fields: {
    title: z.string(),
    done: z.boolean().default(false),
    team: z.string().default('a'),
    note: z.string().optional(),
    secret: z.string().optional(),
    owner: ref('User').optional(),
  },
  hidden: ['secret'],
  indexes: ['done'],
  changes: true,
})

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** Opens the app of these tests: `x-team` names the client's team. */
function open(more: Partial<AppOptions> = {}, options: object = {}, guards: Guard[] = []) {
  const app = createApp({ store: sqliteStore(), logger: quiet, ...more })
  const tasks = app.store.collection(Task)
  app.mount(
    '/tasks',
    createRouter({
      ...{ model: Task, middlewares: guards, query: ['done'], search: ['title', 'owner.name'] },
      ...{ allowedFields: ['title', 'done', 'team'], orderBy: 'title', live: true, ...options },
    } as never),
  )
  app.mount('/users', createRouter({ model: User, middlewares: [] }))
  closing.push(() => app.close())
  const get = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
    const all = { accept: 'text/event-stream', ...headers }
    return app.handle(new Request(`http://localhost${path}`, { ...init, headers: all }))
  }
  const follow = async (path = '/tasks', headers = {}) => new Reading(await get(path, headers))
  return { app, tasks, get, follow }
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closing.splice(0)) await close()
})

const team: { scope: object } = {
  scope: (request: Request) => ({ team: request.headers.get('x-team') ?? 'a' }),
}

describe('a live list', () => {
  it('begins with the list, and tells what comes into it, changes and leaves', async () => {
    const { app, tasks, get } = open()
    const first = await tasks.insert({ title: 'first' })
    const response = await get('/tasks?done=false')
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    expect(response.headers.has('etag')).toBe(false)
    const live = new Reading(response)
    const shown = { _id: first._id, title: 'first', done: false, team: 'a' }
    expect((await live.block())?.split('\n')).toEqual([
      'retry: 2000',
      expect.stringMatching(/^id: ./),
      'event: records',
      `data: ${JSON.stringify({ data: [shown] })}`,
    ])
    const post = await app.handle(
      new Request('http://localhost/tasks', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ title: 'second' }),
      }),
    )
    const second = (await post.json()).data
    const id = post.headers.get('change-id')
    expect(await live.next()).toEqual({ event: 'set', id, data: { data: second } })
    await tasks.update(first._id, { done: true })
    expect(await live.next()).toMatchObject({
      ...{ event: 'unset', id: expect.any(String), data: { data: { _id: first._id } } },
    })
    // Not in the list, before or after.
    await tasks.update(first._id, { title: 'other' })
    // Nothing that anyone may see.
    await tasks.update(second._id, { secret: 'x' })
    await tasks.delete(second._id)
    expect(await live.next()).toMatchObject({ event: 'unset', data: { data: { _id: second._id } } })
    await live.cancel()
  })

  it('is a QUERY too, with filters and search', async () => {
    const { app, tasks, follow } = open()
    const request = new Request('http://localhost/tasks', {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ filter: { done: true } }),
    })
    Object.defineProperty(request, 'method', { value: 'QUERY' })
    const live = new Reading(await app.handle(request))
    expect(await live.next()).toMatchObject({ event: 'records', data: { data: [] } })
    await tasks.insert({ title: 'no' })
    await tasks.insert({ title: 'yes', done: true })
    expect(await live.next()).toMatchObject({ event: 'set', data: { data: { title: 'yes' } } })
    await live.cancel()
    const other = await follow('/tasks?done=true')
    expect(await other.next()).toMatchObject({ data: { data: [{ title: 'yes' }] } })
    await other.cancel()
  })

  it('keeps no body of more than 64 KiB: a thousand lists with one would fill the memory', async () => {
    const { get } = open({}, { methodOverride: true })
    const query = async (accept: string, length: number) => {
      const body = JSON.stringify({ filter: { done: { in: [true] } }, search: '' })
      const more = { 'content-type': 'application/json', 'x-http-method-override': 'QUERY' }
      const response = await get(
        '/tasks',
        { accept, ...more },
        { method: 'POST', body: body.padEnd(length) },
      )
      const text = response.status === 200 ? response.body?.cancel() : response.text()
      return [response.status, await text]
    }
    expect(await query('text/event-stream', 65_536)).toEqual([200, undefined])
    const refused = 'Request body exceeds the limit of 65536 bytes.'
    expect(await query('text/event-stream', 65_537)).toEqual([
      413,
      expect.stringContaining(refused),
    ])
    expect(await query('application/json', 65_537)).toEqual([200, undefined])
  })

  it('goes on after Last-Event-ID, and begins anew if that is not known', async () => {
    const { tasks, follow } = open()
    const live = await follow()
    const begin = await live.next()
    await live.cancel()
    await tasks.insert({ title: 'meanwhile' })
    const again = await follow('/tasks', { 'last-event-id': begin?.id ?? '' })
    const missed = await again.next()
    expect(missed).toMatchObject({ event: 'set', data: { data: { title: 'meanwhile' } } })
    await tasks.insert({ title: 'now' })
    expect(await again.next()).toMatchObject({ event: 'set', data: { data: { title: 'now' } } })
    await again.cancel()
    for (const unknown of ['nonsense', '!', '0', 'zzzzzzzzzzzzzz']) {
      const anew = await follow('/tasks', { 'last-event-id': unknown })
      expect(await anew.next(), unknown).toMatchObject({ event: 'records' })
      await anew.cancel()
    }
  })

  it('begins anew if other records or fields may be seen than before', async () => {
    const { tasks, follow } = open({}, team)
    await tasks.insert({ title: 'of b', team: 'b' })
    const live = await follow('/tasks', { 'x-team': 'a' })
    const begin = await live.next()
    expect(begin).toMatchObject({ event: 'records', data: { data: [] } })
    await live.cancel()
    const id = { 'last-event-id': begin?.id ?? '' }
    const other = await follow('/tasks', { 'x-team': 'b', ...id })
    expect(await other.next()).toMatchObject({ event: 'records', data: { data: [{}] } })
    await other.cancel()
    const same = await follow('/tasks', { 'x-team': 'a', ...id })
    await tasks.insert({ title: 'of a' })
    expect(await same.next()).toMatchObject({ event: 'set', data: { data: { title: 'of a' } } })
    await same.cancel()
  })

  it('refuses pages, select, groups, and a search through references', async () => {
    const { get } = open()
    const errors: Record<string, string> = {
      'pageSize=3': 'A live list has no pages: leave out page, pageSize, limit and cursor.',
      'page=1': 'A live list has no pages: leave out page, pageSize, limit and cursor.',
      'select=title': "A live list has whole records: leave out 'select'.",
      's=x': 'A live list cannot search through references.',
    }
    for (const [query, error] of Object.entries(errors)) {
      const response = await get(`/tasks?${query}`)
      expect(response.status, query).toBe(400)
      expect(await response.json()).toMatchObject({ success: false, error })
    }
  })

  it('is there where the router says so, and the client asks for events first', async () => {
    const { app, get } = open()
    app.mount('/plain', createRouter({ model: Task, middlewares: [] }))
    const plain = await get('/plain')
    expect(plain.status).toBe(406)
    expect((await plain.json()).error).toBe(
      'This list cannot be followed. Use Accept: application/json.',
    )
    const json = await get('/tasks', { accept: 'text/event-stream;q=0.5, application/json' })
    expect(json.headers.get('content-type')).toMatch('application/json')
    expect(json.headers.get('vary')).toMatch('Accept')
    const files = open({}, { exportLimit: 10 })
    const both = await files.get('/tasks', { accept: 'text/event-stream, text/csv;q=0.5' })
    expect(both.headers.get('content-type')).toBe('text/event-stream')
    await both.body?.cancel()
    const head = await get('/tasks', {}, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-type'), head.body]).toEqual([
      ...[200, 'text/event-stream', null],
    ])
    const closed = open({}, { access: { list: false } })
    expect((await closed.get('/tasks')).status).toBe(405)
  })

  it('needs a model with changes', () => {
    const Plain = defineModel('Plain', { fields: { name: z.string() } })
    const app = createApp({ store: sqliteStore(), logger: quiet })
    closing.push(() => app.close())
    const router = createRouter({ model: Plain, middlewares: [], live: true })
    expect(() => app.mount('/plain', router)).toThrow(
      "Router '/plain': 'live' needs the log of changes. Set changes: true in the model 'Plain'",
    )
  })

  it('is refused beyond maxStreams, until another one ends', async () => {
    const { get, follow } = open({ maxStreams: 1 })
    const live = await follow()
    const refused = await get('/tasks')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    await live.cancel()
    const next = await follow()
    expect(await next.next()).toMatchObject({ event: 'records' })
  })

  it('ends for a client that does not read', async () => {
    const { tasks, get, follow } = open({ maxStreams: 2 })
    const idle = await get('/tasks')
    const other = await follow()
    await other.next()
    for (let at = 0; at < 12; at += 1) {
      await tasks.insert({ title: 'x'.repeat(100_000) })
      await other.next()
    }
    await expect(idle.text()).rejects.toThrow('the client does not read')
    const next = await follow()
    expect(await next.next()).toMatchObject({ event: 'records' })
  })

  it('ends for a client that has left before it began', async () => {
    const { get } = open({ maxStreams: 1 })
    const left = await get('/tasks')
    const later = performance.now() + 16_000
    vi.spyOn(performance, 'now').mockReturnValue(later)
    await expect.poll(async () => (await get('/tasks')).status).toBe(200)
    vi.restoreAllMocks()
    await expect(left.text()).rejects.toThrow('the client does not read')
  })

  it('ends when the app closes, and is not compressed', async () => {
    const { app, follow } = open()
    app.use(compress())
    const live = await follow('/tasks', { 'accept-encoding': 'gzip' })
    expect(await live.next()).toMatchObject({ event: 'records' })
    await app.close()
    const data = { success: false, error: 'The live list was closed. Open it again.', status: 503 }
    expect(await live.next()).toMatchObject({ event: 'end', data })
    expect(await live.next()).toBeUndefined()
  })
})

describe('the rights of who follows a list', () => {
  const fake = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })

  it('are asked again: those that end, end it within five seconds', async () => {
    fake()
    let isIn = true
    const guard: Guard = () => {
      if (!isIn) throw new HttpError(401, 'Not authorized.')
    }
    const { tasks, follow } = open({}, {}, [guard])
    const live = await follow()
    await live.next()
    await vi.advanceTimersByTimeAsync(20_000)
    isIn = false
    await vi.advanceTimersByTimeAsync(5000)
    await tasks.insert({ title: 'not for you' })
    const data = { success: false, error: 'Not authorized.', status: 401 }
    expect((await live.next()) ?? {}).toMatchObject({ event: 'end', data })
    expect(await live.next()).toBeUndefined()
  })

  it('end with the account, at once if its model keeps changes', async () => {
    const app = createApp({ store: sqliteStore(), logger: quiet })
    closing.push(() => app.close())
    const Person = defineModel('Person', {
      ...{ fields: { ...userFields(), name: z.string().optional() }, unique: ['email'] },
      changes: true,
    })
    const auth = createAuthRouter({ model: Person, token: { secret: 'x'.repeat(32) } })
    app.mount('/auth', auth.router)
    const middlewares = [auth.requireAuth]
    app.mount('/tasks', createRouter({ model: Task, middlewares, live: true }))
    const registered = await app.handle(
      new Request('http://localhost/auth/register', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ann@example.com', password: 'correct horse battery' }),
      }),
    )
    const { token, user } = (await registered.json()).data
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` }
    const response = await app.handle(new Request('http://localhost/tasks', { headers }))
    const live = new Reading(response)
    expect(await live.next()).toMatchObject({ event: 'records' })
    await app.store.collection(Person).delete(user._id)
    await app.store.collection(Task).insert({ title: 'not for you' })
    const data = { success: false, status: 401 }
    expect(await live.next()).toMatchObject({ event: 'end', data })
    expect(await live.next()).toBeUndefined()
  })

  it('decide which records and fields it has, from then on', async () => {
    fake()
    let mine = 'a'
    const scope = () => ({ team: mine })
    const fieldsFor = () => (mine === 'a' ? ['title', 'team'] : ['title'])
    const { tasks, follow } = open({}, { scope, fieldsFor, search: [] })
    const a = await tasks.insert({ title: 'one', note: 'n' })
    const b = await tasks.insert({ title: 'two', team: 'b' })
    const live = await follow()
    const of = (data: object[]) => ({ event: 'records', data: { data } })
    expect(await live.next()).toMatchObject(of([{ _id: a._id, title: 'one', team: 'a' }]))
    await tasks.update(b._id, { title: 'three' })
    await tasks.update(a._id, { title: 'four' })
    expect((await live.next())?.data).toEqual({ data: { _id: a._id, title: 'four', team: 'a' } })
    mine = 'b'
    await vi.advanceTimersByTimeAsync(5000)
    expect((await live.next())?.data).toEqual({ data: [{ _id: b._id, title: 'three' }] })
    await tasks.update(b._id, { team: 'c' })
    expect(await live.next()).toMatchObject({ event: 'unset', data: { data: { _id: b._id } } })
    await live.cancel()
  })

  it('decide what it is filtered and searched by, also where the same is shown', async () => {
    fake()
    let isAll = true
    const { tasks, follow } = open(
      {},
      {
        fieldsFor: () => (isAll ? undefined : ['title']),
        onGet: () => ({ select: ['title'] }),
        ...{ query: ['team'], search: ['team'] },
      },
    )
    const one = await tasks.insert({ title: 'one', team: 'a' })
    const [filtered, searched] = [await follow('/tasks?team=b'), await follow('/tasks?s=b')]
    for (const live of [filtered, searched]) {
      expect(await live.next()).toMatchObject({ event: 'records', data: { data: [] } })
    }
    isAll = false
    await vi.advanceTimersByTimeAsync(5000)
    await tasks.update(one._id, { team: 'b' })
    // As the list of this reader does, who sees no team.
    const all = { event: 'records', data: { data: [{ _id: one._id, title: 'one' }] } }
    for (const live of [filtered, searched]) expect(await live.next()).toMatchObject(all)
  })

  it('that change again and again leave one list for a client that does not read', async () => {
    fake()
    let mine = 'a'
    const { tasks, get } = open({}, { scope: () => ({ team: mine }) })
    for (const team of ['a', 'b']) await tasks.insert({ title: 'x'.repeat(1000), team })
    const idle = await get('/tasks')
    for (let at = 0; at < 6; at += 1) {
      mine = mine === 'a' ? 'b' : 'a'
      await vi.advanceTimersByTimeAsync(5000)
    }
    const reader = idle.body?.getReader()
    const text = new TextDecoder().decode((await reader?.read())?.value)
    await reader?.cancel()
    expect(text).toMatch(/^retry: 2000\nid: .*\nevent: records\n/)
    expect(text.match(/event: records/g)).toHaveLength(1)
  })

  it('are asked again outside of any request, whose trace would never end otherwise', async () => {
    const trace = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const { follow } = open({}, {}, [() => void seen.push(trace.getStore())])
    const live = await trace.run('first', () => follow())
    const found = () => [...new Set(seen)]
    await expect.poll(found, { timeout: 10_000 }).toEqual(['first', undefined])
    await live.cancel()
  })

  it('are not counted as requests', async () => {
    fake()
    const limit = rateLimit({ limit: 2, windowSeconds: 3600, key: () => 'me' })
    const { follow, tasks } = open({}, {}, [limit])
    const live = await follow()
    await live.next()
    const block = live.block()
    await vi.advanceTimersByTimeAsync(60_000)
    await tasks.insert({ title: 'late' })
    // A comment alone is no block, which httpx-sse of Python would hand on as an event without data.
    expect(await block).toMatch(/^(?::\n){3,5}id: .*\nevent: set\n/)
    await live.cancel()
    const next = await follow()
    expect(await next.next()).toMatchObject({ event: 'records' })
    await next.cancel()
  })
})
