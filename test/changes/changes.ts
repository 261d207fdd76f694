/**
 * Models that change while records stay, on any store: what a client sees of old records before, while the new model
 * serves them, and after a backfill.
 *
 * @module
 */

import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { type App, createApp, createRouter, defineModel, type Fields } from '../../src/index.ts'
import { checkRecords } from '../../src/upkeep/check/check.ts'
import { recordedLog } from '../records/service.ts'
import { CHANGES } from './kinds.ts'
import { type Database, modelOf, serve, started, type Version } from './served.ts'

const name = z.string()

/** How a store differs from the others. */
interface Differences {
  /**
   * Whether each field has a column: then none can get another type without SQL that the operator runs, and start-up
   * does not see what a dropped one holds.
   */
  readonly hasColumns?: boolean
}

/** Registers the suite for the store with this name. */
export function changes(
  store: string,
  database: Database,
  { hasColumns = false }: Differences = {},
): void {
  describe(`a model that changes, on ${store}`, () => {
    for (const [kind, change] of Object.entries(CHANGES)) {
      if (hasColumns && change.isRetyped) continue
      const { after, shown, found, foundAfter, problems } = change

      it(`${kind}: before, meanwhile and after a backfill`, async () => {
        const { open, id } = await started(database, change)
        const now = serve(open, after)
        expect((await now.call('GET', `/things/${id}`)).data).toEqual({ _id: id, ...shown })
        expect(await now.list()).toEqual([shown])
        expect(await now.app.store.collection(now.model).findById(id)).toEqual({
          _id: id,
          ...shown,
        })
        for (const parameters of found) expect(await now.list(parameters)).toEqual([shown])
        for (const parameters of foundAfter) expect(await now.list(parameters)).toEqual([])
        const { problems: misfits } = await checkRecords(open(), [now.model])
        expect(misfits.map(({ problem, field }) => `${problem} ${field}`)).toEqual(problems)
        const left = problems.filter((problem) => !problem.startsWith('undeclared'))
        expect(await now.backfill()).toMatchObject({
          ok: left.length === 0,
          problems: left.map((problem) => ({
            problem: problem.split(' ')[0],
            field: problem.split(' ')[1],
            count: 1,
            examples: [id],
          })),
        })
        for (const parameters of [...found, ...foundAfter]) {
          expect(await now.list(parameters)).toEqual([shown])
        }
        expect((await now.call('GET', `/lean/${id}`)).data).toEqual({ _id: id, ...shown })
      })

      it(`${kind}: start-up says so until a backfill has made the records fit`, async () => {
        const { open, old } = await started(database, change)
        await old.app.close()
        const warnings = async (version: Version) => {
          const { app, log } = serve(open, version)
          await app.ready()
          return log.lines
            .filter(({ message }) => message.includes('has changed since'))
            .map(({ message }) => /stored: ([^.]*)\./.exec(message)?.[1])
        }
        expect(await warnings(change.before)).toEqual([])
        expect(await warnings(after)).toEqual(change.warned ? [change.warned] : [])
        const { ok } = await serve(open, after).backfill()
        expect(await warnings(after)).toEqual(change.warned && !ok ? [change.warned] : [])
      })

      it(`${kind}: with onModelChange: 'refuse' an app starts only if all records fit`, async () => {
        const { open, old } = await started(database, change)
        await old.app.close()
        const start = serve(open, after, { onModelChange: 'refuse' }).app.ready()
        const [first] = problems.filter(
          (problem) => !(hasColumns && problem.startsWith('undeclared')),
        )
        if (first === undefined) await start
        else await expect(start).rejects.toThrow(first.split(' ')[1])
      })
    }

    it('timestamps that get other names keep what is stored, before and after a backfill', async () => {
      const before: Version = { fields: { name }, options: { timestamps: true } }
      const open = await database()
      const old = serve(open, before)
      const [first, second] = [
        (await old.call('POST', '/things', { name: 'a' })).data,
        (await old.call('POST', '/things', { name: 'b' })).data,
      ]
      const timestamps = { createdAt: 'made_at', updatedAt: 'changed_at' }
      const renamed = { createdAt: 'made_at', updatedAt: 'changed_at' }
      const now = serve(open, {
        fields: { name },
        options: { timestamps, renamed, indexes: ['made_at'] },
        query: ['name', 'made_at'],
      })
      const as = ({ _id, name, createdAt, updatedAt }: Fields) =>
        ({ _id, name, made_at: createdAt, changed_at: updatedAt }) as Fields
      const read = async (id: unknown) => (await now.call('GET', `/things/${id}`)).data
      expect(await read(first._id)).toEqual(as(first))
      const { changed_at: changed, ...same } = (
        await now.call('PATCH', `/things/${second._id}`, { name: 'c' })
      ).data
      expect(same).toEqual({ _id: second._id, name: 'c', made_at: second.createdAt })
      expect(Date.parse(String(changed))).toBeGreaterThanOrEqual(
        Date.parse(String(second.updatedAt)),
      )
      // An earlier version beside this one.
      await old.call('PATCH', `/things/${second._id}`, { name: 'd' })
      const sorted = await now.list('?sort=-made_at')
      expect(sorted.map((one) => one.name).toSorted()).toEqual(['a', 'd'])
      expect(await now.list(`?name=a&made_at=${first.createdAt}`)).toHaveLength(1)
      const { problems, pending } = await checkRecords(open(), [now.model])
      expect(problems).toEqual([])
      expect(pending.map(({ field, count }) => [field, count]).toSorted()).toEqual([
        ['changed_at', 2],
        ['made_at', 1],
      ])
      const seen = await read(second._id)
      expect(await now.backfill()).toMatchObject({ ok: true, models: [{ changed: 2 }] })
      expect(await read(first._id)).toEqual(as(first))
      expect(await read(second._id)).toEqual(seen)
      expect(await now.backfill()).toMatchObject({ models: [{ changed: 0 }] })
    })

    it.each(['objectId', 'uuid'] as const)(
      'a backfill dates records from before timestamps, with ids of the kind %s',
      async (kind) => {
        const begun = Date.now()
        const before: Version = {
          fields: { name, size: z.number().optional() },
          options: { id: kind },
        }
        const { open, old, id } = await started(database, { before, stored: { name: 'a' } })
        const now = serve(open, { ...before, options: { id: kind, timestamps: true } })
        const other = (await old.call('POST', '/things', { name: 'b' })).data._id as string
        const { updatedAt: touched } = (await now.call('PATCH', `/things/${other}`, { size: 1 }))
          .data
        expect(await now.backfill()).toMatchObject({
          ok: true,
          models: [{ records: 2, changed: 2 }],
        })
        const dates = async (of: string) => {
          const { createdAt, updatedAt } = (await now.call('GET', `/things/${of}`)).data
          return [createdAt, updatedAt].map((text) => Date.parse(String(text)))
        }
        const [createdAt = 0, updatedAt = 0] = await dates(id)
        // An id of the first kind has the second in which it was made.
        if (kind === 'objectId') expect(createdAt).toBe(Number.parseInt(id.slice(0, 8), 16) * 1000)
        expect(createdAt).toBeGreaterThan(begun - 1000)
        expect(updatedAt).toBe(createdAt)
        const [made = Number.NaN, changed] = await dates(other)
        expect(changed).toBe(Date.parse(String(touched)))
        expect(made).toBeLessThanOrEqual(changed ?? 0)
        expect(await now.backfill()).toMatchObject({ ok: true, models: [{ changed: 0 }] })
        const again = serve(open, { ...before, options: { id: kind, timestamps: true } })
        await again.app.ready()
        expect(again.log.text).not.toContain('has changed since')
      },
    )

    it('tells of a model under a new name, which does not find its records', async () => {
      const open = await database()
      const start = async (model: string, more: object = {}) => {
        const log = recordedLog()
        const app = createApp({ store: open(), logger: log, env: {} })
        onTestFinished(() => app.close())
        const definition = { fields: { name, size: z.number() }, ...more }
        await app.store.collection(defineModel(model, definition)).find()
        return log.lines.map(({ message }) => message)
      }
      expect(await start('Bicycle')).toEqual([])
      const told = `Model 'Cycle' is new and has no records. 'Bicycle' had the same fields. If it is the same model under another name, write collection: 'bicycles' in it, which has its records.`
      expect(await start('Cycle')).toEqual([told])
      expect(await start('Cycle')).toEqual([])
      const other = { fields: { name, size: z.string() } }
      expect(await start('Tricycle', other)).toEqual([])
      expect(await start('Unicycle', { collection: 'bicycles' })).toEqual([])
    })

    it('tells of its collection if that has a name of its own', async () => {
      const open = await database()
      const start = async (model: string, more: object = {}) => {
        const log = recordedLog()
        const app = createApp({ store: open(), logger: log, env: {} })
        onTestFinished(() => app.close())
        await app.store.collection(defineModel(model, { fields: { name }, ...more })).find()
        return log.lines.map(({ message }) => message).join()
      }
      expect(await start('Boat', { collection: 'fleet' })).toBe('')
      expect(await start('Ship')).toContain("write collection: 'fleet' in it")
    })

    it('says nothing of a changed model without records, and forgets the change', async () => {
      const open = await database()
      await serve(open, { fields: { name } }).app.ready()
      const changed = serve(open, { fields: { other: z.number() } }, { onModelChange: 'refuse' })
      await changed.app.ready()
      expect(changed.log.text).not.toContain('has changed since')
    })

    it('shows strings that are no dates as they are stored, in every response', async () => {
      const times = ['soon', '2020', '31.1.2020', '2020-13-01T00:00:00.000Z', 'x'.repeat(24)]
      const stored = { name: 'a', in: { when: 'soon' }, times }
      const fields = (when: z.ZodType) => ({ name, in: z.object({ when }), times: z.array(when) })
      const before: Version = { fields: fields(z.string()) }
      const { open, id } = await started(database, { before, stored })
      const { call, list } = serve(open, { fields: fields(z.date()) })
      expect((await call('GET', `/things/${id}`)).data).toEqual({ _id: id, ...stored })
      expect(await list()).toEqual([stored])
      const changed = { ...stored, name: 'b' }
      const { data } = await call('PATCH', `/things/${id}`, { name: 'b' })
      expect(data).toEqual({ _id: id, ...changed })
      expect(await list()).toEqual([changed])
    })

    it('shows no default on a lean router, and of selected fields only theirs', async () => {
      const { open, id } = await started(database, {
        before: { fields: { name } },
        stored: { name: 'a' },
      })
      const after = { fields: { name, size: z.number().default(3), more: z.number().default(4) } }
      const now = serve(open, after)
      expect((await now.call('GET', `/lean/${id}`)).data).toEqual({ _id: id, name: 'a' })
      const select = async () => ({ select: ['size'] })
      const app = createApp({ store: open(), logger: recordedLog(), env: {} })
      onTestFinished(() => app.close())
      app.mount('/s', createRouter({ model: now.model, onGet: select, middlewares: [] } as never))
      const response = await app.handle(new Request(`http://localhost/s/${id}`))
      expect(await response.json()).toMatchObject({ data: { _id: id, size: 3 } })
      const some = await app.store.collection(now.model).find({}, { select: ['-size'] })
      expect(some).toEqual([{ _id: id, name: 'a', more: 4 }])
    })

    it('a model whose collection gets another name is warned of once, unless its records are there', async () => {
      const open = await database()
      const warnings = async (collection: string) => {
        const log = recordedLog()
        const app = createApp({ store: open(), logger: log, env: {} })
        onTestFinished(() => app.close())
        const things = app.store.collection(defineModel('Thing', { fields: { name }, collection }))
        await app.ready()
        return { things, told: log.lines.map(({ message }) => message).join('') }
      }
      const { things, told } = await warnings('todos')
      expect(told).toBe('')
      await things.insert({ name: 'a' })
      const warning = `Model 'Thing' has no records in 'tasks', and its collection was 'todos' before. If that has its records, rename it in the database, or write collection: 'todos' in the model.`
      const moved = await warnings('tasks')
      expect(moved.told).toBe(warning)
      expect((await warnings('tasks')).told).toBe('')
      await moved.things.insert({ name: 'b' })
      expect((await warnings('todos')).told).toBe('')
      expect((await warnings('tasks')).told).toBe('')
    })

    it('shows the default of a field that app.store has removed', async () => {
      const version = {
        fields: { name, size: z.number().default(3), rank: z.number().default(4).nullable() },
      }
      const stored = { name: 'a', size: 1, rank: 1 }
      const { old, id } = await started(database, { before: version, stored })
      const things = old.app.store.collection(old.model)
      const without = { size: undefined, rank: undefined } as never
      const shown = { _id: id, name: 'a', size: 3, rank: 4 }
      expect(await things.update(id, without)).toEqual(shown)
      expect((await old.call('GET', `/lean/${id}`)).data).toEqual({ _id: id, name: 'a' })
      expect(await things.updateWhere({}, without)).toBe(1)
      expect(await things.find()).toEqual([shown])
      await old.call('PATCH', `/things/${id}`, { rank: null })
      expect((await old.call('GET', `/things/${id}`)).data).toEqual({ ...shown, rank: null })
    })

    it('fills in no default that is made anew each time, and none for null', async () => {
      const before = { fields: { name, rank: z.number().nullable().optional() } }
      const { open, id } = await started(database, { before, stored: { name: 'a', rank: null } })
      const now = serve(open, {
        fields: {
          name,
          rank: z.number().nullable().default(1),
          at: z.date().default(() => new Date()),
          stamp: z.number().default(() => Date.now()),
          key: z.string().default(() => crypto.randomUUID()),
          since: z.date().default(new Date(0)),
        },
      })
      expect((await now.call('GET', `/things/${id}`)).data).toEqual({
        _id: id,
        name: 'a',
        rank: null,
        since: new Date(0).toISOString(),
      })
      expect(await now.list('?sort=since')).toHaveLength(1)
    })

    it('rules across fields see an old record as reads show it', async () => {
      const before = { fields: { low: z.number() } }
      const { open, id } = await started(database, { before, stored: { low: -1 } })
      const low = z.number().positive()
      const fields = { low, high: z.number().default(5), note: name.optional() }
      const model = defineModel('Thing', {
        fields: z.object(fields).refine(({ low, high }) => low < high),
        collection: 'things',
        convert: { low: (stored) => Math.abs(Number(stored)) },
      })
      const app = createApp({ store: open(), logger: recordedLog(), env: {} })
      onTestFinished(() => app.close())
      const things = app.store.collection(model)
      const shown = { _id: id, low: 1, high: 5, note: 'n' }
      expect(await things.update(id, { note: 'n' })).toEqual(shown)
      await expect(things.update(id, { high: 0 })).rejects.toMatchObject({ status: 400 })
    })

    it('pages by cursor over records with and without a field that has a default', async () => {
      const open = await database()
      const old = serve(open, { fields: { name } })
      for (const one of 'abcd') await old.call('POST', '/things', { name: one })
      const model = modelOf({ fields: { name, size: z.number().default(3) } })
      const app = createApp({ store: open(), logger: recordedLog(), env: {} })
      onTestFinished(() => app.close())
      const options = { pagination: 'cursor', orderBy: ['size', '_id'], defaultPageSize: 2 }
      app.mount(
        '/things',
        createRouter({
          model,
          allowedFields: ['name', 'size'],
          sortableFields: ['size'],
          middlewares: [],
          ...options,
        } as never),
      )
      const things = app.store.collection(model)
      for (const size of [-5, 2, 9]) await things.insert({ name: `n${size}`, size } as never)
      const seen = (await pages(app, '/things?pageSize=2&sort=size')).map((one) => one.name)
      expect(seen).toEqual(['a', 'b', 'c', 'd', 'n-5', 'n2', 'n9'])
    })
  })
}

/** The records of every page of a list, by cursor. */
async function pages(app: App, path: string, cursor = ''): Promise<Fields[]> {
  const response = await app.handle(new Request(`http://localhost${path}${cursor}`))
  const { data, pagination } = (await response.json()) as {
    data: Fields[]
    pagination: { nextCursor: string | null }
  }
  const { nextCursor } = pagination
  return nextCursor === null
    ? data
    : [...data, ...(await pages(app, path, `&cursor=${nextCursor}`))]
}
