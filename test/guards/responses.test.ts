import { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { ControllerSets } from '../../extras/legacy/index.ts'
import { batch } from '../../src/batch/index.ts'
import { createRouter, type Guard } from '../../src/index.ts'
import { Note, notes } from './notes.ts'
import { callsOf, type Loose, namesOf, refusalsBy } from './responses.ts'

/** What Express and Fastify add to node:http; test/express takes the names from Express itself. */
const EXPRESS =
  'append attachment clearCookie code contentType cookie download format get header json jsonp links locals location redirect render req send sendFile sendStatus sendfile set status statusCode statusMessage type vary'
const ofResponses = [...namesOf(ServerResponse.prototype), ...EXPRESS.split(' ')]
// What a guard may call on a Request is not there on a request of node:http.
const ofRequests = namesOf(IncomingMessage.prototype)

/** The statuses of a read and a write behind `guard`, which nothing has been written by. */
async function behind(guard: Guard) {
  const on = notes([], {}, [guard])
  const read = await on.ask('GET', '/own')
  const written = await on.ask('POST', '/own', { json: { text: 'a' } })
  expect(await on.count()).toBe(0)
  await on.app.close()
  return { statuses: [read.status, written.status], messages: on.messages }
}

describe('a guard that responds as in Express lets no request through', () => {
  test.each(ofResponses.map((name) => [name]))('by context.%s', async (name) => {
    for (const guard of [...refusalsBy(name), ...refusalsBy(name).map(swallowed).slice(2)])
      expect([name, String(guard), (await behind(guard)).statuses]).toEqual([
        ...[name, String(guard)],
        [500, 500],
      ])
  })

  test.each(ofRequests.map((name) => [name]))('by request.%s()', async (name) => {
    for (const guard of callsOf(name)) expect((await behind(guard)).statuses).toEqual([500, 500])
  })

  test.each<readonly [habit: string, guard: Guard]>([
    ['status().json()', (_, res: Loose) => res.status(401).json({ error: 'x' })],
    ['sendStatus()', (_, res: Loose) => void res.sendStatus(401)],
    ['code().send() of Fastify', (_, res: Loose) => res.code(401).send()],
    [
      'statusCode and end()',
      (_, res: Loose) => {
        res.statusCode = 401
        res.end('Unauthorized')
      },
    ],
    ['end()', (_, res: Loose) => res.end()],
    [
      'a wrapper of any parameters',
      (
        (middleware: Loose) =>
        (...given: Loose[]) =>
          Promise.resolve(middleware(...given))
      )(async (_: Loose, res: Loose, next: Loose) => (res ? res.status(401).end() : next())),
    ],
    ['a caught error', swallowed((_, res: Loose) => res.status(401).json({}))],
  ])('with the line to write instead in the log: %s', async (_, guard) => {
    const errors: string[] = []
    const logger = {
      debug() {},
      info() {},
      warn() {},
      error: (...line: unknown[]) => void errors.push(JSON.stringify(line, reveal)),
    }
    const on = notes([guard], { logger })
    expect((await on.ask('GET', '/notes')).status).toBe(500)
    expect(errors.join()).toContain("throw new HttpError(401, '…')")
    expect(errors.join()).toContain('context.headers.set(name, value)')
  })

  test('in app.use, batches, access and handlers of ControllerSets', async () => {
    const guard: Guard = (_, res: Loose) => {
      res.statusCode = 401
    }
    const only: Guard = (request, context) =>
      request.url.endsWith('/notes') ? guard(request, context) : undefined
    const on = notes([only])
    on.app.mount('/batch', batch())
    const operations = [{ method: 'POST', path: '/notes', body: { text: 'a' } }]
    expect((await on.ask('POST', '/batch', { json: { operations } })).status).toBe(500)
    expect((await on.ask('POST', '/notes', { json: { text: 'a' } })).status).toBe(500)
    const options = { model: Note, allowedFields: ['text'] as const }
    on.app.mount(
      '/access',
      createRouter({ ...options, middlewares: [], access: { create: guard } }),
    )
    expect((await on.ask('POST', '/access', { json: { text: 'a' } })).status).toBe(500)
    for (const each of [guard, swallowed(guard), () => false as never]) {
      const sets = new ControllerSets({ ...options, middlewares: [each] })
      const router = createRouter({ ...options, middlewares: [] })
      router.post('/set', sets.create)
      const path = `/set${Math.random()}`
      on.app.mount(path, router)
      expect((await on.ask('POST', `${path}/set`, { json: { text: 'a' } })).status).toBe(500)
    }
    expect(await on.count()).toBe(0)
  })

  test('on which everything else works: what contexts have, symbols, and what consoles read', async () => {
    const { inspect } = await import('node:util')
    const mark = Symbol('mark')
    const on = notes([
      async (_, context: Loose) => {
        context[mark] = 1
        context.headers.set('X-A', inspect(context) === '' ? '' : 'b')
        context.onResponse(() => undefined)
        expect([context[mark], context.unknown, 'status' in context]).toEqual([1, undefined, false])
        expect([String(context), JSON.stringify(context)]).toHaveLength(2)
        expect(await context).toBe(context)
        expect(context).toEqual(context)
      },
    ])
    const { status, headers } = await on.ask('GET', '/notes')
    expect([status, headers.get('x-a')]).toEqual([200, 'b'])
  })
})

/** `guard`, which catches its own errors and goes on. */
function swallowed(guard: Guard): Guard {
  return async (request, context) => {
    try {
      return await guard(request, context)
    } catch {
      return undefined
    }
  }
}

function reveal(_: string, value: unknown): unknown {
  return value instanceof Error ? String(value) : value
}
