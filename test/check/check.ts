/**
 * Records that were written under another model than the one that reads them, on any store.
 *
 * @module
 */

import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createApp, defineModel, type Model, type Store } from '../../src/index.ts'
import { type CheckResult, checkRecords } from '../../src/upkeep/check/check.ts'
import { tableOf } from '../../src/upkeep/check/table.ts'

/**
 * What `open` gives is opened anew for each test; both models of a test are on it. `walksAll`: its walks come to records whose
 * ids are not of the model's type.
 */
export function checks(
  store: string,
  open: () => Promise<Store>,
  { walksAll = true }: { readonly walksAll?: boolean } = {},
): void {
  /** Stores `records` as `before` has them, and checks them as `after`. */
  async function checked(
    before: Model<never>,
    records: object[],
    after: Model<never>,
  ): Promise<CheckResult> {
    const kept = await open()
    const app = createApp({ store: { ...kept, ...bound(kept), close: async () => {} } })
    for (const record of records)
      await app.store.collection(before as Model).insert(record as never)
    await app.close()
    const result = await checkRecords(kept, [after as unknown as Model])
    await kept.close()
    return result
  }

  const model = (fields: z.ZodRawShape, more: object = {}): Model<never> =>
    defineModel('Checked', { fields, collection: 'checked', ...more } as never) as never
  const kinds = ({ problems }: CheckResult) =>
    problems.map(({ problem, field, count }) => [problem, field, count])

  describe(`fieldgate check on ${store}`, () => {
    it('finds nothing where records fit', async () => {
      const same = model({
        name: z.string(),
        at: z.date(),
        tags: z.array(z.string()),
        price: z.number().nullable(),
      })
      const records = [{ name: 'a', at: new Date(), tags: ['x'], price: null }]
      expect(await checked(same, records, same)).toMatchObject({ ok: true, problems: [] })
    })

    it('finds nothing where there is no record, and no table', async () => {
      const kept = await open()
      expect(
        await checkRecords(kept, [model({ name: z.string() }) as unknown as Model]),
      ).toMatchObject({
        ok: true,
        problems: [],
      })
      await kept.close()
    })

    it('names required fields that were added, not those with a default or optional ones', async () => {
      const after = model({
        name: z.string(),
        age: z.number(),
        kind: z.enum(['a', 'b']),
        code: z.union([z.string(), z.number()]),
        size: z.number().default(1),
        note: z.string().optional(),
      })
      const result = await checked(
        model({ name: z.string() }),
        [{ name: 'a' }, { name: 'b' }],
        after,
      )
      const missing = ['age', 'kind', 'code'].map((field) => ['missing', field, 2])
      expect(kinds(result)).toEqual(missing)
      expect(result.problems[0]?.examples).toHaveLength(2)
    })

    it('names what the model no longer declares, at any depth', async () => {
      const before = model({
        name: z.string(),
        old: z.number(),
        homes: z.array(z.object({ city: z.string(), zip: z.string() })),
      })
      const after = model({ name: z.string(), homes: z.array(z.object({ city: z.string() })) })
      const homes = [
        { city: 'x', zip: '1' },
        { city: 'y', zip: '2' },
      ]
      const result = await checked(before, [{ name: 'a', old: 1, homes }], after)
      expect(kinds(result).toSorted()).toEqual([
        ['undeclared', 'homes.zip', 1],
        ['undeclared', 'old', 1],
      ])
    })

    it.each([
      ['a number that is to be a string', z.number(), 5, z.string()],
      ['a string that is to be a date', z.string(), 'soon', z.date()],
      ['a string that is to be a list', z.string(), 'x', z.array(z.string())],
      ['a boolean that is to be a number', z.boolean(), true, z.number()],
      ['a string that would be coerced', z.string(), '5', z.coerce.number()],
    ])('tells %s', async (_, before, value, after) => {
      const result = await checked(model({ it: before }), [{ it: value }], model({ it: after }))
      expect(kinds(result)).toEqual([['type', 'it', 1]])
    })

    it('tells values that a narrower enum refuses, and rules across fields', async () => {
      const before = model({ kind: z.enum(['a', 'b']), low: z.number(), high: z.number() })
      const records = [
        { kind: 'a', low: 1, high: 2 },
        { kind: 'b', low: 1, high: 2 },
        { kind: 'a', low: 3, high: 2 },
      ]
      const after = defineModel('Checked', {
        collection: 'checked',
        fields: z
          .object({ kind: z.enum(['a']), low: z.number(), high: z.number() })
          .refine(({ low, high }) => low <= high, {
            path: ['high'],
            message: 'High is below low.',
          }),
      })
      expect(kinds(await checked(before, records, after as never))).toEqual([
        ['invalid', 'kind', 1],
        ['invalid', 'high', 1],
      ])
    })

    it.skipIf(!walksAll)(
      'tells records that another kind of ids keeps from being reached',
      async () => {
        const before = model({ name: z.string() })
        const after = model({ name: z.string() }, { id: 'uuid' })
        const result = await checked(before, [{ name: 'a' }, { name: 'b' }], after)
        expect(kinds(result)).toEqual([['invalid', '_id', 2]])
      },
    )

    it('does not put values through a transform again', async () => {
      const upper = model({
        code: z
          .string()
          .max(3)
          .transform((code) => `${code}!`),
      })
      expect(await checked(upper, [{ code: 'abc' }], upper)).toMatchObject({
        ok: true,
        problems: [],
      })
    })

    it('counts records that a new unique set does not allow', async () => {
      const before = model({ a: z.string(), b: z.number().optional() })
      const after = model({ a: z.string(), b: z.number().optional() }, { unique: [['a', 'b']] })
      const records = [
        { a: 'x', b: 1 },
        { a: 'x', b: 1 },
        { a: 'x', b: 2 },
        { a: 'y', b: 1 },
        { a: 'x' },
        { a: 'x' },
      ]
      const result = await checked(before, records, after)
      expect(kinds(result)).toEqual([['duplicate', 'a, b', 2]])
    })

    it('names records that a new exclude does not allow, and counts them', async () => {
      const exclude = [{ equal: ['room'], range: ['from', 'to'], where: { kind: ['booked'] } }]
      const fields = { room: z.string(), from: z.number(), kind: z.string().default('booked') }
      const before = model({ ...fields, until: z.number() })
      const after = model({ ...fields, to: z.number() }, { exclude, renamed: { until: 'to' } })
      const stays = (room: string, count: number) =>
        Array.from({ length: count }, (_, at) => ({ room, from: at * 10, until: at * 10 + 11 }))
      const records = [
        ...stays('a', 15),
        ...stays('b', 1),
        { room: 'b', from: 1, until: 9, kind: 'asked' },
        { room: 'c', from: 0, until: 30 },
        { room: 'c', from: 1, until: 2 },
      ]
      const { problems } = await checked(before, records, after)
      expect(problems).toMatchObject([{ problem: 'overlap', field: 'from, to', count: 17 }])
      expect(problems[0]?.examples).toHaveLength(10)
      expect(tableOf(problems)).toMatch(
        /17 {7}\w{24} and \w{24}, \w{24} and \w{24}, \w{24} and \w{24} {2}make/,
      )
      const isNew = model(
        { room: z.string(), from: z.number().optional(), to: z.number().optional() },
        { exclude: [{ equal: ['room'], range: ['from', 'to'] }] },
      )
      expect(await checked(model({ room: z.string() }), [{ room: 'a' }], isNew)).toMatchObject({
        ok: true,
      })
    })

    it('counts records that are one only as reads show them: converted, and with defaults', async () => {
      const before = model({ name: z.string(), kind: z.string().optional() })
      const after = model(
        { code: z.string().regex(/^[a-z]$/), kind: z.string().default('none') },
        {
          unique: ['code', 'kind'],
          renamed: { name: 'code' },
          convert: { code: (stored: unknown) => String(stored).toLowerCase() },
        },
      )
      const records = [
        { name: 'A', kind: 'x' },
        { name: 'a', kind: 'none' },
        { name: 'b' },
        { name: 'c', kind: 'y' },
      ]
      const result = await checked(before, records, after)
      expect(kinds(result)).toEqual([
        ['duplicate', 'code', 2],
        ['duplicate', 'kind', 2],
      ])
    })
  })
}

/** A store's methods as own members, for a copy of it. */
function bound(store: Store): Store {
  return {
    name: store.name,
    rawRegex: store.rawRegex,
    collection: (schema) => store.collection(schema),
    prepare: (schemas) => store.prepare(schemas),
    close: () => store.close(),
  }
}
