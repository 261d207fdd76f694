/**
 * The shape of a read: what it has in common with the reads whose statements differ in values alone. A list compiles its
 * filter once for each shape, not once for each request, which is a fifth of its time here.
 *
 * @module
 */

import type { Filter, Scalar } from '../../../../src/ports/filter.ts'
import type { Read } from '../../../../src/ports/store.ts'
import { dateString } from '../layout/records.ts'
import type { SqlValue, Statement } from '../layout/sql.ts'
import { DEEP } from './page.ts'

/** So many shapes are kept. */
const MAX_SHAPES = 500
/** More values than this make a statement that is hardly sent again. */
const MAX_VALUES = 30

/** SQL with the places of its values among those of a shape. */
interface Kept {
  readonly sql: string
  readonly places: readonly number[]
}

/** The statements of reads by their shapes. */
export class CompiledPages {
  readonly #kept = new Map<string, Kept>()

  /** The statement that `compile` makes of a read and of what else it depends on, compiled once for its shape. */
  statementOf(read: Read, columns: string, compile: (read: Read) => Statement): Statement {
    const values: SqlValue[] = []
    const shape = shapeOf(read, values)
    if (shape === undefined) return compile(read)
    const key = columns + shape
    const kept = this.#kept.get(key) ?? this.#keep(key, read, compile)
    if (!kept) return compile(read)
    return {
      sql: kept.sql,
      inLists: true,
      values: kept.places.map((place) => values[place] as SqlValue),
    }
  }

  /** Compiles a read of the same shape, whose values are all different. */
  #keep(key: string, read: Read, compile: (read: Read) => Statement): Kept | undefined {
    const [sample, samples] = [sampleOf(read), [] as SqlValue[]]
    shapeOf(sample, samples)
    const { sql, values } = compile(sample)
    const places = values.map((value) => samples.indexOf(value))
    if (places.includes(-1)) return undefined
    if (this.#kept.size >= MAX_SHAPES) this.#kept.clear()
    const kept = { sql, places }
    this.#kept.set(key, kept)
    return kept
  }
}

/** No name contains it. */
const END = '\0'

/**
 * The shape of a read, whose values are added to `values` as statements bind them. Undefined if its statement depends on
 * more than that.
 */
function shapeOf(read: Read, values: SqlValue[]): string | undefined {
  const { filter, sort, skip = 0, limit, after = [], afterRecord } = read
  let shape = afterRecord ? undefined : filterShape(filter, values)
  if (shape === undefined || values.length > MAX_VALUES) return undefined
  for (const { field, descending } of sort) shape += field + END + (descending ? '-' : '+')
  for (const value of after) {
    const kind = kindOf(value, values)
    if (kind === undefined) return undefined
    shape += kind
  }
  values.push(limit, skip, limit + skip)
  return shape + (skip < DEEP ? Math.sign(skip) : 2)
}

function filterShape(filter: Filter, values: SqlValue[]): string | undefined {
  switch (filter.op) {
    case 'and':
    case 'or': {
      let shape = `${filter.op}(`
      for (const one of filter.filters) {
        const inner = filterShape(one, values)
        if (inner === undefined) return undefined
        shape += inner
      }
      return `${shape})`
    }
    case 'in':
    case 'nin': {
      const { op, field, values: list } = filter
      const [only] = list
      const areTexts = list.every((one) => typeof one === 'string' && one.isWellFormed())
      if (typeof only !== 'string' || !areTexts) return undefined
      values.push(list.length === 1 ? only : JSON.stringify(list))
      return op + END + field + END + Math.min(list.length, 2)
    }
    case 'contains':
    case 'matches':
      return undefined
    default: {
      const kind = kindOf(filter.value, values)
      return kind && filter.op + END + filter.field + END + kind
    }
  }
}

/** What SQL tells of a value; the value itself is added to `values`, unless that is all. */
function kindOf(value: Scalar, values: SqlValue[]): string | undefined {
  if (value === null || typeof value === 'boolean') return String(value) + END
  if (value instanceof Date) {
    values.push(dateString(value))
    return `date${END}`
  }
  const isBound = typeof value === 'string' ? value.isWellFormed() : Number.isSafeInteger(value)
  if (!isBound) return undefined
  values.push(value)
  return typeof value + END
}

/** A read of the same shape, whose values are all different. */
function sampleOf(read: Read): Read {
  let made = 0
  const value = (of: Scalar): Scalar => {
    made += 1
    if (typeof of === 'string') return END + made
    if (typeof of === 'number') return 2 ** 50 + made
    return of instanceof Date ? new Date(made) : of
  }
  const filter = (of: Filter): Filter => {
    if ('filters' in of) return { ...of, filters: of.filters.map(filter) }
    if ('values' in of) return { ...of, values: of.values.map(value) }
    return 'value' in of ? { ...of, value: value(of.value) } : of
  }
  const { skip = 0, after } = read
  return {
    ...read,
    filter: filter(read.filter),
    ...(after && { after: after.map(value) }),
    limit: 2 ** 51,
    skip: skip < DEEP ? Math.sign(skip) : 2 ** 52,
  }
}
