/**
 * The records that reads are asked of: books of every field type, with ties, nulls and missing values, and
 * the people whom they refer to.
 *
 * @module
 */

import fc from 'fast-check'
import * as z from 'zod'
import {
  type App,
  createApp,
  createRouter,
  defineModel,
  type Fields,
  type Logger,
  type RouterOptions,
  ref,
  type Store,
  type Values,
} from '../../../src/index.ts'
import { NOON } from '../service.ts'

const Person = defineModel('OraclePerson', {
  fields: {
    name: z.string(),
    aliases: z.array(z.string()).optional(),
    password: z.string(),
  },
  hidden: ['password'],
})

const books = {
  title: z.string(),
  note: z.string().nullish(),
  copies: z.number().nullish(),
  price: z.number(),
  lent: z.boolean().nullish(),
  printed: z.date().nullish(),
  hall: z.enum(['east', 'north', 'west']).nullish(),
  author: ref('OraclePerson').nullish(),
  editors: z.array(ref('OraclePerson')).optional(),
  tags: z.array(z.string()).optional(),
  marks: z.array(z.number()).optional(),
  reviewed: z.array(z.date()).optional(),
  size: z.object({ height: z.number().nullish(), cover: z.string().nullish() }).optional(),
  prints: z.array(z.object({ year: z.number(), place: z.string() })).optional(),
  extra: z.unknown().optional(),
  barcode: z.string(),
}
const Book = defineModel('OracleBook', { fields: books, timestamps: true, hidden: ['barcode'] })
type BookValues = Values<typeof books>

/** What a field holds, as the spec names it. */
export type Type = 'string' | 'number' | 'boolean' | 'date' | 'id' | 'enum' | 'mixed'

/** A field that lists may be filtered by. */
export interface Place {
  readonly path: string
  readonly type: Type
  /** Whether lists are sorted by it; no order is promised over lists, nor over values of several types. */
  readonly single: boolean
}

const place = (path: string, type: Type, single = true): Place => ({ path, type, single })

/** Every field that the routers name. */
export const PLACES: readonly Place[] = [
  place('_id', 'id'),
  place('title', 'string'),
  place('note', 'string'),
  place('copies', 'number'),
  place('price', 'number'),
  place('lent', 'boolean'),
  place('printed', 'date'),
  place('hall', 'enum'),
  place('author', 'id'),
  place('createdAt', 'date'),
  place('size.height', 'number'),
  place('size.cover', 'string'),
  place('extra', 'mixed', false),
  place('editors', 'id', false),
  place('tags', 'string', false),
  place('marks', 'number', false),
  place('reviewed', 'date', false),
  place('prints.year', 'number', false),
  place('prints.place', 'string', false),
]

/** The fields that `?s=` looks in; the first part of a dotted one is a reference. */
export const SEARCHED = ['title', 'note', 'tags', 'author.name', 'author.aliases', 'editors.name']

/** How a router over the books differs from the others. */
export interface Setting {
  readonly pagination: 'offset' | 'cursor'
  readonly countStrategy: 'exact' | 'estimated' | 'none'
  readonly maxLimit: number
  readonly defaultPageSize: number
  readonly maxPage?: number
  readonly orderBy?: readonly string[]
}

/** The routers over the books, by their mounts. */
export const SETTINGS: Readonly<Record<string, Setting>> = {
  '/exact': {
    pagination: 'offset',
    countStrategy: 'exact',
    maxLimit: 30,
    defaultPageSize: 7,
    maxPage: 9,
  },
  '/none': {
    pagination: 'offset',
    countStrategy: 'none',
    maxLimit: 100,
    defaultPageSize: 100,
    orderBy: ['-price', 'title'],
  },
  '/estimated': {
    pagination: 'offset',
    countStrategy: 'estimated',
    maxLimit: 12,
    defaultPageSize: 12,
    orderBy: ['-printed'],
  },
  '/cursor': {
    pagination: 'cursor',
    countStrategy: 'exact',
    maxLimit: 25,
    defaultPageSize: 6,
    orderBy: ['hall'],
  },
}

/** An app over a store that holds the library. */
export interface Library {
  readonly app: App
  readonly books: readonly Fields[]
  readonly people: readonly Fields[]
}

const SEED = 20_240_301
const BOOKS = 90
const NAMES = ['Ada', 'ada', 'Zoë', 'ZOË', 'Σίσυφος', 'Straße', '10%', 'a_b', '', 'O\'Neill "x"']

/** Texts with everything that a dialect may trip over, and ties by case. */
export const TEXTS: readonly string[] = [
  ...NAMES,
  'Ω',
  'zoe',
  'STRASSE',
  'ς',
  '.*',
  '\\',
  '$ne',
  ' a ',
  '7',
  '10',
  'true',
  'null',
  '😀',
  '\uffff',
  'a\u0000b',
  'ı',
  'K',
]
export const NUMBERS: readonly number[] = [0, 1, 2, 7, 10, 0.5, 1e21, 2 ** 53, -1, -2.5, 1e-7]
const DAY = 86_400_000
export const DATES: readonly Date[] = [-DAY, 0, 1, DAY, NOON, NOON + 1, NOON + DAY].map(
  (at) => new Date(at),
)
export const HALLS = ['east', 'north', 'west'] as const
/** Values of a field of no type; no text among them looks like a number. */
export const MIXED: readonly (string | number | boolean | null)[] = [
  'x',
  'Y',
  '',
  1,
  10,
  true,
  null,
]

/** Millions of requests may be sent: what is logged is not kept. */
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Fills `store` with the library, always the same, and mounts the routers over it, and `more`. */
export async function openLibrary(
  store: Store,
  more: (app: App) => void = () => {},
): Promise<Library> {
  let now = NOON
  const app = createApp({ store, logger: silent, now: () => now, env: {} })
  more(app)
  for (const [path, setting] of Object.entries(SETTINGS)) {
    app.mount(path, createRouter({ model: Book, ...(options(setting) as object) }))
  }
  await app.ready()
  const stored = app.store.collection(Person)
  const people: Fields[] = []
  for (const [at, name] of NAMES.entries()) {
    const aliases = at % 3 === 0 ? {} : { aliases: [`alias ${at}`, TEXTS[at + 9] ?? ''] }
    people.push(
      (await stored.insert({ name, ...aliases, password: 'unseen' })) as unknown as Fields,
    )
  }
  const ids = people.map((person) => String(person._id))
  const records: Fields[] = []
  for (const values of fc.sample(book(ids), { seed: SEED, numRuns: BOOKS })) {
    now += fc.sample(fc.constantFrom(0, 0, DAY), { seed: records.length, numRuns: 1 })[0] ?? 0
    records.push((await app.store.collection(Book).insert(values)) as unknown as Fields)
  }
  return { app, books: records, people }
}

function options({ orderBy, ...setting }: Setting): Partial<RouterOptions<BookValues>> {
  const paths = PLACES.map(({ path }) => path) as NonNullable<RouterOptions<BookValues>['query']>
  const single = PLACES.filter((one) => one.single).map(({ path }) => path) as typeof paths
  return {
    query: paths,
    sortableFields: single,
    search: SEARCHED as unknown as typeof paths,
    allowedFields: ['title'],
    ...setting,
    ...(orderBy && { orderBy: orderBy as typeof paths }),
  }
}

function book(people: readonly string[]): fc.Arbitrary<BookValues> {
  const nullable = <T>(value: fc.Arbitrary<T>) =>
    fc.oneof(value, value, value, fc.constant(null), fc.constant(undefined))
  const listOf = <T>(value: fc.Arbitrary<T>) =>
    fc.option(fc.array(value, { maxLength: 3 }), { nil: undefined })
  const text = fc.constantFrom(...TEXTS)
  const number = fc.constantFrom(...NUMBERS)
  const date = fc.constantFrom(...DATES)
  const person = fc.constantFrom(...people)
  const height = nullable(number)
  return fc
    .record({
      title: text,
      note: nullable(text),
      copies: nullable(number),
      price: fc.constantFrom(1, 2, 2.5, 10),
      lent: nullable(fc.boolean()),
      printed: nullable(date),
      hall: nullable(fc.constantFrom(...HALLS)),
      author: nullable(person),
      editors: listOf(person),
      tags: listOf(text),
      marks: listOf(number),
      reviewed: listOf(date),
      size: fc.option(fc.record({ height, cover: nullable(text) }), { nil: undefined }),
      prints: listOf(fc.record({ year: fc.constantFrom(1990, 2000, 2010), place: text })),
      extra: fc.constantFrom(...MIXED, undefined),
      barcode: fc.constant('hidden-barcode'),
    })
    .map((values) => withoutUndefined(values) as BookValues)
}

function withoutUndefined(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (Array.isArray(value)) return value.map(withoutUndefined)
  const kept = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutUndefined(inner)]))
}
