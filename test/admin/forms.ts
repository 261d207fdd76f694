/**
 * Forms of generated models: what is written into their fields is what the store has, of a new record, and of one that is there.
 *
 * @module
 */

import { QueryClient } from '@tanstack/query-core'
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  date,
  dictionary,
  double,
  integer,
  option,
  record,
  string,
  uniqueArray,
} from 'fast-check'
import { expect } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { Data, type Values } from '../../packages/admin/src/page/data.ts'
import { type Document, shapeOf } from '../../packages/admin/src/page/document.ts'
import type { Field } from '../../packages/admin/src/page/fields.ts'
import * as form from '../../packages/admin/src/page/form-values.ts'
import { storedOf } from '../../packages/admin/src/page/lists.ts'
import { Rights } from '../../packages/admin/src/page/rights.ts'
import { createClient } from '../../src/client/index.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import { openapi } from '../../src/openapi/index.ts'
import { seeded } from '../runs.ts'

/** A schema, and values that it takes; undefined is none. */
type Kind = readonly [schema: z.ZodType, values: Arbitrary<unknown>]

const PLAIN = { noNullPrototype: true }
const text = string({ minLength: 1, maxLength: 8 })
const json = dictionary(constantFrom('a', 'b'), integer(), PLAIN)
const plain: Readonly<Record<string, Kind>> = {
  text: [z.string(), text],
  whole: [z.number().int(), integer()],
  // JSON has no -0.
  number: [z.number(), double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0)],
  truth: [z.boolean(), boolean()],
  choice: [z.enum(['red', 'green']), constantFrom('red', 'green')],
  level: [z.literal([1, 2, 3]), constantFrom(1, 2, 3)],
  either: [z.union([z.string(), z.number()]), constantFrom('5', 5, 'x')],
  map: [z.record(z.string(), z.number()), json],
}
const day = date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true })
const times: Readonly<Record<string, Kind>> = {
  time: [z.date(), day.map((one) => one.toISOString())],
  day: [z.iso.date(), day.map((one) => one.toISOString().slice(0, 10))],
}
const orNone = (values: Arbitrary<unknown>) => option(values, { nil: undefined })
const optional = ([schema, values]: Kind): Kind => [schema.optional(), orNone(values)]
const nullable = ([schema, values]: Kind): Kind => [schema.nullable(), option(values)]
const object = (kinds: Readonly<Record<string, Kind>>): Kind => [
  z.object(Object.fromEntries(Object.entries(kinds).map(([name, [schema]]) => [name, schema]))),
  record(
    Object.fromEntries(Object.entries(kinds).map(([name, [, values]]) => [name, values])),
    PLAIN,
  ),
]
const listOf = ([schema, values]: Kind): Kind => [z.array(schema), array(values, { maxLength: 3 })]
const each = (kinds: object, made: (kind: Kind) => Kind, name: string) =>
  Object.fromEntries(
    Object.entries(kinds).map(([key, kind]) => [`${name}_${key}`, made(kind as Kind)]),
  )

const { text: TEXT, truth, whole } = plain as Record<string, Kind>
const inner = object({ label: TEXT as Kind, isGood: truth as Kind, size: optional(whole as Kind) })
const flat = { ...plain, ...times, inner, id: plain.text as Kind }
const all: Readonly<Record<string, Kind>> = {
  ...flat,
  ...each({ ...plain, ...times, inner }, optional, 'optional'),
  ...each(plain, nullable, 'nullable'),
  ...each({ ...plain, inner }, listOf, 'list'),
  ...each({ text: TEXT, inner }, (kind) => optional(listOf(kind)), 'lists'),
  nested: object({ inner, rest: optional(object({ note: optional(TEXT as Kind) })) }),
  standard: [z.string().default('here'), text],
  on: [z.boolean().default(true), boolean()],
}

/** An app with a model of some fields, and what the page knows of it. */
async function page(names: readonly string[]) {
  const fields = Object.fromEntries(names.map((name) => [name, all[name]?.[0]])) as z.ZodRawShape
  const logger = { debug() {}, info() {}, warn() {}, error: console.error }
  const app = createApp({ store: sqliteStore(), logger })
  const model = defineModel('Thing', { fields: { title: z.string(), ...fields } as never })
  app
    .mount(
      '/things',
      createRouter({ model, middlewares: [], allowedFields: ['title', ...names] as never }),
    )
    .mount('/docs', openapi({ title: 'Things', version: '1' }))
  const response = await app.handle(new Request('http://app/docs/openapi.json'))
  const shape = shapeOf((await response.json()) as Document, {})
  const api = createClient('http://app', {
    fetch: (url, init) => app.handle(new Request(url, init)),
  })
  const data = new Data(api as never, shape, new Rights(), new QueryClient())
  return { data, resource: data.resource('things') }
}

/** A value as the controls of its field make it of what is there. */
function written(field: Field, before: unknown, next: unknown): unknown {
  if (field.kind === 'object' && next instanceof Object) {
    return (field.fields ?? []).reduce((whole, one) => {
      const was = (whole as Values | undefined)?.[one.name]
      return form.withMember(field, whole, one, written(one, was, (next as Values)[one.name]))
    }, before)
  }
  if (field.kind === 'list' && Array.isArray(next)) {
    const { item } = field
    return next.map((one) => (item ? written(item, form.begunItem(item), one) : one))
  }
  return form.taken(field, next ?? undefined)
}

/** What is there: nothing, null and an object without members are one. */
function there(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(there)
  if (!(value instanceof Object)) return value
  const entries = Object.entries(value).map(([name, one]) => [name, there(one)])
  const full = entries.filter(([, one]) => one !== undefined && one !== null)
  return full.length > 0 ? Object.fromEntries(full) : undefined
}

const t = (name: string) => name

const names = uniqueArray(constantFrom(...Object.keys(all)), { minLength: 3, maxLength: 6 })
const cases = names.chain((chosen) => {
  const values = Object.fromEntries(chosen.map((name) => [name, (all[name] as Kind)[1]]))
  return record({
    chosen: constantFrom(chosen),
    first: record(values, PLAIN),
    second: record(values, PLAIN),
  })
})

/** Writes `numRuns` records of as many models, and changes them. */
export async function formsStore(numRuns: number): Promise<void> {
  await assert(
    asyncProperty(cases, async ({ chosen, first, second }) => {
      const { data, resource } = await page(chosen)
      const { create, update } = resource.writable
      const edited = (fields: readonly Field[], before: Values, next: Values): Values => {
        const edits = fields
          .filter(({ name }) => name in next)
          .map((field) => [field.name, written(field, before[field.name], next[field.name])])
        return { ...before, ...Object.fromEntries(edits) }
      }
      const values = edited(create, form.valuesOf(create, undefined), { title: 'one', ...first })
      expect(form.wrong(create, values, t)).toEqual({})
      const { id } = await data.save('things', undefined, form.sent(values, true), {})
      const read = async () => {
        const { data: found } = await data.provider().getOne('things', { id: String(id) })
        const entries = Object.entries(storedOf(found))
        return Object.fromEntries(entries.filter(([name]) => chosen.includes(name)))
      }
      const before = await read()
      expect(there(before)).toEqual(there(first))
      const initial = form.valuesOf(update, before)
      expect(form.changesOf(initial, form.valuesOf(update, before))).toEqual({})
      const changes = form.changesOf(initial, edited(update, initial, second))
      expect(form.wrong(update, changes, t)).toEqual({})
      // As after a reload.
      const draft = new form.Draft('test', String(id))
      draft.keep(changes, undefined)
      const kept = { ...initial, ...draft.read()?.changes }
      const again = form.changesOf(initial, kept)
      const isChanged = Object.keys(again).length > 0
      if (isChanged) await data.save('things', String(id), form.sent(again, false), {})
      expect(there(await read())).toEqual(there(second))
    }),
    { numRuns, ...seeded },
  )
}
