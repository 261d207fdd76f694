import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { type Gate, gateTo } from '../../services/gate.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { notes } from '../mongodb/notes.ts'

/** Each call of the port. */
function calls(store: Store): Record<string, () => Promise<unknown>> {
  const collection = store.collection(notes)
  const one = { op: 'eq', field: '_id', value: 'a' } as const
  return {
    prepare: () => store.prepare([notes]),
    find: () => collection.find({ filter: everything, sort: [], limit: 5 }),
    count: () => collection.count(everything, { timeLimitMs: 60_000 }),
    estimate: () => collection.estimate(),
    insert: () => collection.insert({ _id: crypto.randomUUID(), n: 1 }),
    update: () => collection.update(one, { increment: { n: 1 } }),
    updateMany: () => collection.updateMany(everything, { set: { n: 2 } }),
    delete: () => collection.delete(one),
    write: async () => store.write?.([{ in: notes, require: one, exists: false }]),
  }
}

/** How fifty of each call end while the database is gone. */
async function endings(store: Store): Promise<ReadonlySet<string>> {
  const startedAt = performance.now()
  const many = Array.from({ length: 50 }, () => Object.entries(calls(store))).flat()
  const all = many.map(async ([name, call]) => {
    const error = await call().catch((reason: unknown) => reason)
    const seconds = (performance.now() - startedAt) / 1000
    const isRefused = error instanceof StoreUnavailable && error.cause instanceof Error
    return isRefused && seconds < PATIENCE
      ? 'refused in time'
      : `${name}: ${error} after ${seconds} s`
  })
  return new Set(await Promise.all(all))
}

/** Seconds in which calls are refused: two to five, and more beside other work. */
const PATIENCE = 20

/** Seconds until a write succeeds. */
async function secondsToRecover(store: Store): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    try {
      await calls(store).insert?.()
      return (performance.now() - startedAt) / 1000
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || performance.now() - startedAt > 90_000)
        throw error
    }
  }
}

await withService('postgres', ({ url }) => {
  const schema = freshSchemas(url)()

  describe('a store whose database is gone', { timeout: 300_000 }, () => {
    let gate: Gate
    let address: string
    let store: Store
    const allRefused = new Set(['refused in time'])

    beforeAll(async () => {
      gate = await gateTo(url)
      address = url.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${gate.port}`)
      store = postgresStore({ url: address, schema })
      await store.prepare([notes])
    })
    afterAll(async () => {
      await gate.open()
      await store.close()
      await gate.shut()
    })

    it('answers every call within seconds when the database hangs, and recovers', async () => {
      gate.stick()
      expect(await endings(store)).toEqual(allRefused)
      await gate.open()
      expect(await secondsToRecover(store)).toBeLessThan(60)
    })

    it('answers every call within seconds when nothing listens, and recovers', async () => {
      await gate.shut()
      expect(await endings(store)).toEqual(allRefused)
      await gate.open()
      expect(await secondsToRecover(store)).toBeLessThan(60)
    })

    it('connects later when the database was down at first', async () => {
      await gate.shut()
      const early = postgresStore({ url: address, schema })
      expect(await endings(early)).toEqual(allRefused)
      await gate.open()
      expect(await secondsToRecover(early)).toBeLessThan(60)
      await early.close()
    })

    it('is a 503 with Retry-After on every route over it', async () => {
      const quiet = { debug() {}, info() {}, warn() {}, error() {} }
      const app = createApp({ store: postgresStore({ url: address, schema }), logger: quiet })
      const Note = defineModel('OutageNote', { fields: { text: z.string() } })
      app.mount('/notes', createRouter({ model: Note, allowedFields: ['text'], middlewares: [] }))
      await app.ready()
      await gate.shut()
      const body = JSON.stringify({ text: 'a' })
      const headers = { 'content-type': 'application/json' }
      const requests = [
        new Request('http://localhost/notes'),
        new Request(`http://localhost/notes/${'f'.repeat(24)}`),
        new Request('http://localhost/notes', { method: 'POST', headers, body }),
      ]
      const answers = await Promise.all(requests.map((request) => app.handle(request)))
      await gate.open()
      expect(answers.map(({ status, headers: sent }) => [status, sent.get('retry-after')])).toEqual(
        requests.map(() => [503, '5']),
      )
      await secondsToRecover(store)
      await app.close()
    })
  })
})
