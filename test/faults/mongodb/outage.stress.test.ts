import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import {
  type App,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
} from '../../../src/index.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { authOptions, password, userModel } from '../../auth/accounts.ts'
import { type ReplicaSet, startReplicaSet } from '../../services/replica-set.ts'
import { withService } from '../../services/shared.ts'
import { notes } from './notes.ts'

/** Each call of the port. */
function calls(store: Store): Record<string, () => Promise<unknown>> {
  const collection = store.collection(notes)
  const one = { op: 'eq', field: '_id', value: 'a' } as const
  return {
    prepare: () => store.prepare([notes]),
    find: () => collection.find({ filter: everything, sort: [], limit: 5 }),
    count: () => collection.count(everything),
    estimate: () => collection.estimate(),
    insert: () => collection.insert({ _id: crypto.randomUUID(), n: 1 }),
    update: () => collection.update(one, { increment: { n: 1 } }),
    updateMany: () => collection.updateMany(everything, { set: { n: 2 } }),
    delete: () => collection.delete(one),
  }
}

/** How each call ends while the database is gone. */
async function endings(store: Store): Promise<Record<string, string>> {
  const startedAt = performance.now()
  const answers = Object.entries(calls(store)).map(async ([name, call]) => {
    const error = await call().catch((reason: unknown) => reason)
    const seconds = (performance.now() - startedAt) / 1000
    const refused = error instanceof StoreUnavailable && error.cause instanceof Error
    return [name, refused && seconds < 5 ? 'refused in time' : `${error} after ${seconds} s`]
  })
  return Object.fromEntries(await Promise.all(answers))
}

/** Seconds until a write succeeds. */
async function secondsToRecover(store: Store): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    try {
      await calls(store).insert?.()
      return (performance.now() - startedAt) / 1000
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || performance.now() - startedAt > 30_000)
        throw error
    }
  }
}

/** An app with records and accounts on the database at `url`, and the tokens of somebody who is signed in. */
async function accounts(
  url: string,
  error: (message: string, details?: unknown) => void,
  isUp = true,
): Promise<{ app: App; tokens: Tokens }> {
  const quiet = () => {}
  const store = mongoStore({ url, database: `outage-${crypto.randomUUID()}` })
  const app = createApp({ store, logger: { debug: quiet, info: quiet, warn: quiet, error } })
  const User = userModel()
  app.mount('/auth', createAuthRouter(authOptions(User, [])).router)
  const Note = defineModel('Note', { fields: { text: z.string() } })
  app.mount('/notes', createRouter({ model: Note, allowedFields: ['text'], middlewares: [] }))
  if (!isUp) return { app, tokens: { token: '', refreshToken: '' } }
  const response = await app.handle(post('/auth/register', { email: 'ann@example.com', password }))
  const { data } = (await response.json()) as { data: Tokens }
  return { app, tokens: data }
}

interface Tokens {
  readonly token: string
  readonly refreshToken: string
}

/** One request to each route that asks the database. */
function requests({ token, refreshToken }: Tokens): Request[] {
  const headers = { authorization: `Bearer ${token}` }
  const id = 'f'.repeat(24)
  const get = (path: string) => new Request(`http://localhost${path}`, { headers })
  const who = { identifier: 'ann@example.com' }
  return [
    ...['/notes', `/notes/${id}`, '/notes?countStrategy=none', '/auth/me', '/auth/sessions'].map(
      get,
    ),
    post('/notes', { filter: {} }, 'QUERY'),
    post('/notes', { text: 'a' }),
    post(`/notes/${id}`, { text: 'a' }, 'PATCH'),
    new Request(`http://localhost/notes/${id}`, { method: 'DELETE' }),
    post('/auth/login', { ...who, password }),
    post('/auth/register', { email: 'bob@example.com', password }),
    post('/auth/password/forgot', who),
    post('/auth/password/reset', { ...who, code: '000000', newPassword: 'staple battery horse' }),
    post('/auth/token/refresh', { refreshToken }),
    post('/auth/logout', { refreshToken }),
  ]
}

function post(path: string, body: object, method = 'POST'): Request {
  const headers = { 'content-type': 'application/json' }
  return new Request(`http://localhost${path}`, { method, headers, body: JSON.stringify(body) })
}

await withService('mongod', () => {
  describe('a store whose database is gone', { timeout: 300_000 }, () => {
    let set: ReplicaSet
    let store: Store
    const allRefused = Object.fromEntries(
      Object.keys(calls(mongoStore({ url: 'mongodb://unused' }))).map((name) => [
        name,
        'refused in time',
      ]),
    )

    beforeAll(async () => {
      set = await startReplicaSet(1)
      store = mongoStore({ url: set.url })
      await store.prepare([notes])
    }, 300_000)
    afterAll(async () => {
      await store.close()
      await set.stop()
    })

    it('answers every call within five seconds when the database hangs, and recovers', async () => {
      const [member] = set.members
      member?.signal('SIGSTOP')
      expect(await endings(store)).toEqual(allRefused)
      member?.signal('SIGCONT')
      expect(await secondsToRecover(store)).toBeLessThan(20)
    })

    it('answers every call within five seconds when the database dies, and recovers', async () => {
      const [member] = set.members
      member?.signal('SIGKILL')
      expect(await endings(store)).toEqual(allRefused)
      const restarted = member?.restart()
      expect(await secondsToRecover(store)).toBeLessThan(20)
      await restarted
    })

    it('is a 503 with Retry-After on every route over it, and one line a second in the log', async () => {
      const lines: [string, unknown][] = []
      const { app, tokens } = await accounts(set.url, (message, details) =>
        lines.push([message, details]),
      )
      const [member] = set.members
      member?.signal('SIGSTOP')
      const answers = await Promise.all(requests(tokens).map((request) => app.handle(request)))
      const seen = answers.map(({ status, headers }) => [status, headers.get('retry-after')])
      member?.signal('SIGCONT')
      expect(seen).toEqual(requests(tokens).map(() => [503, '5']))
      for (const answer of answers) {
        const { error } = (await answer.json()) as { error: string }
        expect(error).toBe('The service is unavailable. Try again shortly.')
      }
      expect(lines.map(([message]) => message)).toEqual(lines.map(() => 'service unavailable'))
      expect(lines.length).toBeLessThan(6)
      await secondsToRecover(store)
      await app.close()
    })

    it('is a 503 after requestTimeoutMs, where that is sooner', async () => {
      const lines: unknown[] = []
      const error = (...line: unknown[]) => lines.push(line)
      const logger = { debug() {}, info() {}, warn() {}, error }
      const app = createApp({ store, logger, requestTimeoutMs: 500 })
      const Note = defineModel('Note', { fields: { text: z.string() } })
      app.mount('/notes', createRouter({ model: Note, allowedFields: [], middlewares: [] }))
      await app.ready()
      const [member] = set.members
      member?.signal('SIGSTOP')
      const { status } = await app.handle(new Request('http://localhost/notes'))
      member?.signal('SIGCONT')
      expect(status).toBe(503)
      // The driver itself notices after more than a second.
      expect(JSON.stringify(lines)).toContain('the request took longer than 500 ms')
      await secondsToRecover(store)
    })

    it('is a 503 for who comes before an app could start', async () => {
      const [member] = set.members
      member?.signal('SIGSTOP')
      const { app } = await accounts(set.url, () => {}, false)
      const { status } = await app.handle(new Request('http://localhost/notes'))
      member?.signal('SIGCONT')
      expect(status).toBe(503)
      await secondsToRecover(store)
      expect((await app.handle(new Request('http://localhost/notes'))).status).toBe(200)
      await app.close()
    })

    it('connects later when the database was down at first', async () => {
      const [member] = set.members
      member?.signal('SIGKILL')
      const early = mongoStore({ url: set.url })
      expect(await endings(early)).toEqual(allRefused)
      const restarted = member?.restart()
      expect(await secondsToRecover(early)).toBeLessThan(20)
      await restarted
      await early.close()
    })
  })
})
