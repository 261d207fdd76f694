import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  type Context,
  createRouter,
  defineModel,
  HttpError,
  type Platform,
} from '../../../src/index.ts'
import { answerOf, NOON, request, service } from '../service.ts'

const Thing = defineModel('AppThing', { fields: { name: z.string() }, timestamps: true })

describe('design, App', () => {
  test('design, App: handle is bound', async () => {
    const { app } = service()
    app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'] }))
    const { handle } = app
    expect((await handle(request('GET', '/things'))).status).toBe(200)
  })

  test('design, App: two apps in one process share nothing', async () => {
    const one = service()
    const two = service()
    one.app.use((_, { headers }) => void headers.set('X-One', 'yes'))
    one.app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'] }))
    two.app.mount(
      '/things',
      createRouter({ model: Thing, allowedFields: ['name'], enableQuery: false }),
    )
    two.clock.at = NOON + 1000
    const first = await one.send('POST', '/things', { json: { name: 'one' } })
    const second = await two.send('POST', '/things', { json: { name: 'two' } })
    expect((await one.send('GET', '/things')).records).toEqual([first.record])
    expect((await two.send('GET', '/things')).records).toEqual([second.record])
    expect(second.record.createdAt).not.toBe(first.record.createdAt)
    expect(second.headers.has('x-one')).toBe(false)
    expect((await two.send('QUERY', '/things')).status).toBe(405)
    expect((await one.send('QUERY', '/things')).status).toBe(200)
    expect(one.log.lines).toHaveLength(0)
    expect(two.log.lines).toHaveLength(1)
    await one.app.close()
    expect((await two.send('GET', '/things')).status).toBe(200)
  })

  test('security, shared state: parallel requests keep their own parameters, id, auth and headers', async () => {
    const { app, send } = service()
    app.use(async (req, { headers }) => {
      await new Promise((resolve) => setImmediate(resolve))
      req.auth = { userId: req.headers.get('x-mark') ?? '' }
      headers.set('X-Mark', req.auth.userId)
    })
    const router = createRouter({ model: Thing, allowedFields: ['name'] })
    router.get('/echo/:mark', async ({ params, query, requestId, auth }) => {
      await new Promise((resolve) => setImmediate(resolve))
      return Response.json([params.mark, query.mark, requestId, auth?.userId])
    })
    app.mount('/things', router)
    const marks = Array.from({ length: 500 }, (_, index) => `m${index}`)
    const answers = await Promise.all(
      marks.map((mark) =>
        send('GET', `/things/echo/${mark}?mark=${mark}`, {
          headers: { 'x-request-id': mark, 'x-mark': mark },
        }),
      ),
    )
    for (const [index, answer] of answers.entries()) {
      const mark = marks[index]
      expect(answer.body).toEqual([mark, mark, mark, mark])
      expect(answer.headers.get('x-mark')).toBe(mark)
      expect(answer.headers.get('x-request-id')).toBe(mark)
    }
  })
})

describe('design, App: the context', () => {
  /** Runs `use` as the handler of a route and resolves to its answer. */
  async function inContext(use: (context: Context) => unknown, env?: unknown, platform?: Platform) {
    const { app, log } = service({ env: { FROM: 'options' } })
    const router = createRouter({ model: Thing, allowedFields: ['name'] })
    router.get('/run', async (_, context) => Response.json((await use(context)) ?? null))
    app.mount('/things', router)
    // Otherwise the platform would be handed the start-up too.
    await app.ready()
    const answer = await answerOf(await app.handle(request('GET', '/things/run'), env, platform))
    return { answer, log }
  }

  test("design, App: env is the runtime's where it gives one, else that of the options", async () => {
    expect((await inContext(({ env }) => env.FROM)).answer.body).toBe('options')
    expect((await inContext(({ env }) => env.FROM, { FROM: 'runtime' })).answer.body).toBe(
      'runtime',
    )
  })

  test('design, App: waitUntil hands the work to the platform, and its failure to the log alone', async () => {
    const kept: Promise<unknown>[] = []
    const platform = { waitUntil: (promise: Promise<unknown>) => void kept.push(promise) }
    const { answer, log } = await inContext(({ waitUntil }) => void waitUntil, undefined, platform)
    expect(answer.status).toBe(200)
    expect(kept).toHaveLength(0)
    const failing = await inContext(
      ({ waitUntil }) => {
        const full = new Error('the mailbox is full')
        waitUntil(Promise.reject(new Error('the mail bounced', { cause: full })))
        waitUntil(Promise.resolve('done'))
      },
      undefined,
      platform,
    )
    expect(failing.answer.status).toBe(200)
    expect(kept).toHaveLength(2)
    await Promise.all(kept)
    expect(log.lines).toHaveLength(0)
    const details = { error: 'the mail bounced: the mailbox is full' }
    expect(failing.log.lines).toMatchObject([
      { level: 'error', message: 'background work failed', details },
    ])
  })

  test('design, App: waitUntil works without a platform, and with what is no promise', async () => {
    const { answer, log } = await inContext(async (context) => {
      context.waitUntil(Promise.reject(new Error('the mail bounced')))
      context.waitUntil('done' as never)
      await new Promise((resolve) => setImmediate(resolve))
    })
    expect(answer.status).toBe(200)
    expect(log.lines).toHaveLength(1)
  })

  test('design, App: context.headers are added to the answer, failures and 404s included', async () => {
    const { app, send } = service()
    app.use(({ url }, { headers }) => {
      headers.set('X-Frame-Options', 'DENY')
      headers.append('Set-Cookie', 'a=1')
      headers.append('Set-Cookie', 'b=2')
      if (url.endsWith('/refused')) throw new HttpError(403, 'No.')
      return url.endsWith('/away') ? Response.redirect('http://localhost/') : undefined
    })
    app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'] }))
    for (const path of ['/things', '/things/xyz', '/nothing', '/refused', '/away']) {
      const { headers } = await send('GET', path)
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    }
  })

  test('design, App: context has the logger and the store of the app', async () => {
    const { answer, log } = await inContext(async ({ logger, store }) => {
      logger.warn('seen', { by: 'handler' })
      await store.collection(Thing).insert({ name: 'a' })
      return store.collection(Thing).count()
    })
    expect(answer.body).toBe(1)
    expect(log.lines).toEqual([{ level: 'warn', message: 'seen', details: { by: 'handler' } }])
  })
})

describe('design, App: start-up and shutdown', () => {
  test('design, App: ready() settles when tables exist, and the first request awaits it too', async () => {
    const { app, send } = service()
    app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'] }))
    await app.ready()
    expect((await send('GET', '/things')).records).toEqual([])
    const Late = defineModel('AppLate', { fields: { title: z.string() } })
    app.mount('/late', createRouter({ model: Late, allowedFields: ['title'] }))
    expect((await send('POST', '/late', { json: { title: 'a' } })).status).toBe(201)
  })

  test('design, App: close() may be called twice; requests afterwards are plain 503s', async () => {
    const { app, send } = service()
    app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'] }))
    await send('GET', '/things')
    await app.close()
    await app.close()
    expect((await send('GET', '/things')).body).toMatchObject({
      success: false,
      error: 'The service is unavailable. Try again shortly.',
    })
  })

  test('design, App: a store that cannot be prepared is asked again by the next request', async () => {
    const store = sqliteStore()
    const prepare = store.prepare.bind(store)
    let failures = 2
    store.prepare = (schemas) =>
      failures-- > 0 ? Promise.reject(new Error('not yet')) : prepare(schemas)
    const { app, send } = service({ store })
    app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'] }))
    expect((await send('GET', '/things')).status).toBe(500)
    expect((await send('GET', '/things')).status).toBe(500)
    expect((await send('GET', '/things')).status).toBe(200)
  })
})
