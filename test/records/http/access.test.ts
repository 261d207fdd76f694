import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  type AccessOptions,
  createApp,
  createRouter,
  defineModel,
  type Guard,
  HttpError,
  type RouterOptions,
  ref,
} from '../../../src/index.ts'
import { type Answer, service } from '../service.ts'

const Thing = defineModel('AccessThing', { fields: { name: z.string() } })
const Use = defineModel('AccessUse', { fields: { thing: ref('AccessThing') } })
const ID = 'a'.repeat(24)

const ROUTES = {
  list: ['GET', '/things'],
  query: ['QUERY', '/things'],
  create: ['POST', '/things'],
  read: ['GET', `/things/${ID}`],
  update: ['PATCH', `/things/${ID}`],
  remove: ['DELETE', `/things/${ID}`],
} as const
const ACTIONS = Object.keys(ROUTES) as (keyof typeof ROUTES)[]

/** Every request that a router may serve: HEAD goes with GET. */
const ASKED = ACTIONS.flatMap((action) => {
  const [method, path] = ROUTES[action]
  const methods = method === 'GET' ? ['GET', 'HEAD'] : [method]
  return methods.map((one) => [action, one, path] as const)
})
const NAMED = { json: { name: 'x' } }

/** `Allow` of a path, if the routes in `served` are there. */
function methodsOf(served: readonly (keyof typeof ROUTES)[], path: string): string {
  const there = ASKED.filter(([action, , at]) => at === path && served.includes(action))
  return there
    .map(([, method]) => method)
    .toSorted()
    .join(', ')
}

/** A path without methods is like any path that nobody serves. */
function expectAbsent({ status, headers }: Answer, allow: string): void {
  expect(status).toBe(allow === '' ? 404 : 405)
  expect(headers.get('allow') ?? '').toBe(allow)
}

/** What OPTIONS says of a path. */
function expectTold({ status, headers }: Answer, allow: string): void {
  expect(status).toBe(allow === '' ? 404 : 200)
  expect(headers.get('allow') ?? '').toBe(allow)
  expect(headers.has('accept-query')).toBe(allow.includes('QUERY'))
}

function things(options: Partial<RouterOptions<{ name: string }>> = {}) {
  const served = service()
  served.app.mount(
    '/things',
    createRouter({ model: Thing, allowedFields: ['name'], middlewares: [], ...options }),
  )
  return served
}

const refuse =
  (status: number): Guard =>
  () => {
    throw new HttpError(status, `Refused with ${status}.`)
  }

describe('next, access: false', () => {
  // Every choice of routes: 64 routers.
  const choices = ACTIONS.reduce<(keyof typeof ROUTES)[][]>(
    (found, action) => found.flatMap((some) => [some, [...some, action]]),
    [[]],
  )

  test.each(choices.map((served) => [served.join(' ') || 'nothing', served] as const))(
    'a router with %s serves that alone, and says so',
    async (_, served) => {
      const access = Object.fromEntries(ACTIONS.map((one) => [one, served.includes(one)]))
      const { send } = things({ access })
      for (const [action, method, path] of ASKED) {
        const answer = await send(
          method,
          path,
          method === 'POST' || method === 'PATCH' ? NAMED : {},
        )
        if (served.includes(action)) {
          expect(answer.status, `${method} ${path}`).not.toBe(405)
          expect(answer.body.error, `${method} ${path}`).not.toBe('Not found.')
        } else expectAbsent(answer, methodsOf(served, path))
      }
      for (const path of ['/things', `/things/${ID}`]) {
        expectTold(await send('OPTIONS', path), methodsOf(served, path))
      }
    },
  )

  test('nothing is written through a route that is off, nor through one that stands in for it', async () => {
    const { app, send } = things({ access: { create: false, update: false, remove: false } })
    const { _id } = await app.store.collection(Thing).insert({ name: 'a' })
    const headers = { 'X-HTTP-Method-Override': 'DELETE' }
    for (const [method, path] of [
      ['POST', '/things'],
      ['PATCH', `/things/${_id}`],
      ['DELETE', `/things/${_id}`],
      ['POST', `/things/${_id}`],
    ] as const) {
      for (const message of [{}, { headers }]) {
        const json = method === 'DELETE' ? {} : { json: { name: 'b' } }
        expect((await send(method, path, { ...json, ...message })).status).toBe(405)
      }
    }
    expect((await send('GET', '/things')).records).toEqual([{ _id, name: 'a' }])
  })

  test('an extra route stays, and adds its method to the path', async () => {
    const { app, send } = service()
    const router = createRouter({ model: Thing, allowedFields: [], access: { create: false } })
    router.post('/', () => new Response('own'))
    app.mount('/things', router)
    expect((await send('POST', '/things')).text).toBe('own')
    expect((await send('OPTIONS', '/things')).text).toBe('GET, HEAD, POST, QUERY')
  })
})

describe('next, access: guards', () => {
  test('run after the middlewares, in order, for their own route alone', async () => {
    const trace: string[] = []
    const noted =
      (name: string): Guard =>
      () =>
        void trace.push(name)
    const { send } = things({
      middlewares: [noted('router')],
      access: { create: [noted('first'), noted('second')], read: noted('read') },
    })
    const traced = async (method: string, path: string, json?: object) => {
      trace.splice(0)
      await send(method, path, json ? { json } : {})
      return trace.join(' ')
    }
    expect(await traced('POST', '/things', { name: 'a' })).toBe('router first second')
    expect(await traced('GET', `/things/${ID}`)).toBe('router read')
    expect(await traced('HEAD', `/things/${ID}`)).toBe('router read')
    for (const [method, path] of [
      ['GET', '/things'],
      ['QUERY', '/things'],
      ['DELETE', `/things/${ID}`],
      ['OPTIONS', '/things'],
      ['PUT', '/things'],
    ] as const) {
      expect(await traced(method, path, method === 'QUERY' ? {} : undefined)).toBe('router')
    }
  })

  test('refuse before anything is read, parsed or taken from the cache', async () => {
    const kept = new Map<string, string>()
    const cache = {
      get: async (key: string) => kept.get(key),
      set: async (key: string, value: string) => kept.set(key, value),
    }
    const { app, send } = service({ cache })
    let isOpen = true
    const guard: Guard = () => {
      if (!isOpen) throw new HttpError(403, 'No.')
    }
    app.mount(
      '/things',
      createRouter({ model: Thing, allowedFields: [], cache: true, access: { list: guard } }),
    )
    expect((await send('GET', '/things')).headers.get('x-cache')).toBe('MISS')
    expect((await send('GET', '/things')).headers.get('x-cache')).toBe('HIT')
    isOpen = false
    expect((await send('GET', '/things')).status).toBe(403)
    expect((await send('QUERY', '/things', { body: 'no JSON' })).status).toBe(403)
  })

  test('QUERY has those of the list, also sent as a POST, unless it has its own', async () => {
    const asPost = { json: {}, headers: { 'X-HTTP-Method-Override': 'QUERY' } }
    const statuses = async (access: AccessOptions) => {
      const { send } = things({ access, methodOverride: true })
      const answers = [
        await send('GET', '/things'),
        await send('QUERY', '/things', { json: {} }),
        await send('POST', '/things', asPost),
      ]
      return answers.map(({ status }) => status)
    }
    expect(await statuses({ list: refuse(401) })).toEqual([401, 401, 401])
    expect(await statuses({ list: refuse(401), query: refuse(403) })).toEqual([401, 403, 403])
    expect(await statuses({ list: refuse(401), query: true })).toEqual([401, 200, 200])
    expect(await statuses({ query: refuse(403) })).toEqual([200, 403, 403])
    expect(await statuses({ list: false })).toEqual([405, 405, 405])
    expect(await statuses({ query: false })).toEqual([200, 405, 405])
    expect(await statuses({ query: false, create: false })).toEqual([200, 405, 405])
    // Who may write does not decide who may read.
    expect(await statuses({ create: refuse(401) })).toEqual([200, 200, 200])
  })
})

describe('next, access: what is not known is a start-up error', () => {
  test.each<[string, unknown, string]>([
    ['an unknown route', { delete: false }, "'access' names 'delete', which is no route."],
    [
      'a misspelt one',
      { lst: false },
      "'access' names 'lst', which is no route. Did you mean 'list'?",
    ],
    [
      'undefined',
      { remove: undefined },
      "'access.remove' must be true, false, a guard or a list of guards",
    ],
    ['null', { remove: null }, "'access.remove' must be true, false, a guard or a list of guards"],
    ['text', { list: 'admin' }, "'access.list' must be true, false, a guard or a list of guards"],
    [
      'a list with a hole',
      { list: [undefined] },
      "'access.list' must be true, false, a guard or a list of guards",
    ],
    [
      'a list of lists',
      { list: [[() => {}]] },
      "'access.list' must be true, false, a guard or a list of guards",
    ],
    ['a function for all', () => {}, "'access' must be an object"],
    ['a list for all', [], "'access' must be an object"],
  ])('%s', (_, access, message) => {
    expect(() => things({ access: access as AccessOptions })).toThrow(
      `Router '/things': ${message}`,
    )
  })
})

const OPEN = 'Anyone can create, change and delete records at'

describe('next, access: who is told, and who is shown', () => {
  async function warnings(options: object): Promise<readonly string[]> {
    const lines: string[] = []
    const logger = {
      debug() {},
      info() {},
      error() {},
      warn: (line: string) => void lines.push(line),
    }
    const app = createApp({ store: sqliteStore(), logger })
    onTestFinished(() => app.close())
    app.mount('/a', createRouter({ model: Thing, allowedFields: ['name'], ...options }))
    app.mount('/b', createRouter({ model: Thing, allowedFields: ['name'], ...options }))
    await app.ready()
    return lines.map((line) => line.split('. Add guards')[0] ?? '')
  }

  test('start-up warns of the writes that nobody guards', async () => {
    const guard: Guard = () => {}
    expect(await warnings({})).toEqual([`${OPEN} /a, /b`])
    expect(await warnings({ access: { create: guard } })).toEqual([
      `${OPEN} /a (only change, delete), /b (only change, delete)`,
    ])
    expect(await warnings({ access: { create: [guard], update: false, remove: [] } })).toEqual([
      `${OPEN} /a (only delete), /b (only delete)`,
    ])
    expect(await warnings({ access: { create: guard, update: guard, remove: false } })).toEqual([])
    expect(await warnings({ access: { create: false, update: false, remove: false } })).toEqual([])
    expect(await warnings({ access: { list: guard, read: guard } })).toHaveLength(1)
  })

  test.each<[string, AccessOptions, boolean]>([
    ['no guards', {}, true],
    ['guards of writes', { create: refuse(401), update: refuse(401), remove: false }, true],
    ['guards of the list', { list: refuse(401) }, false],
    ['guards of the list alone, and an open QUERY', { list: refuse(401), query: true }, false],
    ['guards of single records', { read: refuse(401) }, false],
    ['no list', { list: false }, false],
    ['no single records', { read: false }, false],
  ])('a router without a scope and with %s', async (_, access, isShown) => {
    const { app, send } = service()
    app.mount(
      '/own',
      createRouter({ model: Thing, allowedFields: [], scope: () => ({ name: 'own' }) }),
    )
    app.mount('/all', createRouter({ model: Thing, allowedFields: [], middlewares: [], access }))
    app.mount(
      '/uses',
      createRouter({
        model: Use,
        allowedFields: [],
        middlewares: [],
        search: ['thing.name'],
        onGet: () => ({ populate: 'thing' }),
      }),
    )
    const { _id } = await app.store.collection(Thing).insert({ name: 'other' })
    await app.store.collection(Use).insert({ thing: _id })
    const thing = isShown ? { _id, name: 'other' } : null
    expect((await send('GET', '/uses')).records).toMatchObject([{ thing }])
    expect((await send('GET', '/uses?s=other')).records).toHaveLength(isShown ? 1 : 0)
  })
})
