/**
 * What may happen during one walk: random records, a random order to walk them in, and what others write meanwhile.
 *
 * @module
 */

import fc from 'fast-check'
import * as z from 'zod'
import { defineModel, type Model, type Values } from '../../../src/index.ts'

const fields = {
  /** Which walk the record belongs to: the walks share a store. */
  walk: z.string(),
  name: z.string(),
  size: z.number().nullish(),
  at: z.date().nullish(),
  done: z.boolean().nullish(),
  kind: z.enum(['cup', 'jug', 'pot']).nullish(),
  place: z.object({ row: z.number().nullish(), city: z.string().nullish() }).nullish(),
  note: z.string().optional(),
}
type StepValues = Values<typeof fields>

/** The records that are walked. */
export const Step: Model<StepValues> = defineModel('WalkStep', {
  fields,
  indexes: ['walk'],
})

/** The fields that a walk is sorted by. */
export const KEYS = ['name', 'size', 'at', 'done', 'kind', 'place.row', 'place.city'] as const

/** The sortable fields of a record; an undefined one is missing. */
export type KeyValues = Partial<Omit<StepValues, 'walk' | 'note'>> & { readonly name: string }

/** A write of another client's; `of` picks the record that it meets. */
export type Write =
  | { readonly kind: 'insert'; readonly values: KeyValues }
  | { readonly kind: 'delete' | 'touch'; readonly of: number }
  | { readonly kind: 'move'; readonly of: number; readonly values: KeyValues }

/** One walk. */
export interface Plan {
  readonly records: readonly KeyValues[]
  /** As a QUERY body says it. */
  readonly sort: readonly string[]
  readonly pageSize: number
  /** What is written while each page is read. */
  readonly turns: readonly (readonly Write[])[]
}

const nullable = <T>(...values: readonly T[]): fc.Arbitrary<T | null | undefined> =>
  fc.constantFrom<T | null | undefined>(...values, ...values, null, undefined)

// Few values each, so that there are ties in every key.
const keyValues: fc.Arbitrary<KeyValues> = fc.record({
  name: fc.constantFrom('', 'a', 'B', 'é', 'ab', '😀', '\uffff'),
  size: nullable(-2.5, 0, 7, 1e21),
  at: nullable(new Date(-1), new Date(0), new Date(1_709_294_400_000)),
  done: nullable(true, false),
  kind: nullable('cup', 'jug', 'pot'),
  place: fc.oneof(
    fc.record({ row: nullable(1, 2, 30), city: nullable('', 'X', 'x') }),
    nullable<never>(),
  ),
})

const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), values: keyValues }),
  fc.record({ kind: fc.constantFrom('delete' as const, 'touch' as const), of: fc.nat(999) }),
  fc.record({ kind: fc.constant('move' as const), of: fc.nat(999), values: keyValues }),
)

const key: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('', '-'), fc.constantFrom(...KEYS))
  .map(([sign, field]) => sign + field)

/** Random walks. */
export const plans: fc.Arbitrary<Plan> = fc.record({
  records: fc.array(keyValues, { minLength: 5, maxLength: 40, size: 'max' }),
  sort: fc.array(key, { minLength: 0, maxLength: 4 }),
  pageSize: fc.integer({ min: 1, max: 7 }),
  turns: fc.array(fc.array(write, { maxLength: 4 }), { maxLength: 20, size: 'max' }),
})
