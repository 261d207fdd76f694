import { createApp, createRouter, defineModel, HttpError } from 'fieldgate'
import { createClient, type Failure } from 'fieldgate/client'
import { sqliteStore } from 'fieldgate/sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { calls } from '../../client/recording.ts'

const Task = defineModel('Task', {
  fields: { title: z.string(), done: z.boolean() },
  indexes: ['done'],
  changes: true,
})
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

it('the client has the list in order, over breaks, until it is refused or ended', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  onTestFinished(() => void vi.useRealTimers())
  /** Polls while the pauses between the attempts pass faster than on a clock. */
  const soon = (read: () => unknown) =>
    expect.poll(() => {
      vi.advanceTimersByTime(100)
      return read()
    })
  let isIn = true
  const app = createApp({ store: sqliteStore(), logger: quiet }).mount(
    '/tasks',
    createRouter({
      model: Task,
      middlewares: [
        () => {
          if (!isIn) throw new HttpError(403, 'No.')
        },
      ],
      query: ['done'],
      sortableFields: ['title'],
      live: true,
    }),
  )
  const tasks = app.store.collection(Task)
  let opened = 0
  const fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
    opened += 1
    // As a server that has too much to do.
    if (opened === 1) return new Response(null, { status: 408 })
    const { method = 'GET' } = init ?? {}
    const request = new Request(input, { ...init, method: method === 'QUERY' ? 'POST' : method })
    if (method === 'QUERY') Object.defineProperty(request, 'method', { value: method })
    return app.handle(request)
  }
  const api = createClient<typeof app>('http://localhost', { fetch: fetch as never })
  let titles: string[] = []
  const errors: Failure[] = []
  const ending = new AbortController()
  const running = api('/tasks').live(
    { where: { done: false }, sort: '-title' },
    {
      onChange: (records) => {
        titles = records.map(({ title }) => title)
      },
      onError: (error) => void errors.push(error),
      signal: ending.signal,
    },
  )
  const b = await tasks.insert({ title: 'b', done: false })
  await tasks.insert({ title: 'c', done: false })
  await tasks.insert({ title: 'a', done: false })
  await tasks.insert({ title: 'no', done: true })
  await soon(() => titles).toEqual(['c', 'b', 'a'])
  await tasks.update(b._id, { title: 'z' })
  await soon(() => titles).toEqual(['z', 'c', 'a'])
  await tasks.update(b._id, { done: true })
  await soon(() => titles).toEqual(['c', 'a'])
  isIn = false
  app.endStreams()
  await soon(() => errors).toHaveLength(2)
  await running
  expect(errors).toMatchObject([{ status: 408 }, { status: 403, message: 'No.' }])
  expect(opened).toBe(3)
  await api('/tasks').live({}, { onChange: () => {}, signal: AbortSignal.abort() })
  expect(opened).toBe(3)
  await app.close()
})

it('strings may have what other languages take for ends of lines', async () => {
  const app = createApp({ store: sqliteStore(), logger: quiet }).mount(
    '/tasks',
    createRouter({ model: Task, middlewares: [], query: ['done'], live: true }),
  )
  onTestFinished(() => app.close())
  const title = 'a\u2028event: unset\u2029data: {}\r\n\u0085b'
  await app.store.collection(Task).insert({ title, done: true })
  const fetch = (input: RequestInfo | URL, init?: RequestInit) =>
    app.handle(new Request(input, init))
  const api = createClient<typeof app>('http://localhost', { fetch: fetch as never })
  const ending = new AbortController()
  const onChange = vi.fn(() => ending.abort())
  await api('/tasks').live({}, { onChange, signal: ending.signal })
  expect(onChange.mock.calls).toMatchObject([[[{ title }], expect.any(String)]])
})

it('ends with its signal while nothing comes, through a fetch that calls the app itself', async () => {
  const app = createApp({ store: sqliteStore(), logger: quiet }).mount(
    '/tasks',
    createRouter({ model: Task, middlewares: [], live: true }),
  )
  onTestFinished(() => app.close())
  const fetch = (input: RequestInfo | URL, init?: RequestInit) =>
    app.handle(new Request(input, init))
  const api = createClient<typeof app>('http://localhost', { fetch: fetch as never })
  const ending = new AbortController()
  const onChange = vi.fn()
  const running = api('/tasks').live({}, { onChange, signal: ending.signal })
  await expect.poll(() => onChange.mock.calls).toHaveLength(1)
  // It waits for the next event again.
  await new Promise(setImmediate)
  const endedAt = performance.now()
  ending.abort()
  await running
  expect(performance.now() - endedAt).toBeLessThan(5000)
})

it('a connection that died without a word is opened again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const event = (n: number) => `id: ${n}\nevent: records\ndata: {"data":[{"_id":"${n}"}]}\n\n`
  const opened: (string | null)[] = []
  const fetch = async (_: unknown, init?: RequestInit) => {
    const count = opened.push(new Headers(init?.headers).get('Last-Event-ID'))
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(event(count)))
        init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason))
      },
    })
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
  }
  const api = createClient<never>('http://localhost', { fetch: fetch as never })
  const ending = new AbortController()
  const shown = vi.fn()
  const onError = vi.fn()
  const handlers = { onChange: shown, onError, signal: ending.signal }
  const running = calls(api)('/tasks').live?.({}, handlers)
  await vi.waitFor(() => expect(shown).toHaveBeenCalledTimes(1))
  await vi.advanceTimersByTimeAsync(40_000)
  expect(opened).toEqual([null])
  await vi.advanceTimersByTimeAsync(10_000)
  await vi.waitFor(() => expect(shown).toHaveBeenCalledTimes(2))
  expect([opened, onError.mock.calls]).toEqual([[null, '1'], []])
  ending.abort()
  await running
  expect(vi.getTimerCount()).toBe(0)
})

it('a fetch that has no response until all of it is there is named as the cause', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const fetch = (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new DOMException('Aborted', 'AbortError')))
    })
  const api = createClient<never>('http://localhost', { fetch: fetch as never })
  const ending = new AbortController()
  const onError = vi.fn()
  const handlers = { onChange() {}, onError, signal: ending.signal }
  const running = calls(api)('/tasks').live?.({}, handlers)
  await vi.advanceTimersByTimeAsync(46_000)
  expect(onError.mock.calls).toEqual([
    [{ status: 0, message: expect.stringMatching(/^No response within 45 s\. .* streams/) }],
  ])
  ending.abort()
  await running
  expect([onError.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0])
})

it('clients that lose the server together come back one after the other', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const came: number[] = []
  const fetch = async () => {
    came.push(performance.now())
    throw new TypeError('fetch failed')
  }
  const ending = new AbortController()
  const running = Array.from({ length: 20 }, () => {
    const api = createClient<never>('http://localhost', { fetch: fetch as never })
    return calls(api)('/tasks').live?.({}, { onChange() {}, signal: ending.signal })
  })
  await vi.waitFor(() => expect(came).toHaveLength(20))
  await vi.advanceTimersByTimeAsync(2000)
  const again = came.slice(20).map((at) => at - Number(came[0]))
  expect(again.length).toBeGreaterThanOrEqual(20)
  expect(Math.min(...again)).toBeGreaterThanOrEqual(1000)
  expect(new Set(again.slice(0, 20)).size).toBeGreaterThan(10)
  ending.abort()
  await Promise.all(running)
})
