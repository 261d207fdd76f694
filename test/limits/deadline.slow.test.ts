import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { health, metrics } from '../../src/health/index.ts'
import {
  type App,
  type AppOptions,
  createApp,
  createRouter,
  defineModel,
  type RouterOptions,
} from '../../src/index.ts'
import { mcp } from '../../src/mcp/index.ts'
import { password } from '../auth/accounts.ts'
import { service } from '../auth/service.ts'
import { standingClock } from '../standing-clock.ts'

const Note = defineModel('Note', { fields: { text: z.string() } })
type Options = Partial<RouterOptions<z.infer<(typeof Note)['schema']>>>

const UNAVAILABLE = 'The service is unavailable. Try again shortly.'
/** Milliseconds, for what never ends. */
const SOON = 40
/** For what has to do something before: of a clock that stands until it is moved. */
const LATER = 60_000

/** An app with notes, whose requests have a short time. */
function notes(options: Options = {}, app: Partial<AppOptions> = {}) {
  const log: unknown[] = []
  const quiet = () => {}
  const error = (...line: unknown[]) => log.push(line)
  const logger = { debug: quiet, info: quiet, warn: quiet, error }
  const made = createApp({ store: sqliteStore(), logger, requestTimeoutMs: SOON, ...app })
  made.mount(
    '/notes',
    createRouter({ model: Note, allowedFields: ['text'], middlewares: [], ...options }),
  )
  onTestFinished(() => made.close())
  return { app: made, log, stored: made.store.collection(Note) }
}

function ask(app: App, method: string, path = '/notes', body?: BodyInit): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  const init: RequestInit = { method, headers, ...(body && { body, duplex: 'half' }) }
  return app.handle(new Request(`http://localhost${path}`, init))
}

async function expectUnavailable(response: Response): Promise<void> {
  const { error } = (await response.json()) as { error: string }
  expect([response.status, response.headers.get('retry-after'), error]).toEqual([
    503,
    '5',
    UNAVAILABLE,
  ])
}

const never = () => new Promise<never>(() => {})
const text = '{"text":"a"}'

describe('a request that takes longer than requestTimeoutMs', () => {
  it.each<[string, Options]>([
    ['a guard', { middlewares: [never] }],
    ['validate', { validate: never }],
    ['scope', { scope: never }],
    ['fieldsFor', { fieldsFor: never }],
    ['runAfterCreate', { runAfterCreate: never }],
  ])('is a 503 with Retry-After where %s never ends', async (_, options) => {
    const { app, log } = notes(options)
    await expectUnavailable(await ask(app, 'POST', '/notes', text))
    expect(JSON.stringify(log)).toContain(`the request took longer than ${SOON} ms`)
  })

  it.each<[string, Partial<AppOptions>, Options]>([
    ['onError', { onError: never }, {}],
    ['a response hook', {}, { middlewares: [(_, { onResponse }) => onResponse(never)] }],
  ])('is a 503 where %s does not end for that either', async (_, app, options) => {
    const own = { ...options, validate: never }
    const { app: made, log } = notes(own, app)
    await expectUnavailable(await ask(made, 'POST', '/notes', text))
    expect(JSON.stringify(log)).toContain('it took longer than 1000 ms')
  })

  it.each<[string, readonly string[], (end: Promise<void>) => Options]>([
    ['a guard', ['POST', 'PATCH', 'DELETE'], (end) => ({ middlewares: [() => end] })],
    ['validate', ['POST', 'PATCH'], (end) => ({ validate: () => end })],
    ['scope', ['POST', 'PATCH', 'DELETE'], (end) => ({ scope: () => end.then(() => undefined) })],
    ['beforeUpdate', ['PATCH'], (end) => ({ beforeUpdate: () => end })],
    ['beforeRemove', ['DELETE'], (end) => ({ beforeRemove: () => end })],
  ])('writes nothing when %s ends afterwards', async (_, methods, options) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { app, stored } = notes(options(promise))
    const { _id } = await stored.insert({ text: 'before' })
    for (const method of methods) {
      const path = method === 'POST' ? '/notes' : `/notes/${_id}`
      await expectUnavailable(await ask(app, method, path, method === 'DELETE' ? undefined : text))
    }
    resolve()
    // What the hooks would have led to takes a few turns.
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    expect(await stored.find()).toEqual([expect.objectContaining({ text: 'before' })])
  })

  it('aborts request.signal and context.signal, and refuses context.store from then on', async () => {
    const clock = standingClock()
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const { app, stored } = notes(
      {
        middlewares: [
          async (request, context) => {
            expect(context.signal).toBe(request.signal)
            await context.store.collection(Note).insert({ text: 'in time' })
            const over = new Promise((end) => request.signal.addEventListener('abort', end))
            clock.later(LATER)
            await over
            const late = context.store.collection(Note).insert({ text: 'late' })
            resolve([request.signal.reason.message, await late.catch((error: unknown) => error)])
          },
        ],
      },
      { requestTimeoutMs: LATER },
    )
    await expectUnavailable(await ask(app, 'GET'))
    expect(await promise).toEqual([
      `the request took longer than ${LATER} ms`,
      expect.objectContaining({ status: 503 }),
    ])
    expect(await stored.find()).toEqual([expect.objectContaining({ text: 'in time' })])
  })

  it.each<[string, string, object]>([
    ['a request', '/notes', { text: 'a' }],
    [
      'a batch',
      '/batch',
      { operations: [{ method: 'POST', path: '/notes', body: { text: 'a' } }] },
    ],
    [
      'a tool for agents',
      '/mcp',
      {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'query_records', arguments: { model: '/notes' } },
      },
    ],
  ])(
    'is logged once where what %s calls ends with the reason of its signal',
    async (_, path, sent) => {
      const { app, log } = notes({
        middlewares: [
          ({ signal }) =>
            new Promise((_, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason))
            }),
        ],
      })
      app.mount('/batch', batch()).mount('/mcp', mcp())
      await expectUnavailable(await ask(app, 'POST', path, JSON.stringify(sent)))
      await new Promise(setImmediate)
      expect(log).toEqual([['service unavailable', expect.objectContaining({ status: 503 })]])
    },
  )

  it('is none that waits for its body', async () => {
    const clock = standingClock()
    const { app } = notes({}, { requestTimeoutMs: LATER, bodyTimeoutMs: 100 * LATER })
    const encoder = new TextEncoder()
    const parts = [...text].map((letter) => encoder.encode(letter))
    const slow = new ReadableStream<Uint8Array>({
      async pull(controller) {
        clock.later(LATER / 8)
        const part = parts.shift()
        if (part) controller.enqueue(part)
        else controller.close()
      },
    })
    expect((await ask(app, 'POST', '/notes', slow)).status).toBe(201)
  })

  it('may take any time with requestTimeoutMs: 0', async () => {
    const wait = () => new Promise<void>((resolve) => setTimeout(resolve, 3 * SOON))
    const { app } = notes({ middlewares: [wait] }, { requestTimeoutMs: 0 })
    expect((await ask(app, 'GET')).status).toBe(200)
  })

  it('keeps no account whose onRegister never ends, and opens no session after onLogin', async () => {
    const clock = standingClock()
    /** A hook in which the time of its request ends. */
    const late = (end: Promise<void>) => () => {
      clock.later(LATER)
      return end
    }
    const here = { requestTimeoutMs: LATER }
    const hangs = await service({ app: here, auth: { onRegister: late(never()) } })
    const ann = { email: 'ann@example.com', password }
    expect((await hangs.post('/auth/register', ann)).status).toBe(503)
    await expect.poll(() => hangs.users.find()).toEqual([])
    const { promise, resolve } = Promise.withResolvers<void>()
    const login = await service({ app: here, auth: { onLogin: late(promise) } })
    expect((await login.post('/auth/register', ann)).status).toBe(201)
    expect((await login.post('/auth/login', ann)).status).toBe(503)
    resolve()
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    const [user] = await login.users.find()
    expect(user?.refreshTokens).toHaveLength(1)
  })
})

describe('maxInFlight', () => {
  it('refuses what comes beyond it at once, and nothing after that', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const held = { middlewares: [() => promise] }
    const { app, log } = notes(held, { maxInFlight: 3, requestTimeoutMs: 60_000 })
    const running = Array.from({ length: 3 }, () => ask(app, 'GET'))
    await expectUnavailable(await ask(app, 'GET'))
    await expectUnavailable(await ask(app, 'GET', '/nowhere'))
    expect(JSON.stringify(log)).toContain('more requests than can be handled in time')
    resolve()
    for (const response of await Promise.all(running)) expect(response.status).toBe(200)
    expect((await ask(app, 'GET')).status).toBe(200)
  })

  it('is none for probes and scrapers', async () => {
    const { app } = notes({ middlewares: [never] }, { maxInFlight: 1, requestTimeoutMs: 0 })
    app.mount('/', health()).mount('/', metrics())
    void ask(app, 'GET')
    await expectUnavailable(await ask(app, 'GET'))
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await ask(app, 'GET', path)).status).toBe(200)
    }
  })

  it('has room again where requests took too long', async () => {
    const { app } = notes({ middlewares: [never] }, { maxInFlight: 2 })
    for (let round = 0; round < 3; round += 1) {
      for (const response of await Promise.all([ask(app, 'GET'), ask(app, 'GET')])) {
        await expectUnavailable(response)
      }
    }
    expect((await ask(app, 'GET', '/nowhere')).status).toBe(404)
  })

  it('is no limit with 0', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { app } = notes({ middlewares: [() => promise] }, { maxInFlight: 0 })
    const running = Array.from({ length: 1500 }, () => ask(app, 'GET'))
    resolve()
    const statuses = (await Promise.all(running)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200]))
  })
})
