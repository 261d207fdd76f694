/**
 * Dates wherever a schema may hold them: clients write them as ISO 8601, and every store returns what was written.
 *
 * @module
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Model, type Store } from '../../../src/index.ts'
import { runs } from '../../runs.ts'
import { service } from '../service.ts'
import { DAY, HELD, UNIONS } from './tagged.ts'
import { type Case, cases } from './values.ts'

const SHOWN = HELD.toISOString()
let models = 0

/** Registers the suite; `open` gives an empty store each time. */
export function dates(name: string, open: () => Store, tries: number): void {
  function served(fields: Record<string, z.ZodType>, query: readonly string[] = []) {
    models += 1
    const collection = `dated${models}`
    const Dated = defineModel(`Dated${models}`, { fields, collection }) as unknown as Model
    const { app, send } = service({ store: open() })
    const options = { middlewares: [], allowedFields: Object.keys(fields), query }
    app.mount('/dated', createRouter({ model: Dated, ...options } as never))
    return { send, stored: app.store.collection(Dated) }
  }

  describe(`${name}: dates inside other values`, () => {
    test('are written over JSON and come back as they are, wherever a schema holds them', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(cases, { minLength: 10, maxLength: 20 }), async (all) => {
          const of = <T>(part: (one: Case) => T) =>
            Object.fromEntries(all.map((one, at) => [`f${at}`, part(one)]))
          const { send, stored } = served(of(({ schema }) => schema.optional()))
          const json = of(({ sent }) => sent)
          const held = of((one) => one.held)
          const post = await send('POST', '/dated', { json })
          expect(post.body).toMatchObject({ success: true })
          const { _id, ...shown } = post.record
          expect(shown).toEqual(json)
          expect(await stored.findById(String(_id))).toEqual({ _id, ...held })
          const patch = await send('PATCH', `/dated/${_id}`, { json })
          expect(patch.record).toEqual({ _id, ...json })
          expect(await stored.findById(String(_id))).toEqual({ _id, ...held })
          expect((await send('GET', `/dated/${_id}`)).record).toEqual({ _id, ...json })
        }),
        { numRuns: runs(tries) },
      )
    })

    test.each(Object.entries(UNIONS))('are cast in unions: %s', async (_, [schema, ...values]) => {
      const { send, stored } = served({ value: schema })
      for (const [sent, held] of values) {
        const { record } = await send('POST', '/dated', { json: { value: sent } })
        expect(await stored.findById(String(record._id))).toEqual({ _id: record._id, value: held })
        const again = await stored.insert({ value: held })
        expect((await stored.findById(String(again._id)))?.value).toEqual(held)
      }
    })

    test('may stand beside other members, whatever the schema makes of those', async () => {
      const n = z.coerce.bigint().transform(String)
      const { send } = served({ value: z.object({ at: z.date() }).catchall(n) })
      const { record } = await send('POST', '/dated', { json: { value: { at: DAY, n: '5' } } })
      expect(record.value).toEqual({ at: SHOWN, n: '5' })
      expect(() => served({ value: z.object({}).catchall(z.bigint()) })).toThrow(
        "a record cannot hold the type 'bigint'",
      )
    })

    test('are cast in large values too', async () => {
      const at = z.union([z.date(), z.number()])
      const { send, stored } = served({
        spans: z.array(z.tuple([z.string(), at])),
        days: z.object({ first: z.string() }).catchall(at),
      })
      const names = Array.from({ length: 1500 }, (_, index) => `n${index}`)
      const json = {
        spans: names.map((one, index) => [DAY, index % 2 ? DAY : one.length]),
        days: { first: DAY, ...Object.fromEntries(names.map((one) => [one, DAY])) },
      }
      const { record } = await send('POST', '/dated', { json })
      const held = await stored.findById(String(record._id))
      expect(held?.spans).toEqual(names.map((one, index) => [DAY, index % 2 ? HELD : one.length]))
      expect(held?.days).toEqual({
        first: DAY,
        ...Object.fromEntries(names.map((one) => [one, HELD])),
      })
    })

    test('are found by a filter, whichever other values the field takes', async () => {
      const fields = {
        or: z.union([z.date(), z.literal(['never', 5])]).optional(),
        text: z.union([z.date(), z.string()]).optional(),
      }
      const { send } = served(fields, ['or', 'text'])
      for (const json of [{ or: DAY }, { or: 'never' }, { or: 5 }, { text: DAY }]) {
        expect((await send('POST', '/dated', { json })).status).toBe(201)
      }
      const found = async (query: string) =>
        (await send('GET', `/dated?${query}`)).records.map(({ or, text }) => or ?? text)
      expect(await found(`or=${DAY}`)).toEqual([SHOWN])
      expect(await found(`or=${SHOWN}`)).toEqual([SHOWN])
      expect(await found('or=never')).toEqual(['never'])
      expect(await found(`text=${DAY}`)).toEqual([DAY])
      // An empty value finds what has none, and a number is not compared with a string.
      expect(await found('or=')).toEqual([DAY])
      expect(await found('or=5')).toEqual([])
      expect(await found('compareField=or&compareValue=5')).toEqual([5])
      const json = { filter: { or: { gte: DAY, lt: '2026-01-03' } } }
      expect((await send('QUERY', '/dated', { json })).records).toMatchObject([{ or: SHOWN }])
    })

    test('are compared with dates alone, and the words beside them with words', async () => {
      const value = z.union([z.date(), z.literal(['never', '1 day'])])
      const { send } = served({ or: value.optional(), all: z.array(value).optional() }, [
        'or',
        'all',
      ])
      for (const one of [DAY, 'never', '1 day']) {
        const json = { or: one, all: [one] }
        expect((await send('POST', '/dated', { json })).status).toBe(201)
      }
      const found = async (field: string, operator: string, to: string) => {
        const query = `compareField=${field}&compareOperator=${operator}&compareValue=${to}`
        return (await send('GET', `/dated?${query}`)).records.map(({ or }) => or)
      }
      for (const field of ['or', 'all']) {
        expect(await found(field, 'lte', 'z')).toEqual(['never', '1 day'])
        expect(await found(field, 'gt', '1%20a')).toEqual(['never', '1 day'])
        expect(await found(field, 'gt', '2000-01-01')).toEqual([SHOWN])
        expect(await found(field, 'lte', '2100-01-01')).toEqual([SHOWN])
        expect(await found(field, 'ne', 'never')).toEqual([SHOWN, '1 day'])
      }
    })

    test('stay strings where the schema takes a string, and numbers where it takes a number', async () => {
      const { send, stored } = served({
        text: z.union([z.date(), z.string()]).optional(),
        mail: z.union([z.date(), z.email()]).optional(),
        any: z.union([z.date(), z.unknown()]).optional(),
        number: z.union([z.date(), z.number()]).optional(),
      })
      const json = { text: DAY, any: DAY, number: 2026 }
      const { record } = await send('POST', '/dated', { json })
      expect(await stored.findById(String(record._id))).toEqual({ _id: record._id, ...json })
      for (const refused of [{ mail: DAY }, { number: '2026' }, { number: '1e3' }]) {
        expect((await send('POST', '/dated', { json: refused })).status).toBe(400)
      }
    })
  })
}
