/**
 * A naive store in memory: the port's sentences in their simplest form, to compare real stores with.
 *
 * @module
 */

import type { Filter, Scalar, SortKey } from '../../ports/filter.ts'
import { fold } from '../../ports/fold.ts'
import type {
  Change,
  Fields,
  Read,
  StepResult,
  WriteOutcome,
  WriteStep,
} from '../../ports/store.ts'

/** The part of a read that decides its result. */
export type Question = Pick<Read, 'filter' | 'sort' | 'after' | 'skip' | 'limit'>

/** Holds records; its results are copies. */
export class Oracle {
  #records: Fields[] = []
  readonly #unique: readonly (readonly string[])[]

  constructor(unique: readonly (readonly string[])[]) {
    this.#unique = [['_id'], ...unique]
  }

  /** A copy of every record, in the order of insertion. */
  all(): Fields[] {
    return structuredClone(this.#records)
  }

  find({ filter, sort, after, skip = 0, limit }: Question): Fields[] {
    const found = this.#records.filter((record) => holds(filter, record))
    found.sort((a, b) => order(sort, position(sort, a), position(sort, b)))
    const rest = after ? found.filter((one) => order(sort, position(sort, one), after) > 0) : found
    return structuredClone(rest.slice(skip, skip + limit))
  }

  count(filter: Filter): number {
    return this.#records.filter((record) => holds(filter, record)).length
  }

  insert(record: Fields): void {
    this.#refuseTaken(record, undefined)
    this.#records.push(structuredClone(record))
  }

  /** Changes the one record that matches, if it holds what is expected. */
  update(filter: Filter, change: Change, expect: Fields = {}): Fields | null {
    const at = this.#target(filter, expect)
    const before = this.#records[at]
    if (!before) return null
    const after = changed(before, change)
    this.#refuseTaken(after, before)
    this.#records[at] = after
    return structuredClone(after)
  }

  updateMany(filter: Filter, change: Change): number {
    const matching = this.#records.filter((record) => holds(filter, record))
    this.#records = this.#records.map((record) =>
      matching.includes(record) ? changed(record, change) : record,
    )
    return matching.length
  }

  delete(filter: Filter, expect: Fields = {}): Fields | null {
    const at = this.#target(filter, expect)
    return at === -1 ? null : (this.#records.splice(at, 1)[0] ?? null)
  }

  /** Takes all steps, or throws, or tells which one failed; then nothing has changed. */
  write(steps: readonly WriteStep[]): WriteOutcome {
    const before = this.#records
    this.#records = [...before]
    const results: StepResult[] = []
    try {
      for (const step of steps) {
        const result = this.#take(step)
        if (!result) break
        results.push(result)
      }
    } catch (error) {
      this.#records = before
      throw error
    }
    if (results.length === steps.length) return { results }
    this.#records = before
    return { failed: results.length }
  }

  /** What a step did; undefined if it failed. */
  #take(step: WriteStep): StepResult | undefined {
    const one = (record: Fields | null) => record && { count: 1, records: [record] }
    if ('insert' in step) {
      this.insert(step.insert)
      return { count: 1, records: [] }
    }
    if ('update' in step)
      return one(this.update(step.update, step.change, step.options?.expect)) ?? undefined
    if ('updateMany' in step) {
      return { count: this.updateMany(step.updateMany, step.change), records: [] }
    }
    if ('delete' in step) return one(this.delete(step.delete, step.options?.expect)) ?? undefined
    if ('deleteMany' in step) {
      const records = this.#records.filter((record) => holds(step.deleteMany, record))
      this.#records = this.#records.filter((record) => !records.includes(record))
      return { count: records.length, records: structuredClone(records) }
    }
    return this.count(step.require) > 0 === step.exists ? { count: 0, records: [] } : undefined
  }

  #target(filter: Filter, expect: Fields): number {
    return this.#records.findIndex(
      (record) =>
        holds(filter, record) &&
        Object.entries(expect).every(
          ([field, value]) => JSON.stringify(record[field]) === JSON.stringify(value),
        ),
    )
  }

  #refuseTaken(record: Fields, before: Fields | undefined): void {
    const taken = this.#unique.filter((fields) => {
      const values = fields.map((field) => record[field] ?? null)
      if (values.includes(null)) return false
      return this.#records.some(
        (other) => other !== before && fields.every((field, at) => other[field] === values[at]),
      )
    })
    if (taken.length > 0) throw new Taken(taken)
  }
}

/** Unique field sets whose values are taken; a store names one of them. */
export class Taken extends Error {
  readonly sets: readonly (readonly string[])[]
  constructor(sets: readonly (readonly string[])[]) {
    super('taken')
    this.sets = sets
  }
}

/** Whether `record` matches `filter`. */
function holds(filter: Filter, record: Fields): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((one) => holds(one, record))
    case 'or':
      return filter.filters.some((one) => holds(one, record))
    case 'ne':
      return !holds({ ...filter, op: 'eq' }, record)
    case 'nin':
      return !holds({ ...filter, op: 'in' }, record)
    case 'matches':
      throw new TypeError('the oracle knows no patterns')
    case 'in':
      return filter.values.some((value) => holds({ op: 'eq', field: filter.field, value }, record))
    default:
      return valuesAt(record, filter.field.split('.')).some((value) => meets(filter, value))
  }
}

function meets(
  filter: Exclude<Filter, { filters: unknown } | { values: unknown }>,
  value: unknown,
): boolean {
  switch (filter.op) {
    case 'contains':
      return typeof value === 'string' && fold(value).includes(fold(filter.text))
    case 'eq':
      return sameType(value, filter.value) && compare(value as Scalar, filter.value) === 0
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      if (filter.value === null || !sameType(value, filter.value)) return false
      const sign = compare(value as Scalar, filter.value)
      return filter.op.startsWith('g')
        ? sign > 0 || (filter.op === 'gte' && sign === 0)
        : sign < 0 || (filter.op === 'lte' && sign === 0)
    }
    default:
      return false
  }
}

/** The values that a path leads to: one, or those of all elements; null if there is none. */
function valuesAt(value: unknown, keys: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((element) => valuesAt(element, keys))
  const [key, ...rest] = keys
  if (key === undefined) return [value ?? null]
  if (typeof value !== 'object' || value === null) return [null]
  return valuesAt((value as Fields)[key], rest)
}

function sameType(a: unknown, b: Scalar): boolean {
  if (a === null || b === null) return a === b
  return typeof a === typeof b && a instanceof Date === b instanceof Date
}

/** Null first; then numbers, dates, false before true, strings by code point. */
function compare(a: Scalar, b: Scalar): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a !== 'string' || typeof b !== 'string') return Math.sign(Number(a) - Number(b))
  const [left, right] = [[...a], [...b]]
  const at = left.findIndex((char, index) => char !== right[index])
  if (at === -1) return left.length === right.length ? 0 : -1
  return Math.sign((left[at]?.codePointAt(0) ?? -1) - (right[at]?.codePointAt(0) ?? -1))
}

/** The position of a record in an order. */
export function position(sort: readonly SortKey[], record: Fields): Scalar[] {
  return sort.map(({ field }) => (valuesAt(record, field.split('.'))[0] ?? null) as Scalar)
}

function order(sort: readonly SortKey[], a: readonly Scalar[], b: readonly Scalar[]): number {
  for (const [at, { descending }] of sort.entries()) {
    const sign = compare(a[at] ?? null, b[at] ?? null)
    if (sign !== 0) return descending ? -sign : sign
  }
  return 0
}

function changed(record: Fields, { set, unset, increment, push, pull }: Change): Fields {
  const copy = structuredClone(record)
  for (const [path, value] of Object.entries(set ?? {}))
    put(copy, path, () => structuredClone(value))
  for (const path of unset ?? []) put(copy, path, () => undefined)
  for (const [path, by] of Object.entries(increment ?? {})) {
    put(copy, path, (before) => (typeof before === 'number' ? before : 0) + by)
  }
  for (const [path, { value, cap = Number.POSITIVE_INFINITY }] of Object.entries(push ?? {})) {
    put(copy, path, (before) => [...(Array.isArray(before) ? before : []), value].slice(-cap))
  }
  for (const [path, { key, value }] of Object.entries(pull ?? {})) {
    put(copy, path, (before) =>
      Array.isArray(before) ? before.filter((element) => element[key] !== value) : before,
    )
  }
  return copy
}

function put(record: Fields, path: string, next: (before: unknown) => unknown): void {
  const [key = '', ...rest] = path.split('.')
  if (rest.length === 0) {
    const value = next(record[key])
    if (value === undefined) delete record[key]
    else record[key] = value
    return
  }
  const inner = record[key]
  const isObject = typeof inner === 'object' && inner !== null
  if (!isObject && next(undefined) === undefined) return
  const object = isObject ? (inner as Fields) : {}
  put(object, rest.join('.'), next)
  record[key] = object
}
