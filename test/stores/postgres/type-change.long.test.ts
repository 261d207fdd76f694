import postgres from 'postgres'
import { afterAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { type App, createApp, createRouter, defineModel, type Model } from '../../../src/index.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { checkRecords } from '../../../src/upkeep/check/check.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from './schemas.ts'

/** Types of a field before and after, values that were stored, and what they are then. */
const CHANGES = [
  ['a number that was searched as a string', z.string(), z.number(), ['1.5'], [1.5]],
  ['a list that was searched as a string', z.string(), z.array(z.string()), ['a'], [['a']]],
  ['a date', z.string(), z.date(), ['2020-01-31'], [new Date('2020-01-31')]],
  ['a string of a date', z.date(), z.string(), [new Date(0)], ['1970-01-01T00:00:00.000Z']],
  ['a string of any value', z.unknown(), z.string(), ['a "b"', 3], ['a "b"', '3']],
  ['a number of any value', z.unknown(), z.number(), ['1', 2], [1, 2]],
  ['any value', z.number(), z.unknown(), [1.5], [1.5]],
  ['an integer', z.number(), z.int(), [1, -2], [1, -2]],
] as const

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  // The operator's session is somewhere else than the server.
  const operator = postgres(url, { connection: { TimeZone: 'Asia/Tokyo' }, max: 1 })
  afterAll(() => operator.end())

  function served(schema: string, type: z.ZodType): { app: App; Thing: Model } {
    const Thing = defineModel('Thing', {
      fields: { x: type },
      convert: { x: (stored: unknown) => [stored] as never },
    }) as unknown as Model
    const app = createApp({
      store: postgresStore({ url, schema }),
      logger: { ...console, warn() {} },
    })
    const search = type instanceof z.ZodString ? ['x'] : []
    app.mount('/', createRouter({ model: Thing, search, allowedFields: ['x'], middlewares: [] }))
    return { app, Thing }
  }

  /** Stores `values`, and returns the SQL with which a start under the type `after` is refused. */
  async function refused(before: z.ZodType, after: z.ZodType, values: readonly unknown[]) {
    const schema = fresh()
    const old = served(schema, before)
    for (const x of values) await old.app.store.collection(old.Thing).insert({ x } as never)
    await old.app.close()
    const { app, Thing } = served(schema, after)
    const { database } = hostOf(app.store, 'app')
    // What is looked at before a deploy tells it too.
    const { ok, misfits } = await checkRecords(database, [Thing])
    const error = await app.ready().catch(({ message }) => message)
    await app.close()
    expect([ok, misfits]).toEqual([false, [error]])
    return { schema, sql: /: ([^:]*ALTER TABLE .*)$/.exec(String(error))?.[1] ?? '' }
  }

  describe('the SQL for a column of another type', () => {
    it.each(CHANGES)('makes %s', async (_, before, after, values, wanted) => {
      const { schema, sql } = await refused(before, after, values)
      await operator.unsafe(`RESET TimeZone; ${sql}`)
      const { app, Thing } = served(schema, after)
      const found = await app.store.collection(Thing).find({}, { sort: '_id' })
      expect(found.map((one) => (one as { x?: unknown }).x)).toEqual(wanted)
      await app.close()
    })

    it('is told for all columns of a table at once', async () => {
      const schema = fresh()
      const started = (type: z.ZodType) => {
        const Thing = defineModel('Thing', { fields: { a: type, b: type, c: z.string() } })
        const store = postgresStore({ url, schema })
        const schemas = [{ ...Thing, name: Thing.collection, searchable: [] }]
        return store.prepare(schemas as never).finally(() => store.close())
      }
      await started(z.string())
      const error = await started(z.number()).then(
        () => '',
        ({ message }: Error) => message,
      )
      expect(error.split('\n')).toEqual([
        expect.stringMatching(/the column "a" of .* ALTER TABLE .*/),
        expect.stringMatching(/the column "b" of .* ALTER TABLE .*/),
      ])
    })

    it('takes no word for a date', async () => {
      const { sql } = await refused(z.string(), z.date(), ['2020-01-31', 'yesterday'])
      await expect(operator.unsafe(sql)).rejects.toThrow('yesterday')
    })

    it('rounds no number', async () => {
      const { sql } = await refused(z.number(), z.int(), [1, 1.5])
      await expect(operator.unsafe(sql)).rejects.toThrow('"1.5"')
    })
  })
})
