import { describe, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'
import { defineModel, type Model, type RecordOf, ref } from '../../src/index.ts'

const City = defineModel('TypedCity', {
  fields: {
    name: z.string(),
    country: ref('TypedCountry'),
    mayor: ref('TypedPerson').optional(),
    population: z.number().optional(),
    tags: z.array(z.string()),
    foundedAt: z.date().nullable(),
    kind: z.enum(['town', 'city']).default('city'),
    address: z.object({ street: z.string() }),
  },
  timestamps: true,
})

describe('design, Model', () => {
  test('design, Model: a record has the types that its schemas produce', () => {
    expectTypeOf<RecordOf<typeof City>>().toExtend<{
      readonly _id: string
      readonly createdAt?: Date
      name: string
      country: string
      mayor?: string | undefined
      population?: number | undefined
      tags: string[]
      foundedAt: Date | null
      kind: 'town' | 'city'
      address: { street: string }
    }>()
    expectTypeOf<RecordOf<typeof City>['kind']>().toEqualTypeOf<'town' | 'city'>()
    expectTypeOf<RecordOf<typeof City>['mayor']>().toEqualTypeOf<string | undefined>()
  })

  test('design, Model: zod/mini, and an object with refinements, give the same types', () => {
    const Mini = defineModel('TypedMini', {
      fields: { name: mini.string(), size: mini.optional(mini.number()) },
    })
    const Refined = defineModel('TypedRefined', {
      fields: z.object({ from: z.number(), to: z.number() }).refine((span) => span.from <= span.to),
    })
    expectTypeOf<RecordOf<typeof Mini>['size']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<RecordOf<typeof Refined>['from']>().toEqualTypeOf<number>()
  })

  test('design, Model: a misspelt field in unique, indexes or hidden is a compile error', () => {
    const fields = { name: z.string(), code: z.string(), address: z.object({ street: z.string() }) }
    defineModel('TypedRight', {
      fields,
      unique: ['code', ['name', 'code']],
      indexes: ['-name', ['code', '-address.street']],
      hidden: ['address.street'],
    })
    // @ts-expect-error 'cod' is no field
    const unique = () => defineModel('TypedWrong', { fields, unique: ['cod'] })
    // @ts-expect-error 'cod' is no field
    const compound = () => defineModel('TypedWrong', { fields, unique: [['name', 'cod']] })
    // @ts-expect-error 'nmae' is no field
    const index = () => defineModel('TypedWrong', { fields, indexes: ['-nmae'] })
    // @ts-expect-error 'secret' is no field
    const hidden = () => defineModel('TypedWrong', { fields, hidden: ['secret'] })
    // @ts-expect-error 'colection' is no option
    const option = () => defineModel('TypedWrong', { fields, colection: 'x' })
    for (const wrong of [unique, compound, index, hidden, option])
      expectTypeOf(wrong).toBeFunction()
  })

  test('design, Model: a misspelt field or value in transitions, initial or exclude is a compile error', () => {
    const fields = {
      status: z.enum(['open', 'done']).default('open'),
      level: z.union([z.literal(1), z.literal(2)]).optional(),
      from: z.date(),
      to: z.date(),
    }
    const range = ['from', 'to'] as const
    defineModel('TypedRules', {
      fields,
      transitions: { status: { open: ['done'] }, level: { 1: [2] } },
      initial: { status: ['open'], level: [1] },
      exclude: [
        { equal: ['status'], range: ['from', 'to'], where: { status: ['open'], level: [2] } },
      ],
    })
    // @ts-expect-error 'statu' is no field
    const field = () => defineModel('TypedWrong', { fields, transitions: { statu: {} } })
    const from = () =>
      // @ts-expect-error 'opn' is no value
      defineModel('TypedWrong', { fields, transitions: { status: { opn: ['done'] } } })
    const to = () =>
      // @ts-expect-error 'dne' is no value
      defineModel('TypedWrong', { fields, transitions: { status: { open: ['dne'] } } })
    // @ts-expect-error 'opn' is no value
    const start = () => defineModel('TypedWrong', { fields, initial: { status: ['opn'] } })
    // @ts-expect-error 'tool' is no field
    const equal = () => defineModel('TypedWrong', { fields, exclude: [{ equal: ['tool'], range }] })
    const end = () =>
      // @ts-expect-error a range has two ends
      defineModel('TypedWrong', { fields, exclude: [{ equal: [], range: ['from'] }] })
    const where = { status: ['opn'] as const }
    const value = () =>
      // @ts-expect-error 'opn' is no value
      defineModel('TypedWrong', { fields, exclude: [{ equal: [], range, where }] })
    for (const wrong of [field, from, to, start, equal, end, value])
      expectTypeOf(wrong).toBeFunction()
  })

  test('design, Model: output sees the record', () => {
    defineModel('TypedOutput', {
      fields: { name: z.string() },
      output: (record) => {
        expectTypeOf(record.name).toEqualTypeOf<string>()
        expectTypeOf(record._id).toEqualTypeOf<string>()
        return record
      },
    })
    const late = () =>
      // @ts-expect-error what a response shows is there at once
      defineModel('TypedLate', { fields: { n: z.number() }, output: async (record) => record })
    expectTypeOf(late).toBeFunction()
    expectTypeOf(City).toExtend<Model<{ name: string }>>()
  })
})
