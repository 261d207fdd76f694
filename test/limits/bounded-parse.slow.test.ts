/**
 * Large values are parsed in slices, with the outcome that zod has.
 */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type $ZodType, safeParseAsync } from 'zod/v4/core'
import { boundedParse } from '../../src/model/bounded-parse.ts'
import { partsIn } from '../../src/model/parts.ts'

const waiting = z.string().refine(async (text) => text !== 'a', 'no a')

/**
 * zod takes an option of a union that does not wait before the ones that do, whatever their order; of a large value every
 * option may wait, and the first that fits is taken.
 */
function isRace(schema: $ZodType): boolean {
  const found = partsIn(schema).parts.map((part) => part.schema)
  return found.includes(waiting) && found.some(({ _zod }) => _zod.def.type === 'union')
}

const rests = fc.constantFrom<z.ZodType[]>(
  z.string(),
  z.array(z.number()),
  z.record(z.string(), z.array(z.string().min(2))),
)

/** Schemas of all kinds that models have, some with rules of the deployer's, synchronous and not. */
const schemas = fc.letrec<{ schema: $ZodType; leaf: $ZodType }>((tie) => {
  const inner = tie('schema') as fc.Arbitrary<z.ZodType>
  return {
    leaf: fc.constantFrom<$ZodType[]>(
      z.string(),
      z.string().min(2, 'short'),
      z.number().int().max(3),
      z.boolean(),
      z.null(),
      z.unknown(),
      z.literal(['a', 'b']),
      z.string().transform((text) => text.length),
      z.string().refine((text) => text !== 'b', 'no b'),
      waiting,
    ),
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      tie('leaf'),
      inner.map((one) => z.array(one)),
      inner.map((one) => z.array(one).min(2).max(4)),
      inner.map((one) => z.array(one).length(3, 'three')),
      inner.map((one) =>
        z.array(one).refine((list) => new Set(list).size === list.length, 'unique'),
      ),
      inner.map((one) =>
        z.array(one).superRefine((list, context) => {
          for (const index of list.keys())
            context.addIssue({ code: 'custom', path: [index], message: 'never' })
        }),
      ),
      inner.map((one) => z.array(one).transform((list) => list.length)),
      inner.map((one) => z.array(one).optional()),
      inner.map((one) => z.array(one).nullable()),
      inner.map((one) => z.array(one).default([])),
      inner.map((one) => z.array(one).catch([])),
      inner.map((one) => z.lazy(() => z.array(one))),
      inner.map((one) => z.record(z.string().max(2), one)),
      inner.map((one) => z.record(z.enum(['a', 'b']), one)),
      inner.map((one) => z.partialRecord(z.enum(['a', 'b']), one)),
      fc.tuple(inner, inner).map(([a, b]) => z.object({ a, b: b.optional() })),
      inner.map((one) => z.strictObject({ a: one })),
      inner.map((one) => z.looseObject({ a: one.optional() })),
      fc.tuple(inner, inner).map(([a, b]) => z.object({ a }).catchall(b)),
      // zod 4.6 takes the rest of a tuple to the wrong places where it waits for something.
      fc.tuple(inner, rests).map(([a, b]) => z.tuple([a]).rest(b)),
      fc.tuple(inner, inner).map(([a, b]) => z.tuple([a, b])),
      fc.tuple(inner, inner).map(([a, b]) => z.union([a, b])),
      fc
        .tuple(inner, inner)
        .map(([a, b]) => z.union([z.array(a).transform(() => 'list'), b, z.unknown()])),
      fc.tuple(inner, inner).map(([a, b]) => z.xor([a, b])),
      fc
        .tuple(inner, inner)
        .map(([a, b]) =>
          z.discriminatedUnion('a', [
            z.object({ a: z.literal('a'), b: a }),
            z.looseObject({ a: z.literal('b'), b }),
          ]),
        ),
      fc
        .tuple(inner, inner)
        .map(([a, b]) => z.intersection(z.looseObject({ a }), z.record(z.string().max(1), b))),
    ),
  }
}).schema

const values = fc.jsonValue({ maxDepth: 4 }).chain((any) =>
  fc.oneof(
    fc.constant<unknown>(any),
    fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>('', 'a', 'b', 'abc', 1, 2, 3.5, 9, true, null),
        fc.array(tie('value'), { maxLength: 6 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c', 'abc'), tie('value')),
      ),
    })).value,
  ),
)

interface Outcome {
  readonly ok: boolean
  readonly data?: unknown
  readonly issues?: unknown
}

async function outcome(
  parsed: () => Promise<{ success: boolean; data?: unknown; error?: unknown }>,
): Promise<Outcome | string> {
  try {
    const result = await parsed()
    if (result.success) return { ok: true, data: result.data }
    const { issues } = result.error as z.ZodError
    const texts = issues.map(({ path, message, code }) => JSON.stringify([path, message, code]))
    return { ok: false, issues: texts.sort() }
  } catch (error) {
    // An intersection whose sides cannot be merged is the deployer's mistake, and zod says so.
    return String(error).slice(0, 24)
  }
}

describe('a value that is parsed in slices', () => {
  it.each([1, 2, 4])(
    'has the outcome that zod gives it, large being %i values',
    async (large) => {
      await fc.assert(
        fc.asyncProperty(schemas, values, async (schema, value) => {
          fc.pre(!isRace(schema))
          const wanted = await outcome(() => safeParseAsync(schema, value))
          expect(await outcome(() => boundedParse(schema, value, {}, large))).toEqual(wanted)
          // What has been prepared goes on parsing as before.
          expect(await outcome(() => safeParseAsync(schema, value))).toEqual(wanted)
        }),
        { numRuns: 1500 },
      )
    },
    120_000,
  )
})
