/**
 * Fields that are declared in rarer ways, and values of them; texts of many languages, and names and keys that some place in some
 * store may take for something else.
 *
 * @module
 */

import * as z from 'zod'
import type { Random } from '../../../extras/contract/store/random.ts'
import { anything, DATES, KEYS, NUMBERS, raw, TEXTS } from './values.ts'

/** How they are called. */
export type Rare = keyof typeof RARE

type Make = (random: Random, right: boolean) => unknown

/** The first five dates have milliseconds or none; what is not right may be one that no record can hold. */
const date: Make = (random, right) => (right ? DATES[random.below(6)] : random.of(DATES))
const text: Make = (random) => random.of(TEXTS).toWellFormed()
const number: Make = (random, right) =>
  raw(right || random.chance(50) ? String(random.below(4) - 1) : random.of(NUMBERS))
const either =
  (...makes: [Make, ...Make[]]): Make =>
  (random, right) =>
    random.of(makes)(random, right)
const listOf =
  (make: Make): Make =>
  (random, right) =>
    random.list(3, () => make(random, right))
const mapOf =
  (make: Make): Make =>
  (random, right) =>
    Object.fromEntries(random.list(3, () => [random.of(KEYS), make(random, right)]))
const members =
  (all: Readonly<Record<string, Make>>): Make =>
  (random, right) => {
    const given = Object.entries(all).filter(() => random.chance(70))
    return Object.fromEntries(given.map(([name, make]) => [name, make(random, right)]))
  }
const oneOf =
  (...values: [unknown, ...unknown[]]): Make =>
  (random) =>
    random.of(values)

const WORDS = oneOf('true', 'false', 'on', 'off', 'y', 'N', '1', '0', 'enabled')
const ISO = [
  '2024-02-29',
  '2024-01-01T10:00:00Z',
  '2024-01-01T10:00:00+02:00',
  '9999-12-31',
] as const
const scalar = z.union([z.string(), z.number(), z.boolean()])
const day = z.object({ is: z.literal('day'), in: z.date() })
const note = z.object({ is: z.literal('note'), in: z.string() })
const both = z.object({ is: z.literal('both'), in: z.array(z.date()), out: z.nullish(z.number()) })

/** The schema of each, and what makes values of it. */
export const RARE = {
  dateOrNumber: [z.union([z.date(), z.number()]), either(date, number)],
  dateOrWord: [
    z.union([z.date(), z.literal('never'), z.boolean()]),
    either(date, oneOf('never', true, false)),
  ],
  dateOrText: [z.union([z.date(), z.string()]), either(date, text)],
  dateOrList: [
    z.union([z.date(), z.array(z.date()), z.object({ in: z.date() })]),
    either(date, listOf(date), (random, right) => ({ in: date(random, right) })),
  ],
  tuple: [
    z.tuple([z.string(), z.number()]),
    (random, right) => [text(random, right), number(random, right)],
  ],
  grid: [z.array(z.array(z.number())), listOf(listOf(number))],
  words: [z.array(z.array(z.string())), listOf(listOf(text))],
  cube: [z.array(z.array(z.array(scalar))), listOf(listOf(listOf(either(text, number))))],
  lists: [z.array(z.union([z.array(z.string()), z.string()])), listOf(either(text, listOf(text)))],
  tagged: [
    z.discriminatedUnion('is', [day, note, both]),
    either(
      (random, right) => ({ is: 'day', in: date(random, right) }),
      (random, right) => ({ is: 'note', in: text(random, right) }),
      (random, right) => ({ is: 'both', in: listOf(date)(random, right) }),
    ),
  ],
  bag: [
    z.record(z.string(), z.object({ in: z.nullish(z.date()), out: z.nullish(z.number()) })),
    mapOf(members({ in: date, out: number })),
  ],
  maps: [
    z.array(z.record(z.string(), z.unknown())),
    listOf(mapOf((random) => anything(random, 2))),
  ],
  unions: [z.array(scalar), listOf(either(text, number, oneOf(true, false)))],
  anys: [z.array(z.unknown()), listOf((random) => anything(random, 1))],
  nullables: [z.array(z.nullable(z.string())), listOf(either(text, oneOf(null)))],
  literals: [z.literal([1, 2, 3.5]), oneOf(raw('1'), raw('2'), raw('3.5'))],
  isoDate: [z.union([z.iso.date(), z.iso.datetime({ offset: true })]), oneOf(...ISO)],
  stringbool: [z.stringbool(), either(WORDS, WORDS, oneOf(true, 'maybe'))],
  piped: [
    z
      .string()
      .transform((one) => one.toUpperCase())
      .pipe(z.string()),
    text,
  ],
} as const satisfies Record<string, readonly [z.ZodType, Make]>

const NAMES = Object.keys(RARE) as [Rare, ...Rare[]]
/** Those that hold one value of one type. */
const ORDERED: readonly string[] = ['literals', 'isoDate', 'stringbool', 'piped']
/** Those that no option can name: lists of lists, and objects with any keys. */
const CLOSED: readonly string[] = ['grid', 'words', 'cube', 'bag', 'maps']

export const anyRare = (random: Random): Rare => random.of(NAMES)
export const isRare = (kind: string): kind is Rare => Object.hasOwn(RARE, kind)
export const isOrderedRare = (kind: string): boolean => ORDERED.includes(kind)
export const isClosed = (kind: string): boolean => kind === 'map' || CLOSED.includes(kind)

export function rareValue(random: Random, kind: Rare, right: boolean): unknown {
  return RARE[kind][1](random, right)
}

/** What a URL or a filter says of one. */
export function rareText(random: Random, kind: Rare): string {
  if (kind === 'literals') return random.of(['1', '2', '3.5', '4', '9007199254740993'])
  if (kind === 'isoDate') return random.of(ISO)
  if (kind === 'stringbool') return random.of(['true', 'false', 'yes', '1', '0', 'No'])
  return random.of([...DATES, ...NUMBERS, ...TEXTS, 'never', 'true'])
}
