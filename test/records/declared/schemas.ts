/**
 * Random zod schemas, with values that they take and the same values with members that they do not declare.
 *
 * @module
 */

import fc from 'fast-check'
import * as z from 'zod'

/** A schema, a value of it, and that value with undeclared members wherever an object declares its members. */
export interface Case {
  readonly schema: z.ZodType
  readonly value: unknown
  readonly sprinkled: unknown
}

/** No schema declares a name that starts like this. */
const UNDECLARED = 'zz'

const extras: fc.Arbitrary<Record<string, unknown>> = fc.dictionary(
  fc.constantFrom(`${UNDECLARED}1`, `${UNDECLARED}2`),
  fc.jsonValue(),
  { maxKeys: 2 },
)

const scalars: fc.Arbitrary<Case> = fc
  .oneof(
    fc.tuple(fc.constant(z.string()), fc.string()),
    fc.tuple(fc.constant(z.number()), fc.integer()),
    fc.tuple(fc.constant(z.boolean().nullable()), fc.constantFrom(true, null)),
    fc.tuple(fc.constant(z.enum(['a', 'b'])), fc.constantFrom('a', 'b')),
    fc.tuple(fc.constant(z.date()), fc.date({ noInvalidDate: true })),
  )
  .map(([schema, value]) => ({ schema, value, sprinkled: value }))

const open: fc.Arbitrary<Case> = fc
  .tuple(
    fc.constantFrom<z.ZodType>(
      z.unknown(),
      z.any(),
      z.json(),
      z.record(z.string(), z.unknown()),
      z.string().transform((text) => ({ text })),
      z.looseObject({}),
    ),
    fc.dictionary(fc.constantFrom('a', 'toString'), fc.jsonValue()),
  )
  .map(([schema, value]) => ({ schema, value, sprinkled: value }))

const { node } = fc.letrec<{ node: Case }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { arbitrary: scalars, weight: 3 },
    { arbitrary: open, weight: 1 },
    { arbitrary: objects(tie('node')), weight: 3 },
    { arbitrary: lists(tie('node')), weight: 2 },
    { arbitrary: records(tie('node')), weight: 1 },
    { arbitrary: wrapped(tie('node')), weight: 2 },
  ),
}))

/** Cases of any depth. */
export const cases: fc.Arbitrary<Case> = node

function objects(inner: fc.Arbitrary<Case>): fc.Arbitrary<Case> {
  return fc
    .tuple(fc.dictionary(fc.constantFrom('a', 'b', 'toString'), inner, { maxKeys: 3 }), extras)
    .map(([members, extra]) => {
      const entries = Object.entries(members)
      return {
        schema: z.object(Object.fromEntries(entries.map(([key, one]) => [key, one.schema]))),
        value: Object.fromEntries(entries.map(([key, one]) => [key, one.value])),
        sprinkled: {
          ...extra,
          ...Object.fromEntries(entries.map(([key, one]) => [key, one.sprinkled])),
        },
      }
    })
}

function lists(inner: fc.Arbitrary<Case>): fc.Arbitrary<Case> {
  return fc.tuple(inner, fc.nat(2)).map(([one, more]) => {
    const repeat = (value: unknown) => Array.from({ length: more + 1 }, () => value)
    return {
      schema: z.array(one.schema),
      value: repeat(one.value),
      sprinkled: repeat(one.sprinkled),
    }
  })
}

function records(inner: fc.Arbitrary<Case>): fc.Arbitrary<Case> {
  return inner.map((one) => ({
    schema: z.record(z.string(), one.schema),
    value: { zz: one.value, any: one.value },
    sprinkled: { zz: one.sprinkled, any: one.sprinkled },
  }))
}

/** What wraps a schema, and what offers it among others, declares the same. */
function wrapped(inner: fc.Arbitrary<Case>): fc.Arbitrary<Case> {
  const ways: ((schema: z.ZodType) => z.ZodType)[] = [
    (schema) => schema.optional(),
    (schema) => schema.nullish(),
    (schema) => schema.readonly(),
    (schema) => schema.catch(null),
    (schema) => z.lazy(() => schema),
    (schema) => z.union([schema, z.number()]),
    (schema) => z.union([z.object({ other: z.string() }), schema]),
    (schema) => z.union([z.array(z.string()), schema, z.null()]),
    (schema) => z.preprocess((value) => value, schema),
    (schema) =>
      z
        .string()
        .transform((text) => JSON.parse(text))
        .pipe(schema),
  ]
  return fc.tuple(inner, fc.constantFrom(...ways)).map(([one, wrap]) => ({
    ...one,
    schema: wrap(one.schema),
  }))
}
