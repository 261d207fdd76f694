/**
 * Random models with many fields, records that tie in their order, and filters of any length.
 *
 * @module
 */

import * as z from 'zod'
import type { Random } from '../../../extras/contract/store/random.ts'
import { defineModel } from '../../../src/index.ts'
import { collectionSchema } from '../../../src/model/collection-schema.ts'
import type { Filter, SortKey } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { CollectionSchema } from '../../../src/ports/store/store.ts'
import { parseConditions } from '../../../src/records/engine/conditions.ts'

/** A random model with records. */
export interface World {
  readonly schema: CollectionSchema
  readonly records: readonly Fields[]
  /** The fields to sort by. */
  readonly sorted: readonly string[]
  /** The number of conditions that a filter may have. */
  readonly conditions: number
  /** The filter with the first `most` conditions, which most records meet. */
  filterOf(most: number): Filter
  /** A random order by up to five keys, and the id. */
  order(): SortKey[]
}

const KINDS = {
  number: z.number(),
  text: z.string(),
  flag: z.boolean(),
  date: z.date(),
  texts: z.array(z.string()),
  numbers: z.array(z.number()),
  any: z.unknown(),
} as const

type Kind = keyof typeof KINDS

/** What records hold in a field of each kind: nearly all of them the first value. */
const VALUES: { readonly [K in Kind]: readonly [unknown, ...unknown[]] } = {
  number: [1, 2, 0.1],
  text: ['a', "it's", 'é'],
  flag: [true, false],
  date: [new Date(0), new Date(86_400_000)],
  texts: [['a'], ['a', 'b'], []],
  numbers: [[1], [1, 2.5], []],
  any: [1, 'a', true, null],
}

const hundred = Array.from({ length: 100 }, (_, at) => at)

/** Conditions on a field of each kind that nearly all records meet, with as many values as a list may have. */
const CONDITIONS: { readonly [K in Kind]: Readonly<Record<string, unknown>> } = {
  number: { ne: 7, gt: -1, gte: 0, lt: 10, lte: 2.5, in: hundred, nin: [8, 9.5, null], eq: 1 },
  text: { ne: 'z', gt: '', gte: 'a', lt: '\u{10ffff}', lte: 'ÿ', nin: hundred, in: ['a', 'é'] },
  flag: { ne: null, gte: false, lte: true, in: [true, false] },
  date: { ne: 5, gt: -1, gte: 0, lt: 1e12, lte: '2030-01-01T00:00:00Z', nin: [1, 2] },
  texts: { ne: 'z', nin: ['x', null], lt: 'zz', eq: 'a' },
  numbers: { ne: 3, nin: [9, 8], gte: 1, in: hundred },
  any: { ne: 'z', nin: ['x', 3, false], in: [1, 'a', true, null], eq: 1 },
}

/** A world whose collection has this name. */
export function worldOf(random: Random, collection: string): World {
  const length = random.of([4, 12, 40])
  const named = (name: string) => name.padEnd(length, random.chance(20) ? 'é' : 'x')
  const kinds = Object.keys(KINDS) as [Kind, ...Kind[]]
  const wide = Array.from({ length: random.of([30, 120, 250]) }, (_, at) => ({
    name: named(`f${at}`),
    kind: random.of(kinds),
  }))
  const [rank, title, checked, level, since, nested] = [
    'rank',
    'title',
    'checked',
    'level',
    'since',
    'nested',
  ].map(named) as [string, string, string, string, string, string]
  const model = defineModel('Wide', {
    collection,
    fields: {
      [rank]: z.number().nullish(),
      [title]: z.string().optional(),
      [checked]: z.boolean().nullish(),
      [nested]: z
        .object({ [level]: z.number().optional(), [since]: z.date().optional() })
        .optional(),
      ...Object.fromEntries(wide.map(({ name, kind }) => [name, KINDS[kind].optional()])),
    },
  })
  const often = (name: string, values: readonly [unknown, ...unknown[]]) =>
    random.chance(75) && { [name]: random.of(values) }
  const records = Array.from({ length: 14 }, (_, at): Fields => {
    const inside = {
      ...often(level, [1, 2]),
      ...often(since, [new Date(0), new Date(5000)]),
    }
    const others = wide.map(({ name, kind }) => {
      const values = VALUES[kind]
      return [name, random.below(1000) > 0 ? values[0] : random.of(values)]
    })
    return {
      _id: (at * 7 + 1).toString(16).padStart(24, '0'),
      ...often(rank, [1, 2, null]),
      ...often(title, ['a', 'b']),
      ...often(checked, [true, false, null]),
      ...often(nested, [inside]),
      ...Object.fromEntries(others),
    }
  })
  const conditions = wide.flatMap(({ name, kind }) =>
    Object.entries(CONDITIONS[kind]).map(([operator, value]) => ({ name, operator, value })),
  )
  const sorted = [rank, title, checked, `${nested}.${level}`, `${nested}.${since}`]
  return {
    schema: collectionSchema(model),
    records,
    sorted,
    conditions: conditions.length,
    filterOf(most) {
      const body: Record<string, Record<string, unknown>> = {}
      for (const { name, operator, value } of conditions.slice(0, most)) {
        body[name] = { ...body[name], [operator]: value }
      }
      return parseConditions(model, body)
    },
    order() {
      const shuffled = [...sorted].sort(() => random.below(3) - 1)
      const keys = [...shuffled.slice(0, random.below(6)), '_id']
      return keys.map((field) => ({ field, descending: random.chance(50) }))
    },
  }
}
