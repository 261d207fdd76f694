/** `idempotency`, in one process. Kills, services and crowds: the slow tests beside this. */

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { memoryCache } from '../../adapters/caches/memory.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { idempotency } from '../../src/guards/index.ts'
import {
  createAuthRouter,
  createRouter,
  defineModel,
  type Guard,
  HttpError,
  userFields,
} from '../../src/index.ts'
import { ownSchema } from '../../src/model/own-records.ts'
import { everything } from '../../src/ports/store/filter.ts'
import { StoreUnavailable } from '../../src/ports/store/store-errors.ts'
import { cheap } from '../auth/accounts.ts'
import { errorOf, Note, notes } from './notes.ts'

const keyed = (key: string, text = 'one', headers = {}) => ({
  headers: { 'Idempotency-Key': key, ...headers },
  json: { text },
})
const RUNNING =
  'A request with this Idempotency-Key is in progress, or ended without a known result.'

/** A hook that holds its requests until `proceed` is called; `isThere` resolves when one has arrived. */
function gate(): { waiting: () => Promise<void>; isThere: Promise<void>; proceed: () => void } {
  let proceed = () => {}
  const open = new Promise<void>((resolve) => {
    proceed = resolve
  })
  let arrived = () => {}
  const isThere = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const waiting = () => {
    arrived()
    return open
  }
  return { waiting, isThere, proceed: () => proceed() }
}

const places = {
  'in the store': () => ({}),
  'in a cache': () => ({ cache: memoryCache() }),
}

describe.each(Object.entries(places))('idempotency %s', (_, place) => {
  const guard = () => idempotency({ ttlSeconds: 60, ...place() })

  it('claims a key once where the app and the router have the guard', async () => {
    const required = idempotency({ ttlSeconds: 60, required: true, ...place() })
    const { ask, count } = notes([guard()], {}, [required])
    const ids = []
    for (const _ of [1, 2]) {
      const response = await ask('POST', '/own', keyed('"both"'))
      ids.push((await response.json()).data?._id)
    }
    expect(ids).toEqual([expect.any(String), ids[0]])
    expect(await count()).toBe(1)
    expect((await ask('POST', '/own', { json: { text: 'one' } })).status).toBe(400)
  })

  it('repeats the status, the headers and the body, and writes once', async () => {
    const { ask, count } = notes([guard()])
    const first = await ask('POST', '/notes', keyed('"a-1"'))
    const again = await ask('POST', '/notes', keyed('"a-1"'))
    expect([first.status, again.status]).toEqual([201, 201])
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(await again.text()).toBe(await first.text())
    expect(await count()).toBe(1)
    // The same key, spelled as most clients do.
    expect((await ask('POST', '/notes', keyed('a-1'))).headers.has('idempotency-replayed')).toBe(
      true,
    )
  })

  it('carries out other keys, other paths and requests without a key', async () => {
    const { ask, count } = notes([guard()])
    await ask('POST', '/notes', keyed('a'))
    await ask('POST', '/notes', keyed('b'))
    await ask('POST', '/own', keyed('a'))
    await ask('POST', '/notes', { json: { text: 'one' } })
    await ask('POST', '/notes', { json: { text: 'one' } })
    expect(await count()).toBe(5)
    expect((await ask('GET', '/notes', { headers: { 'Idempotency-Key': 'a' } })).status).toBe(200)
  })

  it('refuses another body with the same key, and a malformed key', async () => {
    const { ask, count } = notes([guard()])
    await ask('POST', '/notes', keyed('a'))
    const other = await ask('POST', '/notes', keyed('a', 'two'))
    expect([other.status, await errorOf(other)]).toEqual([
      422,
      'This Idempotency-Key was used for another request.',
    ])
    for (const key of ['', '""', '"a', 'a b', 'a, b', '"é"', 'x'.repeat(256), '"a";p=1']) {
      const response = await ask('POST', '/notes', keyed(key, 'three'))
      expect([key, response.status, await errorOf(response)]).toEqual([
        key,
        400,
        'The Idempotency-Key must be a string of 1 to 255 characters.',
      ])
    }
    expect(await count()).toBe(1)
  })

  it.each([
    ['before', 'validate'],
    ['after', 'runAfterCreate'],
  ])('refuses a repetition while the first is in progress, %s its write', async (_, hook) => {
    const { isThere, proceed, waiting } = gate()
    const { ask, count } = notes([guard()], {}, [], { [hook]: waiting })
    const first = ask('POST', '/notes', keyed('a'))
    await isThere
    const second = await ask('POST', '/notes', keyed('a'))
    expect([second.status, await errorOf(second)]).toEqual([409, RUNNING])
    expect(second.headers.get('retry-after')).toBe('1')
    proceed()
    expect((await first).status).toBe(201)
    expect((await ask('POST', '/notes', keyed('a'))).status).toBe(201)
    expect(await count()).toBe(1)
  })

  it('1,000 requests at the same time create one record', async () => {
    const { ask, count } = notes([guard()], { maxInFlight: 0 })
    const all = Array.from({ length: 1000 }, () => ask('POST', '/notes', keyed('a')))
    const statuses = (await Promise.all(all)).map(({ status }) => status)
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([])
    expect(statuses).toContain(201)
    expect(await count()).toBe(1)
    const last = await ask('POST', '/notes', keyed('a'))
    expect([last.status, last.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
  })

  it('repeats failures of your own routes too, which may have written something', async () => {
    let times = 0
    const { app, ask } = notes([guard()])
    const router = createRouter({ model: Note, middlewares: [] })
    router.post('/fail', () => {
      times += 1
      throw new HttpError(418, 'No.', { headers: { 'X-Tea': 'yes' } })
    })
    app.mount('/more', router)
    const first = await ask('POST', '/more/fail', keyed('a'))
    const again = await ask('POST', '/more/fail', keyed('a'))
    expect([again.status, again.headers.get('x-tea')]).toEqual([418, 'yes'])
    expect(await again.text()).toBe(await first.text())
    expect(times).toBe(1)
  })

  it.each([400, 409, 418, 500, 503])(
    'a first try that wrote nothing frees the key: a %i of a hook before the write',
    async (status) => {
      let isBroken = true
      const validate = () => {
        if (isBroken) throw new HttpError(status, 'Later.')
      }
      const { ask, count } = notes([guard()], {}, [], { validate })
      expect((await ask('POST', '/notes', keyed('a'))).status).toBe(status)
      isBroken = false
      const second = await ask('POST', '/notes', keyed('a'))
      const third = await ask('POST', '/notes', keyed('a'))
      expect([second.status, second.headers.has('idempotency-replayed')]).toEqual([201, false])
      expect([third.status, third.headers.has('idempotency-replayed')]).toEqual([201, true])
      expect(await count()).toBe(1)
    },
  )

  it('a failure after the write is repeated, and nothing is written twice', async () => {
    const runAfterCreate = () => {
      throw new Error('broken')
    }
    const { ask, count } = notes([guard()], {}, [], { runAfterCreate, strictAfterCreate: true })
    for (const replayed of [false, true]) {
      const { status, headers } = await ask('POST', '/notes', keyed('a'))
      expect([status, headers.has('idempotency-replayed')]).toEqual([500, replayed])
    }
    expect(await count()).toBe(1)
  })

  it.each([401, 403, 429])('a request that got a %i may be sent again', async (status) => {
    let isRefused = true
    const refusing: Guard = () => {
      if (isRefused) throw new HttpError(status, 'Not now.')
    }
    const { ask, count } = notes([guard(), refusing])
    expect((await ask('POST', '/notes', keyed('a'))).status).toBe(status)
    isRefused = false
    expect((await ask('POST', '/notes', keyed('a'))).status).toBe(201)
    expect((await ask('POST', '/notes', keyed('a'))).status).toBe(201)
    expect(await count()).toBe(1)
  })

  it('nobody can know what a 503 has written: the key is not used again', async () => {
    const { app, ask, count } = notes([guard()])
    const router = createRouter({ model: Note, allowedFields: ['text'], middlewares: [] })
    router.post('/lost', async (request, { store }) => {
      await store.collection(Note).insert((await request.json()) as { text: string })
      throw new StoreUnavailable('the reply is lost')
    })
    app.mount('/more', router)
    expect((await ask('POST', '/more/lost', keyed('a'))).status).toBe(503)
    const again = await ask('POST', '/more/lost', keyed('a'))
    expect([again.status, await errorOf(again)]).toEqual([409, RUNNING])
    expect(await count()).toBe(1)
  })

  it('after a 503 for its time, the response of a request is kept when there is one', async () => {
    let done = () => {}
    const isDone = new Promise<void>((resolve) => {
      done = resolve
    })
    const seeing: Guard = (_, context) =>
      context.onResponse((_response, isLate) => {
        if (!isLate) done()
      })
    const { app, ask, count } = notes([seeing, guard()], { requestTimeoutMs: 250 })
    const router = createRouter({ model: Note, allowedFields: ['text'], middlewares: [] })
    router.post('/slow', async (request) => {
      const { text } = (await request.json()) as { text: string }
      await app.store.collection(Note).insert({ text })
      while (!request.signal.aborted) await sleep(1)
      return Response.json({ success: true }, { status: 201 })
    })
    app.mount('/more', router)
    await app.ready()
    expect((await ask('POST', '/more/slow', keyed('a'))).status).toBe(503)
    await isDone
    const again = await ask('POST', '/more/slow', keyed('a'))
    expect([again.status, await again.text()]).toEqual([201, '{"success":true}'])
    expect(await count()).toBe(1)
  })

  it('a key belongs to a user', async () => {
    const signedIn: Guard = (request) => {
      request.auth = { userId: request.headers.get('x-user') ?? '' }
    }
    const { ask, count } = notes([signedIn, guard()])
    const texts = []
    for (const user of ['ann', 'bob', 'ann']) {
      const headers = { 'X-User': user, Authorization: crypto.randomUUID() }
      texts.push(await (await ask('POST', '/notes', keyed('a', 'one', headers))).text())
    }
    expect(texts[2]).toBe(texts[0])
    expect(texts[1]).not.toBe(texts[0])
    expect(await count()).toBe(2)
  })

  it('without a guard that authenticates, a key belongs to what the client sent', async () => {
    const { ask, count } = notes([guard()])
    for (const headers of [
      { Authorization: 'Bearer a' },
      { Authorization: 'Bearer b' },
      { Cookie: 'session=a' },
      { 'X-API-Key': 'a' },
    ]) {
      const response = await ask('POST', '/notes', keyed('a', 'one', headers))
      expect(response.headers.has('idempotency-replayed')).toBe(false)
    }
    expect(await count()).toBe(4)
  })

  it('recognises a form by its key: each time it is sent with other boundaries', async () => {
    let times = 0
    const { app } = notes([guard()])
    const router = createRouter({ model: Note, middlewares: [] })
    router.post('/form', async (request) => {
      times += 1
      return Response.json({ text: (await request.formData()).get('text') })
    })
    app.mount('/more', router)
    for (const isFirst of [true, false]) {
      const body = new FormData()
      body.set('text', 'one')
      const headers = { 'Idempotency-Key': 'a' }
      const url = 'http://localhost/more/form'
      const response = await app.handle(new Request(url, { method: 'POST', headers, body }))
      expect(await response.json()).toEqual({ text: 'one' })
      expect(response.headers.has('idempotency-replayed')).toBe(!isFirst)
    }
    expect(times).toBe(1)
  })

  it('does not keep what nobody may store, nor carries it out again', async () => {
    const { app, ask, messages } = notes([guard()])
    const router = createRouter({ model: Note, middlewares: [] })
    const headers = { 'Cache-Control': 'no-store' }
    router.post('/token', () => Response.json({ token: crypto.randomUUID() }, { headers }))
    app.mount('/more', router)
    expect((await ask('POST', '/more/token', keyed('a'))).status).toBe(200)
    expect((await ask('POST', '/more/token', keyed('a'))).status).toBe(409)
    expect(messages.filter((message) => message.startsWith('idempotency'))).toEqual([])
  })

  it('keeps no tokens of account routes', async () => {
    const User = defineModel('GuardedUser', { fields: userFields(), unique: ['email'] })
    const { app, ask } = notes([guard()])
    const token = { secret: 'a secret for tests, 32 characters or more' }
    app.mount('/auth', createAuthRouter({ model: User, token, password: cheap }).router)
    const registration = {
      headers: { 'Idempotency-Key': 'a' },
      json: { email: 'ann@example.com', password: 'a long enough password' },
    }
    const { json } = registration
    const wrong = { ...registration, json: { ...json, password: 'not this one' } }
    expect((await ask('POST', '/auth/register', registration)).status).toBe(201)
    expect(await errorOf(await ask('POST', '/auth/register', registration))).toBe(RUNNING)
    expect((await ask('POST', '/auth/login', wrong)).status).toBe(401)
    expect((await ask('POST', '/auth/login', registration)).status).toBe(200)
    expect(await errorOf(await ask('POST', '/auth/login', registration))).toBe(RUNNING)
  })

  it('repeats a DELETE and a PATCH as well', async () => {
    const { app, ask } = notes([guard()])
    const { _id } = await app.store.collection(Note).insert({ text: 'one' })
    for (const method of ['PATCH', 'DELETE']) {
      const first = await ask(method, `/notes/${_id}`, keyed(method))
      const again = await ask(method, `/notes/${_id}`, keyed(method))
      expect([first.status, again.status]).toEqual([200, 200])
      expect(await again.text()).toBe(await first.text())
    }
  })

  it('repeats a response without a body', async () => {
    const { app, ask } = notes([guard()])
    const router = createRouter({ model: Note, middlewares: [] })
    router.post('/empty', () => new Response(null, { status: 204 }))
    app.mount('/more', router)
    const [first, again] = [
      await ask('POST', '/more/empty', keyed('a')),
      await ask('POST', '/more/empty', keyed('a')),
    ]
    expect([first.status, again.status, await again.text()]).toEqual([204, 204, ''])
  })
})

describe('idempotency', () => {
  it('in the store, refuses another body also while the first request is in progress', async () => {
    const { isThere, proceed, waiting } = gate()
    const { ask } = notes([idempotency({ ttlSeconds: 60 })], {}, [], { validate: waiting })
    const first = ask('POST', '/notes', keyed('a'))
    await isThere
    expect((await ask('POST', '/notes', keyed('a', 'two'))).status).toBe(422)
    proceed()
    expect((await first).status).toBe(201)
  })

  it('forgets a key when its time is up', async () => {
    let at = Date.UTC(2024, 2, 1)
    const { ask, count } = notes([idempotency({ ttlSeconds: 60 })], { now: () => at })
    await ask('POST', '/notes', keyed('a'))
    at += 59_000
    await ask('POST', '/notes', keyed('a'))
    expect(await count()).toBe(1)
    at += 1000
    const again = await ask('POST', '/notes', keyed('a', 'two'))
    expect([again.status, again.headers.has('idempotency-replayed')]).toEqual([201, false])
    expect(await count()).toBe(2)
  })

  it('removes what is over in a process that ends before it has had many keys', async () => {
    const store = sqliteStore()
    const kept = store.collection(ownSchema('fieldgate_idempotency_keys', {}))
    let at = Date.UTC(2024, 2, 1)
    const { ask } = notes([idempotency({ ttlSeconds: 60 })], { store, now: () => at })
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.99)
    onTestFinished(() => random.mockRestore())
    for (const key of ['a', 'b', 'c']) await ask('POST', '/notes', keyed(key))
    at += 61_000
    random.mockReturnValue(0.01)
    await ask('POST', '/notes', keyed('d'))
    await expect.poll(() => kept.count(everything)).toBe(1)
  })

  it('demands a key if it is required, for writes alone', async () => {
    const { ask } = notes([idempotency({ ttlSeconds: 60, required: true })])
    const response = await ask('POST', '/notes', { json: { text: 'one' } })
    expect([response.status, await errorOf(response)]).toEqual([
      400,
      'An Idempotency-Key is required.',
    ])
    for (const method of ['GET', 'QUERY', 'OPTIONS']) {
      expect((await ask(method, '/notes')).status).toBe(200)
    }
  })

  it('carries nothing out while the cache with the keys cannot be reached', async () => {
    const cache = {
      ...memoryCache(),
      increment: async () => {
        throw new Error('ECONNREFUSED')
      },
    }
    const { ask, count } = notes([idempotency({ ttlSeconds: 60, cache })])
    expect((await ask('POST', '/notes', keyed('a'))).status).toBe(503)
    expect(await count()).toBe(0)
  })
})
