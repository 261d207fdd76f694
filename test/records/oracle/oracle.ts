/**
 * The answer that a question must get: the sentences of the contract over plain arrays, each in the plainest
 * way. It knows nothing of how the kit reads.
 *
 * @module
 */

import type { Fields } from '../../../src/index.ts'
import { type Library, SEARCHED, type Setting } from './library.ts'
import { type Condition, conditionsOf, type Question, type Value } from './question.ts'

/** An answer, as far as it can be foretold: in cursor mode the token cannot. */
export interface Foretold {
  readonly status: 200 | 400
  readonly body: Readonly<Record<string, unknown>>
}

/** What `question` must be answered with by a router with `setting`. */
export function foretell(library: Library, setting: Setting, question: Question): Foretold {
  const { maxPage = Number.POSITIVE_INFINITY, maxLimit, defaultPageSize } = setting
  if (question.page !== undefined && question.page > maxPage) {
    const error = `Page ${question.page} is beyond the maximum of ${maxPage}. Narrow the filter, or page with a cursor instead.`
    return { status: 400, body: { success: false, error } }
  }
  const found = ordered(matching(library, question), question.sort, setting.orderBy ?? [])
  const show = (records: readonly Fields[]) => records.map(shown)
  const isPaged = question.page !== undefined || question.pageSize !== undefined
  if (setting.pagination === 'offset' && !isPaged) {
    const data = show(found.slice(0, Math.min(question.limit ?? maxLimit, maxLimit)))
    return { status: 200, body: { success: true, data } }
  }
  const pageSize = Math.min(question.pageSize ?? defaultPageSize, maxLimit)
  const currentPage = question.page ?? 1
  const end = currentPage * pageSize
  const data = show(found.slice(end - pageSize, end))
  const pagination = paginationOf(setting, currentPage, pageSize, found.length)
  return { status: 200, body: { success: true, data, pagination } }
}

function paginationOf(
  { pagination, countStrategy }: Setting,
  currentPage: number,
  pageSize: number,
  totalRecords: number,
): Readonly<Record<string, unknown>> {
  const hasMore = totalRecords > currentPage * pageSize
  if (pagination === 'cursor') return { pageSize, hasMore, nextCursor: hasMore ? 'a token' : null }
  if (countStrategy === 'none') return { currentPage, pageSize, hasMore }
  return { currentPage, pageSize, totalPages: Math.ceil(totalRecords / pageSize), totalRecords }
}

/** The books that meet every condition and, where something is searched, hold it. */
function matching(library: Library, question: Question): Fields[] {
  const conditions = conditionsOf(question)
  return library.books.filter(
    (book) =>
      conditions.every((condition) => meets(book, condition)) &&
      (!question.search || holds(library, book, question.search)),
  )
}

function meets(book: Fields, { place, op, values }: Condition): boolean {
  const stored = reached(book, place.path)
  const [value = null] = values
  switch (op) {
    case 'eq':
    case 'in':
      return values.some((one) => stored.some((other) => same(other, one)))
    case 'ne':
    case 'nin':
      return !values.some((one) => stored.some((other) => same(other, one)))
    default:
      return stored.some((other) => comparable(other, value) && stands(compared(other, value), op))
  }
}

function stands(sign: number, op: Condition['op']): boolean {
  if (sign === 0) return op === 'gte' || op === 'lte'
  return sign > 0 ? op.startsWith('gt') : op.startsWith('lt')
}

/** What a path leads to: one value, or one for each element of the lists on the way. */
function reached(from: unknown, path: string): Value[] {
  if (Array.isArray(from)) return from.flatMap((element) => reached(element, path))
  if (path === '') return [(from ?? null) as Value]
  const [key = '', ...rest] = path.split('.')
  return reached((from as Fields | null | undefined)?.[key] ?? null, rest.join('.'))
}

function same(a: Value, b: Value): boolean {
  if (a === null || b === null) return a === b
  return comparable(a, b) && compared(a, b) === 0
}

/** Only values of one type compare, and never null. */
function comparable(a: Value, b: Value): boolean {
  const type = (value: Value) => (value instanceof Date ? 'date' : typeof value)
  return a !== null && b !== null && type(a) === type(b)
}

/** Strings by code point, dates by instant, false before true; null before everything. */
function compared(a: Value, b: Value): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a !== 'string' || typeof b !== 'string') return Number(a) - Number(b)
  const [left, right] = [Array.from(a, codePoint), Array.from(b, codePoint)]
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const sign = (left[at] ?? 0) - (right[at] ?? 0)
    if (sign !== 0) return sign
  }
  return left.length - right.length
}

const codePoint = (character: string): number => character.codePointAt(0) ?? 0

/** Whether one of the searched fields holds the term, by the case folding of regular expressions. */
function holds({ people }: Library, book: Fields, term: string): boolean {
  const pattern = new RegExp(term.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu')
  const holdsIt = (value: unknown) => typeof value === 'string' && pattern.test(value)
  return SEARCHED.some((path) => {
    const [field = '', ...inner] = path.split('.')
    if (inner.length === 0) return reached(book, field).some(holdsIt)
    const ids = reached(book, field)
    const targets = people.filter(({ _id }) => ids.includes(_id as string))
    return targets.some((person) => reached(person, inner.join('.')).some(holdsIt))
  })
}

/** By the keys asked for, else by the default order; a repeated key keeps its first place and last direction. */
function ordered(books: Fields[], asked: readonly string[], orderBy: readonly string[]): Fields[] {
  const keys = new Map<string, number>()
  for (const key of asked.length > 0 ? asked : orderBy) {
    keys.set(key.replace(/^-/, ''), key.startsWith('-') ? -1 : 1)
  }
  if (!keys.has('_id')) keys.set('_id', 1)
  return books.toSorted((a, b) => {
    for (const [path, direction] of keys) {
      const sign = compared(reached(a, path)[0] ?? null, reached(b, path)[0] ?? null)
      if (sign !== 0) return sign * direction
    }
    return 0
  })
}

/** A book as it is shown: what is hidden left out, as JSON. */
function shown({ barcode, ...book }: Fields): Fields {
  return JSON.parse(JSON.stringify(book)) as Fields
}
