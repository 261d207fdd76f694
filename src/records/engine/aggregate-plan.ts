/** The grammar of aggregates: what is computed, by which groups, and in which order, checked. */

import * as refuse from '../../http/errors/refusals.ts'
import { isOrdered, type Model, sortKey } from '../../model/model.ts'
import { isFields } from '../../model/writable.ts'
import { aggregateRecords } from '../../ports/evaluation/aggregate-records.ts'
import {
  type AggregateRead,
  type DatePart,
  type GroupKey,
  type Measure,
  PART_LENGTHS,
  roundedMeasure,
} from '../../ports/store/aggregate.ts'
import type { Scalar } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { placeOf } from '../../ports/store/shape.ts'
import type { Collection } from '../../ports/store/store.ts'

/** What a field holds that is computed with. */
export type MeasuredKind = 'number' | 'date'

export interface Aggregatable {
  readonly by: { get(name: string): GroupKey | undefined }
  readonly of: { get(name: string): MeasuredKind | undefined }
}

type Asked = Readonly<Record<'aggregate' | 'by' | 'sort', unknown>>

export interface AggregatePlan extends Pick<AggregateRead, 'by' | 'measures' | 'sort'> {
  /** The names of the keys, as they were given. */
  readonly names: readonly string[]
}

/** The measures of a field, in the order in which rows have them. */
export const FIELD_MEASURES = ['sum', 'avg', 'min', 'max'] as const
export const MEASURES: readonly string[] = ['count', ...FIELD_MEASURES]

/** Whether fields of `kind` have the measure `op`. */
export function isMeasureOf(op: (typeof FIELD_MEASURES)[number], kind: MeasuredKind): boolean {
  return kind === 'number' || op === 'min' || op === 'max'
}
export const MAX_GROUP_KEYS = 3
const MAX_SORT_KEYS = 5

/** What is asked for. Throws a 400 for what `allowed` does not have. */
export function planAggregate(asked: Asked, allowed: Aggregatable): AggregatePlan {
  const names = namesIn(asked.by ?? [])
  if (!names || names.length > MAX_GROUP_KEYS) throw refuse.groupsNotList(MAX_GROUP_KEYS)
  const by = names.map((name) => {
    const key = allowed.by.get(name)
    if (!key) throw refuse.notGroupable(name)
    return key
  })
  const measures = measuresIn(asked.aggregate, allowed)
  return { names, by, measures, sort: sortOf(asked.sort ?? [], names, measures) }
}

function measuresIn(given: unknown, { of }: Aggregatable): readonly Measure[] {
  if (!isFields(given)) throw refuse.aggregateNotObject()
  for (const key of Object.keys(given)) {
    if (!MEASURES.includes(key)) throw refuse.unknownMeasure(key, MEASURES)
  }
  const count = given.count ?? false
  if (typeof count !== 'boolean') throw refuse.countNotBoolean()
  const fields = FIELD_MEASURES.flatMap((op) => {
    const names = namesIn(given[op] ?? [])
    if (!names) throw refuse.measuredNotList(op)
    return names.map((field) => checkedMeasure(op, field, of.get(field)))
  })
  const measures: Measure[] = [...(count ? [{ op: 'count' } as const] : []), ...fields]
  if (measures.length === 0) throw refuse.aggregateEmpty()
  return measures
}

function checkedMeasure(
  op: (typeof FIELD_MEASURES)[number],
  field: string,
  kind: MeasuredKind | undefined,
): Measure {
  if (!kind) throw refuse.notAggregatable(field)
  if (!isMeasureOf(op, kind)) throw refuse.aggregateOnDate(field)
  return { op, field }
}

/** The order that was asked for, then by the keys. */
function sortOf(
  given: unknown,
  names: readonly string[],
  measures: readonly Measure[],
): AggregatePlan['sort'] {
  const keys = given === '' ? [] : namesIn([given].flat())
  if (!keys) throw refuse.sortNotList()
  if (keys.length > MAX_SORT_KEYS) throw refuse.sortTooLong(MAX_SORT_KEYS)
  // As in `count` and `sum.population`.
  const computed = measures.map((one) => ('field' in one ? `${one.op}.${one.field}` : one.op))
  const columns = [...names, ...computed]
  const sorted = new Map<number, boolean>()
  for (const { field, descending } of keys.map(sortKey)) {
    const column = columns.indexOf(field)
    if (column === -1) throw refuse.notSortable(field)
    sorted.set(column, descending)
  }
  for (const column of names.keys()) if (!sorted.has(column)) sorted.set(column, false)
  return [...sorted].map(([column, descending]) => ({ column, descending }))
}

/** A list of names, each once; undefined if it is anything else. */
function namesIn(list: unknown): readonly string[] | undefined {
  const isNames = Array.isArray(list) && list.every((name) => typeof name === 'string')
  return isNames ? [...new Set<string>(list)] : undefined
}

/** What `name` groups by: a field of one value of one type, or a part of a date, as `createdAt:month`. */
export function groupKeyOf({ shape }: Pick<Model, 'shape'>, name: string): GroupKey | undefined {
  // A group has members of these names of its own.
  if (MEASURES.includes(name)) return undefined
  if (isOrdered(shape, name)) return { field: name }
  const [, field = '', part = ''] = /^(.+):(\w+)$/s.exec(name) ?? []
  const isPart = Object.hasOwn(PART_LENGTHS, part) && measuredKind({ shape }, field) === 'date'
  return isPart ? { field, part: part as DatePart } : undefined
}

export function measuredKind(
  { shape }: Pick<Model, 'shape'>,
  name: string,
): MeasuredKind | undefined {
  const kind = isOrdered(shape, name) ? placeOf(shape, name)?.shape.kind : undefined
  return kind === 'number' || kind === 'date' ? kind : undefined
}

export function aggregatableIn(model: Pick<Model, 'shape'>): Aggregatable {
  return {
    by: { get: (name) => groupKeyOf(model, name) },
    of: { get: (name) => measuredKind(model, name) },
  }
}

/** The rows of `collection`; a store without aggregates is read. */
export function aggregateIn(
  collection: Collection,
  read: AggregateRead,
  { shape }: Pick<Model, 'shape'>,
): Promise<Scalar[][]> {
  const as = { shape, numericIds: collection.numericIds }
  return collection.aggregate?.(read) ?? aggregateRecords((one) => collection.find(one), read, as)
}

/** A row as it is shown: `{ country: 'CH', count: 3, sum: { population: 12 } }`. */
export function groupOf(row: readonly Scalar[], { names, measures }: AggregatePlan): Fields {
  const group: Fields = Object.fromEntries(names.map((name, at) => [name, row[at] ?? null]))
  for (const [at, measure] of measures.entries()) {
    const value = row[names.length + at] ?? null
    const shown = typeof value === 'number' ? roundedMeasure(measure.op, value) : value
    if ('field' in measure) {
      group[measure.op] = { ...(group[measure.op] as Fields), [measure.field]: shown }
    } else group.count = shown
  }
  return group
}
