/**
 * Keys whose first request ended without a response: what the store then says decides.
 *
 * @module
 */

import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { batch } from '../../src/batch/index.ts'
import { idempotency } from '../../src/guards/index.ts'
import { createApp, createRouter, defineModel, type Store } from '../../src/index.ts'
import { StoreUnavailable } from '../../src/ports/store/store-errors.ts'

const Order = defineModel('OutcomeOrder', {
  fields: { code: z.string().max(20), count: z.int().default(1) },
  unique: ['code'],
  timestamps: true,
})

/** What the database does with the next write of several records. */
type Weather = 'fine' | 'refused' | 'reply lost'

/** A store whose writes of several records meet the weather. */
function under(store: Store, weather: () => Weather): Store {
  return {
    ...store,
    async write(steps) {
      const now = steps.length === 0 ? 'fine' : weather()
      if (now === 'refused') throw new StoreUnavailable('the lock was not to be had')
      const outcome = await store.write?.(steps)
      if (now === 'reply lost') throw new StoreUnavailable('the connection broke')
      return outcome as never
    },
  }
}

/** An app of orders over a store whose weather the caller makes. */
export function orders(store: Store, clock: { now: number } = { now: Date.now() }) {
  const state = { weather: 'fine' as Weather, wait: Promise.resolve() }
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const served = under(store, () => state.weather)
  const app = createApp({ store: served, logger, now: () => clock.now })
  onTestFinished(() => app.close())
  app.use(idempotency({ ttlSeconds: 86_400 }))
  const validate = async (payload: object) => {
    await state.wait
    return payload
  }
  app.mount(
    '/orders',
    createRouter({ model: Order, middlewares: [], allowedFields: ['code', 'count'], validate }),
  )
  app.mount('/batch', batch())
  const ask = async (method: string, path: string, key?: string, body?: object) => {
    const headers = {
      ...(body && { 'Content-Type': 'application/json' }),
      ...(key && { 'Idempotency-Key': key }),
    }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await app.handle(new Request(`http://localhost${path}`, init))
    const json = (await response.json()) as {
      data?: Partial<Record<string, unknown>>
      error?: string
    }
    const replayed = response.headers.get('idempotency-replayed') === 'true'
    return { status: response.status, replayed, location: response.headers.get('location'), json }
  }
  return { app, ask, state, count: () => app.store.collection(Order).count() }
}

/** Each kind of write, once two orders are there. */
const WRITES: Readonly<Record<string, (ids: string[]) => [string, string, object?]>> = {
  'a POST': () => ['POST', '/orders', { code: 'new' }],
  'a PATCH': ([id]) => ['PATCH', `/orders/${id}`, { count: 7 }],
  'a DELETE': ([id]) => ['DELETE', `/orders/${id}`],
  'a batch': ([id, other]) => [
    'POST',
    '/batch',
    {
      operations: [
        { method: 'POST', path: '/orders', body: { code: 'new' } },
        { method: 'PATCH', path: '/orders/$0', body: { count: 1 } },
        { method: 'PATCH', path: `/orders/${id}`, body: { count: 7 } },
        { method: 'DELETE', path: `/orders/${other}` },
      ],
    },
  ],
}

async function begun(open: () => Store) {
  const served = orders(open())
  const ids: string[] = []
  for (const code of ['a', 'b']) {
    ids.push(String((await served.ask('POST', '/orders', undefined, { code })).json.data?._id))
  }
  return { ...served, ids }
}

const list = async ({ ask }: Pick<ReturnType<typeof orders>, 'ask'>) =>
  rowsIn((await ask('GET', '/orders')).json.data)

/** The codes and counts of a list. */
function rowsIn(list: unknown): unknown[] {
  const rows = (list as { code: string; count: number }[]).map(({ code, count }) => [code, count])
  return rows.toSorted((one, other) => (String(one) < String(other) ? -1 : 1))
}

/** What becomes of a key whose first request the store has refused, or answered with silence. */
export function outcomes(name: string, open: () => Store): void {
  describe(`a key in ${name}`, () => {
    it.each(Object.keys(WRITES))('of %s that the store refused may be used again', async (kind) => {
      const served = await begun(open)
      const [method, path, body] = WRITES[kind]?.(served.ids) ?? ['', '']
      const before = await list(served)
      served.state.weather = 'refused'
      expect((await served.ask(method, path, 'k', body)).status).toBe(503)
      served.state.weather = 'fine'
      expect(await list(served)).toEqual(before)
      const again = await served.ask(method, path, 'k', body)
      expect([again.status < 300, again.replayed]).toEqual([true, false])
      const third = await served.ask(method, path, 'k', body)
      expect(third).toEqual({ ...again, replayed: true })
    })

    it.each(Object.keys(WRITES))(
      'of %s whose reply was lost gets the response, and nothing is written twice',
      async (kind) => {
        const alone = await begun(open)
        const wanted = await alone.ask(...argumentsOf(WRITES[kind]?.(alone.ids), 'k'))
        const after = await list(alone)
        const served = await begun(open)
        const asked = argumentsOf(WRITES[kind]?.(served.ids), 'k')
        served.state.weather = 'reply lost'
        expect((await served.ask(...asked)).status).toBe(503)
        served.state.weather = 'fine'
        expect(await list(served)).toEqual(after)
        const again = await served.ask(...asked)
        expect([again.status, again.replayed]).toEqual([wanted.status, true])
        expect(shapeOf(again.json)).toEqual(shapeOf(wanted.json))
        expect(again.location === null).toBe(wanted.location === null)
        expect(await list(served)).toEqual(after)
        // Once it is known, the response stays, whatever becomes of the record.
        await served.app.store.collection(Order).updateWhere({}, { count: 9 })
        expect(await served.ask(...asked)).toEqual(again)
      },
    )
  })
}

function argumentsOf(
  [method, path, body]: [string, string, object?] = ['', ''],
  key: string,
): [string, string, string, object?] {
  return [method, path, key, ...(body ? [body] : [])] as [string, string, string, object?]
}

/** A response without what each run makes anew. */
const shapeOf = (json: unknown) =>
  JSON.parse(JSON.stringify(json, (name, value) => (/^_id$|At$/.test(name) ? typeof value : value)))
