/**
 * The time between a rename and its backfill, on any store: two versions of an app write, and nothing is lost.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { consume, runDue } from '../../src/background/changes/index.ts'
import {
  createApp,
  createRouter,
  defineModel,
  type Fields,
  ref,
  type Store,
} from '../../src/index.ts'
import type { Read } from '../../src/ports/store/records.ts'
import type { CollectionSchema } from '../../src/ports/store/store.ts'
import { type LiveEvent, Reading } from '../records/live/stream.ts'
import { recordedLog } from '../records/service.ts'
import { type Database, serve, started, type Version } from './served.ts'

const name = z.string()

/** Registers the suite for the store with this name. */
export function meanwhile(store: string, database: Database): void {
  describe(`while a rename is under way, on ${store}`, () => {
    const before: Version = { fields: { surname: name, size: z.number().optional() } }
    const after: Version = {
      fields: { lastName: name, size: z.number().optional() },
      options: { renamed: { surname: 'lastName' }, indexes: ['lastName'] },
    }
    const stored = { surname: 'b', size: 1 }

    it('a write moves its record to the name of now', async () => {
      const { open, old, id } = await started(database, { before, stored })
      const now = serve(open, after)
      const patched = await now.call('PATCH', `/things/${id}`, { size: 2 })
      expect(patched).toEqual({ status: 200, data: { _id: id, lastName: 'b', size: 2 } })
      expect(await old.list()).toEqual([{ size: 2 }])
      expect(await now.list('?lastName=b')).toEqual([{ lastName: 'b', size: 2 }])
      expect((await now.call('PATCH', `/things/${id}`, { lastName: 'c' })).status).toBe(200)
      expect(await now.list()).toEqual([{ lastName: 'c', size: 2 }])
    })

    it('a list of lists moves with a write', async () => {
      const rows = z.array(z.array(z.number())).optional()
      const [grid, query] = [[[1], []], ['name']]
      const given = { before: { fields: { name, grid: rows }, query }, stored: { name: 'a', grid } }
      const { open, id } = await started(database, given)
      const now = serve(open, {
        fields: { name, rows },
        options: { renamed: { grid: 'rows' } },
        query,
      })
      const patched = await now.call('PATCH', `/things/${id}`, { name: 'b' })
      expect(patched).toEqual({ status: 200, data: { _id: id, name: 'b', rows: grid } })
      await now.call('PATCH', `/things/${id}`, { rows: null })
      expect(await now.list()).toEqual([{ name: 'b' }])
    })

    it('a write of the earlier version to a record that has moved is seen, and stays', async () => {
      const { open, old, id } = await started(database, { before, stored })
      const now = serve(open, after)
      await now.call('PATCH', `/things/${id}`, { lastName: 'c' })
      await old.call('PATCH', `/things/${id}`, { surname: 'd' })
      expect(await now.list('?lastName=d')).toEqual([{ lastName: 'd', size: 1 }])
      expect(await now.list('?lastName=c')).toEqual([])
      await now.backfill()
      expect(await now.list('?lastName=d')).toEqual([{ lastName: 'd', size: 1 }])
    })

    it('If-Match and DELETE work on a record that has not moved', async () => {
      const { open, id } = await started(database, { before, stored })
      const { app } = serve(open, after)
      const read = await app.handle(new Request(`http://localhost/things/${id}`))
      const headers = { 'if-match': read.headers.get('etag') ?? '' }
      const wrong = { 'if-match': '"x"' }
      const remove = (given: Record<string, string>) =>
        app.handle(
          new Request(`http://localhost/things/${id}`, { method: 'DELETE', headers: given }),
        )
      expect((await remove(wrong)).status).toBe(412)
      expect((await remove(headers)).status).toBe(200)
      expect((await remove({})).status).toBe(404)
    })

    it('lists are in one order, page by page, across both names', async () => {
      const { open, old } = await started(database, { before, stored })
      const now = serve(open, after)
      for (const surname of ['d', 'f', 'é']) await old.call('POST', '/things', { surname })
      for (const lastName of ['a', 'c', 'e', '😀']) await now.call('POST', '/things', { lastName })
      const names = async (parameters: string) =>
        (await now.list(parameters)).map(({ lastName }) => lastName)
      const order = ['a', 'b', 'c', 'd', 'e', 'f', 'é', '😀']
      expect(await names('?sort=lastName')).toEqual(order)
      expect(await names('?sort=-lastName')).toEqual(order.toReversed())
      const pages = [1, 2, 3].map((page) => names(`?sort=lastName&page=${page}&pageSize=3`))
      expect((await Promise.all(pages)).flat()).toEqual(order)
    })

    it('refuses to start while a unique field is under two names', async () => {
      const { open, id } = await started(database, { before, stored })
      const unique = { ...after, options: { ...after.options, unique: ['lastName'] } }
      const now = serve(open, unique)
      await expect(now.app.ready()).rejects.toThrow("records still hold 'lastName' as 'surname'")
      expect(await now.backfill()).toMatchObject({ ok: true, models: [{ changed: 1 }] })
      expect((await now.call('GET', `/things/${id}`)).status).toBe(200)
      expect((await now.call('POST', '/things', { lastName: 'b' })).status).toBe(409)
    })
    it.each([
      ['exclude', { exclude: [{ equal: ['lastName'], range: ['size', 'end'] }] }],
      [
        'exclude of some',
        { exclude: [{ equal: [], range: ['size', 'end'], where: { lastName: ['b'] } }] },
      ],
      ['transitions', { transitions: { lastName: { b: ['c'] } }, initial: { lastName: ['b'] } }],
    ])('refuses to start while a field of %s is under two names', async (_, rule) => {
      const { open } = await started(database, { before, stored })
      const now = serve(open, {
        fields: { ...after.fields, end: z.number().optional() },
        options: { ...after.options, ...rule },
      })
      // An earlier version would not see the value of a record that this one has written, and judge without it.
      await expect(now.app.ready()).rejects.toThrow("records still hold 'lastName' as 'surname'")
      expect(await now.backfill()).toMatchObject({ ok: true, models: [{ changed: 1 }] })
      expect(await now.list()).toEqual([{ lastName: 'b', size: 1 }])
    })

    it('enforced references hold for records that have not moved', async () => {
      const open = await database()
      const country = defineModel('Country', { fields: { name } })
      const old = createApp({ store: open(), logger: recordedLog(), env: {} })
      onTestFinished(() => old.close())
      const before = defineModel('Town', { fields: { title: name, country: ref('Country') } })
      const [fr, de] = [
        await old.store.collection(country).insert({ name: 'fr' }),
        await old.store.collection(country).insert({ name: 'de' }),
      ]
      const { _id } = await old.store.collection(before).insert({ title: 't', country: fr._id })
      const now = createApp({ store: open(), logger: recordedLog(), env: {} })
      onTestFinished(() => now.close())
      const Town = defineModel('Town', {
        fields: { name, country: ref('Country', { onDelete: 'restrict' }) },
        renamed: { title: 'name' },
      })
      const [towns, countries] = [now.store.collection(Town), now.store.collection(country)]
      await expect(countries.delete(fr._id)).rejects.toMatchObject({ status: 409 })
      const moved = { name: 'u', country: de._id }
      expect(await towns.update(_id, moved)).toEqual({ _id, ...moved })
      expect(await towns.find({ name: 'u' })).toEqual([{ _id, ...moved }])
      expect(await countries.delete(fr._id)).toBe(true)
      await expect(towns.update(_id, { country: fr._id })).rejects.toMatchObject({ status: 400 })
    })

    it('live lists of the earlier version lose a record that moves, and consumers of this one hear of changes alone', async () => {
      const open = await database()
      const running = ({ fields, options = {} }: Version) => {
        const app = createApp({ store: open(), logger: recordedLog(), env: {} })
        onTestFinished(() => app.close())
        const definition = { fields, collection: 'things', changes: true, ...options }
        const model = defineModel('Thing', definition as never)
        const query = Object.keys(fields)
        app.mount('/things', createRouter({ model, query, middlewares: [], live: true } as never))
        return { app, model, things: app.store.collection(model as never) }
      }
      const old = running(before)
      const some = await Promise.all(
        [1, 2].map((size) => old.things.insert({ surname: 'b', size })),
      )
      const [changed, removed] = some.map(({ _id }) => _id) as [string, string]
      const request = new Request('http://localhost/things?surname=b', {
        headers: { accept: 'text/event-stream' },
      })
      const stream = new Reading(await old.app.handle(request))
      onTestFinished(() => stream.cancel())
      expect(await stream.next()).toMatchObject({ event: 'records', data: { data: some } })

      const now = running(after)
      const heard: (readonly unknown[])[] = []
      consume(now.app, 'listener', {
        models: [now.model],
        handle: ({ kind, before, after }) => void heard.push([kind, before, after]),
      })
      await runDue(now.app)
      await now.things.update(changed, { size: 3 })
      await now.things.delete(removed)
      const gone = [changed, removed].map((_id) => ({ event: 'unset', data: { data: { _id } } }))
      // In the beginning a stream may tell what its list has already.
      const isTold = (one: LiveEvent | undefined) =>
        one?.event === 'set' && some.some((data) => isDeepStrictEqual(one.data, { data }))
      const next = async (): Promise<LiveEvent | undefined> => {
        const one = await stream.next()
        return isTold(one) ? next() : one
      }
      for (const event of gone) expect(await next()).toMatchObject(event)
      await runDue(now.app)
      const states = [1, 2, 3].map((size) => ({ _id: changed, lastName: 'b', size }))
      expect(heard).toEqual([
        ['updated', states[0], states[2]],
        ['removed', { ...states[1], _id: removed }, null],
      ])
    })

    it('a backfill loses no write of the app meanwhile', async () => {
      const open = await database()
      const before: Version = { fields: { n: z.number() } }
      const after: Version = {
        fields: { m: z.number().nonnegative(), size: z.number().default(3) },
        options: { renamed: { n: 'm' }, convert: { m: (stored: number) => -1 - stored } },
      }
      const { app, model } = serve(open, before)
      const old = app.store.collection(model)
      const records = Array.from({ length: 60 }, (_, at) => old.insert({ n: -1 - at } as never))
      const ids = (await Promise.all(records)).map(({ _id }) => _id)
      const { app: writer, model: next } = serve(open, after)
      const things = writer.store.collection(next)
      const expected = new Map<string, Fields>(ids.map((id, at) => [id, { m: at, size: 3 }]))
      const change = async (id: string, at: number) => {
        await things.update(id, { m: 1000 + at } as never)
        expected.set(id, { m: 1000 + at, size: 3 })
      }
      const remove = async (id: string) => {
        expect(await things.delete(id)).toBe(true)
        expected.delete(id)
      }
      const pending = new Map<string, () => Promise<void>>()
      for (const [at, id] of ids.entries()) {
        if (at % 10 === 1) pending.set(id, () => remove(id))
        else if (at % 3 === 0) pending.set(id, () => change(id, at))
      }
      // Every tenth is removed and every third changed between what the backfill reads and what it writes.
      const between = async (found: readonly Fields[]) => {
        for (const { _id } of found) {
          const write = pending.get(String(_id))
          pending.delete(String(_id))
          await write?.()
        }
      }
      const now = serve(() => afterEachFind(open(), between), after)
      expect((await now.backfill()).ok).toBe(true)
      const found = (await things.find()).map(({ _id, ...rest }) => [_id, rest] as const)
      expect(new Map<string, unknown>(found)).toEqual(expected)
      expect(found.length).toBeLessThan(ids.length)
      expect(await now.backfill()).toMatchObject({ models: [{ changed: 0 }] })
    })
  })
}

/** The store, whose lists of records are given only once `then` has seen them. */
function afterEachFind(store: Store, then: (found: readonly Fields[]) => Promise<void>): Store {
  return proxied(store, {
    collection: (schema: CollectionSchema) => {
      const collection = store.collection(schema)
      return proxied(collection, {
        async find(read: Read) {
          const found = await collection.find(read)
          await then(found)
          return found
        },
      })
    },
  })
}

/** `target` with some of its methods replaced. */
function proxied<T extends object>(target: T, methods: object): T {
  return new Proxy(target, {
    get(_, key) {
      if (Object.hasOwn(methods, key)) return Reflect.get(methods, key)
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
