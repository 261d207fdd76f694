/**
 * Random zod schemas as source text, each with a value as a client sends it and as the app's own code does.
 *
 * @module
 */

import fc from 'fast-check'

/** A schema, and values of it, as TypeScript. */
export interface Told {
  readonly source: string
  readonly wire: string
  readonly own: string
  /** A member inside that may be hidden. */
  readonly inside?: string
}

const ISO = `'2024-02-29T10:00:00.000Z'`
const DATE = `new Date(${ISO})`
const CHOICE = `z.discriminatedUnion('is', [
  z.object({ is: z.literal('day'), at: z.date() }),
  z.object({ is: z.literal('note'), at: z.string(), by: z.string().default('me') }),
])`
const CODEC = `z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
})`

/** Schemas that hold no random ones, with a value; with another one for the app's own code where that has dates. */
const KNOWN: readonly (readonly [source: string, wire: string, own?: string])[] = [
  ['z.string()', `'a'`],
  ['z.number()', '1.5'],
  ['z.boolean()', 'true'],
  ['z.date()', ISO, DATE],
  ['z.date().default(() => new Date(5))', 'undefined'],
  [`z.enum(['r', 'g'])`, `'r'`],
  [`z.enum({ A: 0, B: 'b' })`, '0'],
  [`z.literal(['a', 1, null])`, '1'],
  [`z.templateLiteral(['v', z.int()])`, `'v1'`],
  [`z.string().trim().default('d')`, `'x'`],
  ['z.boolean().catch(false)', 'true'],
  ['z.number().prefault(3)', 'undefined'],
  ['z.string().transform((text) => text.length)', `'abc'`],
  ['z.string().transform((text) => text.length).pipe(z.number())', `'abc'`],
  [`z.preprocess((value) => (value === '' ? undefined : value), z.string().optional())`, `'a'`],
  [CODEC, ISO],
  ['z.coerce.number()', `'5'`],
  ['z.coerce.date()', ISO],
  ['z.stringbool()', `'yes'`],
  ['z.unknown()', '{ a: [1] }'],
  ['z.any()', '{ a: [1] }'],
  ['z.json()', '{ a: [1, null] }'],
  ['z.null()', 'null'],
  ['z.looseObject({ a: z.string() })', `{ a: 'x', more: 1 }`],
  ['z.strictObject({ a: z.string().optional(), d: z.date().nullish() })', `{ d: ${ISO} }`],
  [`z.object({ a: z.string().default('q'), b: z.number().catch(3) })`, '{ b: 4 }'],
  ['z.object({ a: z.int().default(1) }).prefault({})', '{}'],
  [`z.partialRecord(z.enum(['k', 'l']), z.int())`, '{ k: 1 }'],
  [`z.record(z.enum(['k', 'l']), z.date())`, `{ k: ${ISO}, l: ${ISO} }`],
  ['z.tuple([z.string(), z.int().optional()], z.boolean())', `['a', 1, true]`],
  ['z.tuple([z.date()])', `[${ISO}]`],
  [CHOICE, `{ is: 'note', at: 'x' }`],
  [CHOICE, `{ is: 'day', at: ${ISO} }`],
  ['z.union([z.date(), z.number()])', ISO],
  [
    'z.object({ a: z.string().optional() }).and(z.object({ b: z.date().nullish() }))',
    '{ b: null }',
  ],
  ['z.custom<{ a: number }>((value) => typeof value === "object")', '{ a: 1 }'],
  ['z.array(z.date().nullable())', `[${ISO}, null]`],
  ['Tree', `{ name: 'a', kids: [{ name: 'b', at: ${ISO} }] }`],
  [`ref('Target')`, 'TARGET'],
  [`ref('Target').optional()`, 'TARGET'],
  [`ref('Target').nullable()`, 'TARGET'],
  [`z.array(ref('Target'))`, '[TARGET]'],
  [`z.array(ref('Target').nullable())`, '[TARGET, null]'],
  [`z.object({ r: ref('Target'), n: z.number() })`, '{ r: TARGET, n: 1 }'],
  [`z.array(z.object({ r: ref('Target') }))`, '[{ r: TARGET }]'],
]

const known: fc.Arbitrary<Told> = fc.constantFrom(...KNOWN).map(([source, wire, own]) => ({
  source,
  wire,
  // A transform is given what a client sends.
  own: own ?? (/codec|coerce/.test(source) ? wire : wire.replaceAll(ISO, DATE)),
}))

/** Makes a schema of another one, and values of it. Those with a value to put in are not made of one that is absent. */
const WRAPS: readonly ((source: string, value: string) => readonly [string, string, string?])[] = [
  (source, value) => [`z.optional(${source})`, value],
  (source, value) => [`z.nullable(${source})`, value],
  (source) => [`z.nullable(${source})`, 'null'],
  (source) => [`z.nullish(${source})`, 'undefined'],
  (source, value) => [`z.readonly(${source})`, value],
  (source, value) => [`z.union([${source}, z.object({ other: z.string() })])`, value],
  (source, value) => [`z.array(${source})`, `[${value}, ${value}]`],
  (source, value) => [
    `z.object({ m: ${source}, o: z.number().optional() })`,
    `{ m: ${value} }`,
    'm',
  ],
  (source, value) => [`z.record(z.string(), ${source})`, `{ k: ${value} }`],
  (source, value) => [`z.tuple([${source}, z.int()])`, `[${value}, 1]`],
  (source, value) => [
    `z.object({ a: z.object({ b: z.optional(${source}) }) })`,
    `{ a: { b: ${value} } }`,
    'a.b',
  ],
]

/** Schemas of any depth. */
export const told: fc.Arbitrary<Told> = fc.letrec<{ node: Told }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    { arbitrary: known, weight: 3 },
    {
      weight: 2,
      arbitrary: fc.tuple(tie('node'), fc.constantFrom(...WRAPS)).map(([inner, wrap]): Told => {
        if (inner.wire === 'undefined') return inner
        const [source, wire, inside] = wrap(inner.source, inner.wire)
        const [, own] = wrap(inner.source, inner.own)
        return { source, wire, own, ...(inside && { inside }) }
      }),
    },
  ),
})).node
