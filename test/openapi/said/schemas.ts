/**
 * Random zod schemas of a field, each with JSON that it takes.
 *
 * @module
 */

import fc from 'fast-check'
import * as z from 'zod'

/** A schema, and a value as a client sends it; undefined is left out. */
export interface Case {
  readonly schema: z.ZodType
  readonly value: unknown
}

const DATE = '2024-02-29T10:00:00.000Z'
const UUID = '0b8e2d3c-2b5f-4c9a-8a51-8f0a37a0a1b2'
const tuple = z.tuple([z.string(), z.int().optional()], z.boolean())
const day = z.object({ is: z.literal('day'), at: z.date() })
const note = z.object({ is: z.literal('note'), at: z.string(), by: z.string().default('me') })
const both = z.object({ a: z.string().optional() }).and(z.object({ b: z.date().nullish() }))
const instant = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
})
const Tree = z.object({
  name: z.string(),
  get kids() {
    return z.array(Tree).optional()
  },
})

/** Schemas that hold no random ones, with values of each. */
const KNOWN: readonly (readonly [z.ZodType, ...unknown[]])[] = [
  [z.string(), '', 'a', 'Élan'],
  [z.string().regex(/^[a-z]+$/i), 'aZ'],
  [z.string().regex(/^a.c$/s).regex(/c/), 'a\nc'],
  [z.string().regex(/^b$/m).max(9), 'a\nb'],
  [z.string().trim().toLowerCase(), ' A '],
  [
    z
      .string()
      .min(1)
      .refine(async (text) => text !== 'taken'),
    'free',
  ],
  [z.string().startsWith('a').endsWith('c').includes('b'), 'abc'],
  ...([z.email(), z.url(), z.uuid(), z.iso.date(), z.iso.time()] as const).map(
    (schema, at) =>
      [schema, ['a@example.org', 'https://a.ch/x?y=1', UUID, '2024-02-29', '10:00'][at]] as const,
  ),
  [z.iso.datetime({ offset: true, local: true }), DATE, '2024-02-29T10:00:00'],
  [z.base64(), 'aGk='],
  [z.e164(), '+41791234567'],
  [z.cuid2(), 'tz4a98xxat96iws9zmbrgj3a'],
  [z.templateLiteral(['v', z.int(), z.enum(['-a', '-b'])]), 'v1-a'],
  [z.number(), 0, -1.5, 1e21],
  [z.number().gt(0).lte(5).multipleOf(0.5), 2.5],
  [z.int32(), -2147483648],
  [z.float32(), 0.5],
  [z.boolean(), true],
  [z.stringbool(), 'yes'],
  [z.date(), DATE],
  [z.coerce.date(), DATE],
  [z.coerce.number(), 5],
  [z.enum(['red', 'green']), 'red'],
  [z.enum({ A: 0, B: 'b' }), 0, 'b'],
  [z.literal(['a', 1, null]), 'a', 1, null],
  [z.literal(true), true],
  [z.null(), null],
  [z.unknown(), 1, { a: [null] }],
  [z.json(), { a: [1, null, 'b'] }],
  [z.looseObject({ a: z.string() }), { a: 'x', more: { b: 1 } }],
  [z.strictObject({ a: z.string().optional() }), {}, { a: 'x' }],
  [z.object({ a: z.string() }).catchall(z.int()), { a: 'x', more: 1 }],
  [z.object({ a: z.string() }).meta({ id: 'said/by zod' }), { a: 'x' }],
  [z.object({ a: z.int().default(1) }).prefault({}), undefined, {}],
  [z.partialRecord(z.enum(['k', 'l']), z.int()), { k: 1 }],
  [z.record(z.enum(['k', 'l']), z.date()), { k: DATE, l: DATE }],
  [tuple, ['a'], ['a', 1, true]],
  [z.discriminatedUnion('is', [day, note]), { is: 'day', at: DATE }, { is: 'note', at: 'x' }],
  [z.union([z.date(), z.number()]), DATE, 5],
  [z.xor([z.string(), z.number()]), 'a', 1],
  [both, {}, { a: 'x', b: DATE }],
  [Tree, { name: 'a', kids: [{ name: 'b' }] }],
  [instant, '2024-02-29T10:00:00Z'],
  [
    z
      .string()
      .transform((text) => text.length)
      .pipe(z.number()),
    'abc',
  ],
  [z.preprocess((value) => (value === '' ? undefined : value), z.string().optional()), 'a'],
]

const known: fc.Arbitrary<Case> = fc
  .constantFrom(...KNOWN)
  .chain(([schema, ...values]) => fc.constantFrom(...values).map((value) => ({ schema, value })))

const NAMES = ['a', 'is', 'or', 'the name', 'é', '0', 'items', 'properties', 'required'] as const

const WRAPS: readonly ((schema: z.ZodType) => z.ZodType)[] = [
  (schema) => schema.optional(),
  (schema) => schema.nullable().optional(),
  (schema) => schema.nullish(),
  (schema) => schema.readonly(),
  (schema) => schema.brand('b'),
  (schema) => z.lazy(() => schema),
  (schema) => z.nonoptional(schema.optional()),
  (schema) => schema.refine(async () => true),
  (schema) => schema.meta({ description: 'Said.' }),
  (schema) => z.union([schema, z.object({ other: z.string() })]),
]

const { node } = fc.letrec<{ node: Case }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { arbitrary: known, weight: 5 },
    { arbitrary: objects(tie('node')), weight: 2 },
    { arbitrary: lists(tie('node')), weight: 1 },
    { arbitrary: wrapped(tie('node')), weight: 3 },
  ),
}))

/** Cases of any depth. */
export const cases: fc.Arbitrary<Case> = node

function objects(inner: fc.Arbitrary<Case>): fc.Arbitrary<Case> {
  const members = fc.dictionary(fc.constantFrom(...NAMES), inner, { minKeys: 1, maxKeys: 3 })
  return fc
    .tuple(members, fc.constantFrom(z.object, z.strictObject, z.looseObject))
    .map(([found, make]): Case => {
      const all = Object.entries(found)
      const sent = all.filter(([, { value }]) => value !== undefined)
      return {
        schema: make(Object.fromEntries(all.map(([name, { schema }]) => [name, schema]))),
        value: Object.fromEntries(sent.map(([name, { value }]) => [name, value])),
      }
    })
}

/** Lists, tuples and records of it, where a value is there. */
function lists(inner: fc.Arbitrary<Case>): fc.Arbitrary<Case> {
  const there = inner.filter(({ value }) => value !== undefined)
  return fc.tuple(there, fc.nat(2)).map(([{ schema, value }, kind]): Case => {
    if (kind === 0) return { schema: z.array(schema), value: [value, value] }
    if (kind === 1) return { schema: z.tuple([schema, z.int()]), value: [value, 1] }
    return { schema: z.record(z.string(), schema), value: { k: value, 'l m': value } }
  })
}

function wrapped(inner: fc.Arbitrary<Case>): fc.Arbitrary<Case> {
  return fc
    .tuple(inner, fc.constantFrom(...WRAPS), fc.boolean())
    .map(([{ schema, value }, wrap, isLeftOut]): Case => {
      // What is absent already takes no part in a union, and must be there for some.
      if (value === undefined) return { schema: schema.readonly(), value }
      const made = wrap(schema)
      return { schema: made, value: isLeftOut && made.def.type === 'optional' ? undefined : value }
    })
}
