/**
 * What a list may be asked, in no syntax: random questions, and how each is put as a GET and as a QUERY.
 *
 * @module
 */

import fc from 'fast-check'
import {
  DATES,
  HALLS,
  type Library,
  MIXED,
  NUMBERS,
  PLACES,
  type Place,
  type Setting,
  TEXTS,
  type Type,
} from './library.ts'

export type Value = string | number | boolean | Date | null

export type Compare = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte'

/** A condition on one field; `spelling` picks one of the ways to write its values. */
export interface Condition {
  readonly place: Place
  readonly op: Compare | 'in' | 'nin'
  readonly values: readonly Value[]
  readonly spelling: number
}

/** A question to a list. Of two conditions on one field no two have the same operator. */
export interface Question {
  /** Any-of, one for each field. */
  readonly equalities: readonly Condition[]
  /** Both inclusive. */
  readonly range?: { readonly min?: Condition; readonly max?: Condition }
  readonly compare?: Condition
  /** What only a QUERY can ask. */
  readonly more: readonly Condition[]
  readonly search?: string
  readonly sort: readonly string[]
  readonly page?: number
  readonly pageSize?: number
  readonly limit?: number
}

/** Every condition of a question. */
export function conditionsOf({ equalities, range, compare, more }: Question): Condition[] {
  const all = [...equalities, range?.min, range?.max, compare, ...more]
  return all.filter((one): one is Condition => one !== undefined)
}

/** The question as the URL parameters of a GET, or undefined where a GET cannot ask it. */
export function asGet(question: Question, { pagination }: Setting): string | undefined {
  const { more, search, sort, limit } = question
  if (more.length > 0 || sort.length > 1 || limit !== undefined) return undefined
  const pairs = [...filterPairs(question)]
  if (search !== undefined) pairs.push(['s', search])
  if (sort[0] !== undefined) pairs.push(['sort', sort[0]])
  pairs.push(...pagePairs(question, pagination))
  if (pairs.some(([, text]) => text === undefined)) return undefined
  return new URLSearchParams(pairs as unknown as string[][]).toString()
}

/** A parameter and its value; undefined where no text says that value. */
type Pair = readonly [string, string | undefined]

function filterPairs({ equalities, range, compare }: Question): Pair[] {
  const pairs: Pair[] = equalities.flatMap((one) =>
    one.values.map((value) => [one.place.path, textOf(value, one)] as const),
  )
  const rangePlace = (range?.min ?? range?.max)?.place
  if (rangePlace) pairs.push(['rangeField', rangePlace.path], ['range', rangeText(range)])
  if (compare) {
    const [value] = compare.values
    // Whether an empty compareValue is a value is not settled.
    const text = value === null || value === '' ? undefined : textOf(value ?? null, compare)
    pairs.push(['compareField', compare.place.path], ['compareValue', text])
    if (compare.op !== 'eq' || compare.spelling % 2) pairs.push(['compareOperator', compare.op])
  }
  return pairs
}

function pagePairs({ page, pageSize }: Question, pagination: Setting['pagination']): Pair[] {
  // A pageSize alone paginates in a QUERY, not in a GET.
  const first = pageSize !== undefined && pagination === 'offset' ? 1 : undefined
  const pairs: Pair[] = []
  if (page ?? first) pairs.push(['page', String(page ?? first)])
  if (pageSize !== undefined) pairs.push(['pageSize', String(pageSize)])
  return pairs
}

/** The question as the body of a QUERY, or undefined where a QUERY cannot ask it. */
export function asQuery(question: Question): Record<string, unknown> | undefined {
  const conditions = conditionsOf(question)
  if (conditions.some(({ place }) => place.path.includes('.'))) return undefined
  const fields = [...new Set(conditions.map(({ place }) => place.path))]
  const filter = Object.fromEntries(
    fields.map((field) => [field, form(conditions.filter(({ place }) => place.path === field))]),
  )
  const { search, sort, page, pageSize, limit } = question
  return {
    ...(fields.length > 0 && { filter }),
    ...(search !== undefined && { search }),
    ...(sort.length > 0 && { sort: sort.length === 1 ? sort[0] : sort }),
    ...(page !== undefined && { page }),
    ...(pageSize !== undefined && { pageSize }),
    ...(limit !== undefined && { limit }),
  }
}

/** A scalar means equals, an array any-of, an object maps operators to values. */
function form(conditions: readonly Condition[]): unknown {
  const [only] = conditions
  const plain = conditions.length === 1 && only && only.spelling % 2 === 0
  if (plain && only.op === 'eq') return jsonOf(only.values[0] ?? null, only)
  if (plain && only.op === 'in') return only.values.map((value) => jsonOf(value, only))
  return Object.fromEntries(
    conditions.map((one) => {
      const values = one.values.map((value) => jsonOf(value, one))
      return [one.op, one.op === 'in' || one.op === 'nin' ? values : values[0]]
    }),
  )
}

/** One of the ways to write a value in a URL, or undefined where there is none. */
function textOf(value: Value, { place: { type }, spelling }: Condition): string | undefined {
  // On a text the empty text is a value; whether it is one on the others that hold texts is not settled.
  if (value === null) return ['string', 'enum', 'mixed'].includes(type) ? undefined : ''
  if (value === '' && type !== 'string') return undefined
  if (type === 'mixed' && typeof value !== 'string') return undefined
  const ways = spellings(value)
  return ways[spelling % ways.length]
}

/** One of the ways to write a value in JSON. */
function jsonOf(value: Value, { place: { type }, spelling }: Condition): unknown {
  if (value === null || typeof value === 'string' || type === 'mixed') return value
  const own = value instanceof Date ? value.getTime() : value
  const ways = [own, ...spellings(value)]
  return ways[spelling % ways.length]
}

function spellings(value: string | number | boolean | Date): readonly string[] {
  if (value === true) return ['true', '1', 'yes']
  if (value === false) return ['false', '0', 'no']
  if (typeof value === 'number') return [String(value), value.toExponential()]
  if (typeof value === 'string') return [value]
  const iso = value.toISOString()
  const later = new Date(value.getTime() + 3_600_000).toISOString().replace('Z', '+01:00')
  const day = iso.endsWith('T00:00:00.000Z') ? [iso.slice(0, 10)] : []
  return [iso, String(value.getTime()), later, ...day]
}

function rangeText(range: Question['range']): string | undefined {
  const [min, max] = [range?.min?.values[0], range?.max?.values[0]]
  if ([min, max].some((bound) => bound === null)) return undefined
  const dates = range?.min?.place.type === 'date' || range?.max?.place.type === 'date'
  const spelling = range?.min?.spelling ?? range?.max?.spelling ?? 0
  if (dates && spelling % 2) {
    const [from, to] = [min, max].map((date) => (date as Date | undefined)?.toISOString() ?? '')
    return `${from}..${to}`
  }
  const [from, to] = [min, max].map((bound) => (bound === undefined ? '' : String(Number(bound))))
  // Ranges split on '-'.
  return from?.includes('-') || to?.includes('-') ? undefined : `${from}-${to}`
}

/** Random questions to `library` through a router with `setting`. */
export function questions(library: Library, setting: Setting): fc.Arbitrary<Question> {
  const isOffset = setting.pagination === 'offset'
  const value = values(library)
  const condition = (places: readonly Place[], op: fc.Arbitrary<Condition['op']>, most = 1) =>
    fc
      .tuple(fc.constantFrom(...places), op, fc.nat(11))
      .chain(([place, op, spelling]) =>
        fc
          .array(value(place), { minLength: 1, maxLength: op.endsWith('in') ? most : 1 })
          .map((values) => ({ place, op, values, spelling })),
      )
  const compare = fc.constantFrom<Compare[]>('eq', 'ne', 'gt', 'gte', 'lt', 'lte')
  const anyOperator = fc.oneof(compare, fc.constantFrom<Condition['op'][]>('in', 'nin'))
  const ranged = PLACES.filter(({ type }) => type === 'number' || type === 'date')
  const range = fc.constantFrom(...ranged).chain((place) =>
    fc.record({
      min: sometimes(75, condition([place], fc.constant('gte'))),
      max: sometimes(75, condition([place], fc.constant('lte'))),
    }),
  )
  const key = fc
    .tuple(fc.constantFrom('', '-'), fc.constantFrom(...PLACES.filter(({ single }) => single)))
    .map(([sign, { path }]) => sign + path)
  return fc
    .record({
      equalities: list(40, 2, condition(PLACES, fc.constant('in'), 3)),
      range: sometimes(25, range),
      compare: sometimes(35, condition(PLACES, compare)),
      more: list(20, 3, condition(PLACES, anyOperator, 4)),
      search: sometimes(25, fc.constantFrom('a', 'ZO', 'zoë', 'ALIAS', 'σ', 'SS', ...TEXTS)),
      sort: fc.oneof({ weight: 4, arbitrary: list(60, 1, key) }, list(100, 5, key)),
      page: sometimes(isOffset ? 40 : 0, fc.integer({ min: 1, max: 11 })),
      pageSize: sometimes(40, fc.integer({ min: 1, max: 40 })),
      limit: sometimes(isOffset ? 15 : 0, fc.integer({ min: 1, max: 40 })),
    })
    .map(askable)
}

function sometimes<T>(percent: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  const none = { weight: 100 - percent, arbitrary: fc.constant(undefined) }
  return fc.oneof(none, { weight: percent, arbitrary: value })
}

function list<T>(percent: number, maxLength: number, value: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  const some = fc.array(value, { minLength: 1, maxLength })
  return sometimes(percent, some).map((made) => made ?? [])
}

/** What is drawn, before contradictions are taken out. */
interface Drawn {
  readonly equalities: readonly Condition[]
  readonly range:
    | { readonly min?: Condition | undefined; readonly max?: Condition | undefined }
    | undefined
  readonly compare: Condition | undefined
  readonly more: readonly Condition[]
  readonly search: string | undefined
  readonly sort: readonly string[]
  readonly page: number | undefined
  readonly pageSize: number | undefined
  readonly limit: number | undefined
}

/** Without what contradicts itself: `limit` beside a page, two conditions with one field and operator. */
function askable(drawn: Drawn): Question {
  const seen = new Set<string>()
  const first = (one: Condition | undefined): one is Condition => {
    const key = `${one?.place.path} ${one?.op}`
    return one !== undefined && !seen.has(key) && seen.add(key) !== undefined
  }
  const { min, max } = drawn.range ?? {}
  const equalities = drawn.equalities.filter(first)
  const range = { ...(first(min) && { min }), ...(first(max) && { max }) }
  const { compare, search, sort, page, pageSize, limit } = drawn
  const isPaged = page !== undefined || pageSize !== undefined
  return {
    equalities,
    ...((range.min || range.max) && { range }),
    ...(first(compare) && { compare }),
    more: drawn.more.filter(first),
    ...(search !== undefined && { search }),
    sort,
    ...(page !== undefined && { page }),
    ...(pageSize !== undefined && { pageSize }),
    ...(limit !== undefined && !isPaged && { limit }),
  }
}

/** Values that a condition on a field may be given, among them some that no record has. */
function values({ books, people }: Library): (place: Place) => fc.Arbitrary<Value> {
  const ids = (records: Library['books']) => records.map(({ _id }) => String(_id))
  const pools: Readonly<Record<Exclude<Type, 'id'>, readonly Value[]>> = {
    string: TEXTS,
    number: [...NUMBERS, 1990, 2000],
    boolean: [true, false],
    date: DATES,
    enum: HALLS,
    mixed: MIXED,
  }
  const unknown = '0123456789abcdef01234567'
  return ({ path, type }) => {
    const pool = type === 'id' ? [...ids(path === '_id' ? books : people), unknown] : pools[type]
    return fc.oneof({ weight: 7, arbitrary: fc.constantFrom(...pool) }, fc.constant(null))
  }
}
