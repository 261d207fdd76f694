/**
 * Of a value with thousands of others inside, the first mistake is enough; in everything else it is parsed as any other.
 */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { $ZodType } from 'zod/v4/core'
import { valueParser } from '../../src/model/shape/validate.ts'
import { runs } from '../runs.ts'

const waiting = z.string().refine(async (text) => text !== 'a', 'no a')

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

/** What makes a value large. */
const padding = Array(2000).fill(0)

type Outcome = { readonly data: unknown } | { readonly messages: readonly string[] }

async function outcomeOf(schema: $ZodType, value: unknown, pad: unknown): Promise<Outcome> {
  const whole = z.object({ value: schema as z.ZodType, pad: z.array(z.number()) })
  try {
    const result = await valueParser(whole)({ value, pad })
    if (result.success) return { data: (result.data as { value?: unknown }).value }
    return {
      messages: [...result.issues].map(({ path, message }) => JSON.stringify([path, message])),
    }
  } catch (error) {
    // An intersection whose sides cannot be merged is the app's mistake, and zod says so.
    return { messages: [String(error).slice(0, 24)] }
  }
}

/** The messages of a refusal, which has at least one. */
function messagesIn(outcome: Outcome): readonly string[] {
  if ('data' in outcome) throw new Error('a large value was taken that is wrong')
  expect(outcome.messages).not.toHaveLength(0)
  return outcome.messages
}

it('a large value has the outcome of a small one, but for further messages', async () => {
  await fc.assert(
    fc.asyncProperty(schemas, values, async (schema, value) => {
      const small = await outcomeOf(schema, value, [])
      const large = await outcomeOf(schema, value, padding)
      if ('data' in small) expect(large).toEqual(small)
      else expect(small.messages).toEqual(expect.arrayContaining([...messagesIn(large)]))
    }),
    { numRuns: runs(500) },
  )
})
