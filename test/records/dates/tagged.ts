/**
 * Unions with dates in some of their options, each with values as a client sends them and as a record holds them.
 *
 * @module
 */

import * as z from 'zod'

export const DAY = '2026-01-02'
export const HELD = new Date(DAY)

const a = z.object({ is: z.literal('a'), at: z.date() })
const b = z.object({ is: z.literal('b'), at: z.string() })
const c = z.object({ is: z.literal('c') })
const x = z.object({ to: z.literal('x'), on: z.date() })
const y = z.object({ to: z.literal('y'), on: z.string() })
const one = z.object({ v: z.literal(1), at: z.date() })
const two = z.object({ v: z.literal(2), at: z.string() })
const yes = z.object({ v: z.literal(true), at: z.date() })
const word = z.object({ v: z.literal('1'), at: z.string() })

type Pair = readonly [sent: unknown, held: unknown]
const same = (value: unknown): Pair => [value, value]
const day: Pair = [
  { is: 'a', at: DAY },
  { is: 'a', at: HELD },
]
const text = same({ is: 'b', at: DAY })
const both = (pair: Pair, more: object): Pair => [
  { ...(pair[0] as object), ...more },
  { ...(pair[1] as object), ...more },
]

/** By what they are: a schema, and the values that it takes. */
export const UNIONS: Readonly<Record<string, readonly [schema: z.ZodType, ...values: Pair[]]>> = {
  lazy: [z.union([z.lazy(() => a), z.lazy(() => b)]), day, text],
  frozen: [z.union([a.readonly(), b]), day, text],
  nullable: [z.union([a.nullable(), b.optional()]), day, text, same(null)],
  piped: [z.union([a.pipe(a), b]), day, text],
  nested: [z.union([z.union([a, b]), c]), day, text, same({ is: 'c' })],
  'nested beside strings': [
    z.union([z.discriminatedUnion('is', [a, b]), c, z.string()]),
    day,
    text,
    same({ is: 'c' }),
    same(DAY),
  ],
  'without a tag': [
    z.discriminatedUnion('is', [a.extend({ is: z.literal('a').optional() }), b]),
    day,
    text,
    [{ at: DAY }, { at: HELD }],
  ],
  'beside an object without a tag': [
    z.union([a, b, z.object({ n: z.number() })]),
    day,
    text,
    same({ n: 1 }),
  ],
  'beside an object that takes the string': [
    z.union([a, b, z.object({ is: z.string(), at: z.string() })]),
    same({ is: 'a', at: DAY }),
    text,
  ],
  'beside a record that takes the string': [
    z.union([a, c, z.record(z.string(), z.string())]),
    same({ is: 'a', at: DAY, more: 'q' }),
    same({ is: 'c' }),
  ],
  'and null': [z.union([z.date(), z.literal(null)]), [DAY, HELD], same(null)],
  'and digits': [z.union([z.date(), z.enum(['1', '2'])]), [DAY, HELD], same('1')],
  'told apart by a number': [
    z.union([one, two]),
    [
      { v: 1, at: DAY },
      { v: 1, at: HELD },
    ],
    [
      { v: '1', at: DAY },
      { v: 1, at: HELD },
    ],
    [
      { v: '2', at: DAY },
      { v: 2, at: DAY },
    ],
  ],
  'told apart by several types': [
    z.discriminatedUnion('v', [one, yes, word]),
    [
      { v: 'true', at: DAY },
      { v: true, at: HELD },
    ],
    same({ v: '1', at: DAY }),
  ],
  'that have more': [
    z.object({ on: z.string() }).and(z.discriminatedUnion('is', [a, b])),
    both(day, { on: DAY }),
    both(text, { on: DAY }),
  ],
  'that are two': [
    z.union([a, b]).and(z.union([x, y])),
    both(day, { to: 'y', on: DAY }),
    [
      { is: 'b', at: DAY, to: 'x', on: DAY },
      { is: 'b', at: DAY, to: 'x', on: HELD },
    ],
  ],
  'that may be anything too': [z.any().and(z.union([a, b])), day, text],
}
