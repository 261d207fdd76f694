/**
 * Random schemas with dates inside, each with a value as a client sends it and as a record holds it.
 *
 * @module
 */

import fc from 'fast-check'
import * as z from 'zod'

/** A schema with a value that it takes: as JSON, and as a record holds it. */
export interface Case {
  readonly schema: z.ZodType
  readonly sent: unknown
  readonly held: unknown
}

/** A case whose values have the type `of`, so that a union can tell it from others. */
interface Typed extends Case {
  readonly of: 'date' | 'number' | 'boolean' | 'word' | 'list' | 'object'
}

const dates: fc.Arbitrary<Typed> = fc
  .oneof(
    // Stores write the year 0 in ways of their own.
    { arbitrary: between('0000-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'), weight: 1 },
    { arbitrary: between('0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'), weight: 2 },
  )
  .map((date) => ({ of: 'date', schema: z.date(), sent: date.toISOString(), held: date }))

function between(min: string, max: string): fc.Arbitrary<Date> {
  return fc.date({ min: new Date(min), max: new Date(max), noInvalidDate: true })
}

const plain = (of: Typed['of'], schema: z.ZodType, value: unknown): Typed => ({
  of,
  schema,
  sent: value,
  held: value,
})

const scalars: fc.Arbitrary<Typed> = fc.oneof(
  { arbitrary: dates, weight: 4 },
  fc.integer().map((number) => plain('number', z.number(), number)),
  fc.boolean().map((value) => plain('boolean', z.boolean(), value)),
  fc
    .constantFrom('never', 'always')
    .map((word) => plain('word', z.enum(['never', 'always']), word)),
)

const { node } = fc.letrec<{ node: Typed; single: Typed }>((tie) => {
  const inner = tie('node')
  const single = tie('single')
  return {
    single: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { arbitrary: scalars, weight: 4 },
      lists(inner),
      tuples(inner),
      objects(inner),
      variants(inner),
      intersections(inner),
    ),
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { arbitrary: single, weight: 4 },
      fc.array(single, { minLength: 2, maxLength: 4 }).map(union),
      single.map((one) => ({ ...one, schema: z.lazy(() => one.schema) })),
      single.map((one) => ({ ...one, schema: one.schema.nullable().readonly() })),
    ),
  }
})

/** Cases of any depth. */
export const cases: fc.Arbitrary<Case> = node

function lists(inner: fc.Arbitrary<Typed>): fc.Arbitrary<Typed> {
  return fc.tuple(inner, fc.nat(2)).map(([one, more]) => ({
    of: 'list',
    schema: z.array(one.schema),
    sent: Array.from({ length: more + 1 }, () => one.sent),
    held: Array.from({ length: more + 1 }, () => one.held),
  }))
}

function tuples(inner: fc.Arbitrary<Typed>): fc.Arbitrary<Typed> {
  return fc
    .tuple(fc.array(inner, { minLength: 1, maxLength: 3 }), fc.option(inner))
    .map(([items, rest]) => {
      const schemas = items.map(({ schema }) => schema) as [z.ZodType]
      const all = rest ? [...items, rest, rest] : items
      return {
        of: 'list',
        schema: rest ? z.tuple(schemas, rest.schema) : z.tuple(schemas),
        sent: all.map(({ sent }) => sent),
        held: all.map(({ held }) => held),
      }
    })
}

function objects(inner: fc.Arbitrary<Typed>): fc.Arbitrary<Typed> {
  return fc.tuple(inner, inner, fc.boolean()).map(([named, other, isRecord]) => {
    const of = (way: 'sent' | 'held') => ({
      ...(!isRecord && { named: named[way] }),
      one: other[way],
      two: other[way],
    })
    const schema = isRecord
      ? z.record(z.string(), other.schema)
      : z.object({ named: named.schema }).catchall(other.schema)
    return { of: 'object', schema, sent: of('sent'), held: of('held') }
  })
}

/** Objects of which a member tells what the others are, whether the union says so or not. */
function variants(inner: fc.Arbitrary<Typed>): fc.Arbitrary<Typed> {
  return fc.tuple(inner, inner, fc.boolean()).map(([one, other, says]) => {
    const options = [
      z.object({ is: z.literal('text'), value: z.string() }),
      z.object({ is: z.literal(['one', 1]), value: one.schema }),
      z.object({ is: z.literal('other'), value: other.schema }),
    ] as const
    return {
      of: 'object',
      schema: says ? z.discriminatedUnion('is', options) : z.union(options),
      sent: { is: 'other', value: other.sent },
      held: { is: 'other', value: other.held },
    }
  })
}

function intersections(inner: fc.Arbitrary<Typed>): fc.Arbitrary<Typed> {
  return fc.tuple(inner, inner).map(([one, other]) => ({
    of: 'object',
    schema: z.intersection(
      z.looseObject({ one: one.schema }),
      z.looseObject({ other: other.schema }),
    ),
    sent: { one: one.sent, other: other.sent },
    held: { one: one.held, other: other.held },
  }))
}

/** A union of the types among `options`, one of each; the value is that of the first. */
function union(options: readonly Typed[]): Typed {
  const [first, ...others] = new Map(options.toReversed().map((one) => [one.of, one])).values()
  const chosen = options[0] as Typed
  const schemas = [first, ...others].map((one) => (one as Typed).schema) as [z.ZodType]
  return { ...chosen, schema: z.union(schemas) }
}
