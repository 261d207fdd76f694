/** Aggregates without a database that computes them: the records are read and grouped here. */

import {
  type AggregateRead,
  type GroupKey,
  type Measure,
  PART_LENGTHS,
  roundedMeasure,
} from '../store/aggregate.ts'
import { BY_ID, type Scalar } from '../store/filter.ts'
import type { Fields } from '../store/records.ts'
import { type ObjectShape, placeOf } from '../store/shape.ts'
import type { Collection } from '../store/store.ts'
import { StoreTimeout } from '../store/store-errors.ts'
import { compareAt, position } from './evaluate.ts'
import { pages } from './walk.ts'

/**
 * The rows of `read`, from the records of `shape` that `find` finds. Memory holds a page of records, and every group. As in
 * stores, a measure has no use for what an earlier model has stored as another type.
 */
export async function aggregateRecords(
  find: Collection['find'],
  read: AggregateRead,
  shape: ObjectShape,
): Promise<Scalar[][]> {
  const valueAt = (record: Fields, field: string) =>
    position([{ field, descending: false }], record, { shape })[0] ?? null
  const measured = read.measures.map((one) => measuredBy(one, shape, valueAt))
  const groups = new Map<string, Group>()
  if (read.by.length === 0) groupIn(groups, [], read)
  for await (const record of recordsOf(find, read)) {
    const { tallies } = groupIn(
      groups,
      read.by.map((key) => keyOf(valueAt(record, key.field), key)),
      read,
    )
    for (const [at, countedOf] of measured.entries()) tallies[at]?.add(countedOf(record))
  }
  const rows = [...groups.values()].map(({ keys, tallies }) => [
    ...keys,
    ...read.measures.map(({ op }, at) => tallies[at]?.[op] ?? null),
  ])
  const order = read.sort.map(({ descending }) => ({ field: '', descending }))
  return rows
    .sort((a, b) => compareAt(order, sortedBy(a, read), sortedBy(b, read)))
    .slice(0, read.limit)
}

/** What is known of one group. */
interface Group {
  readonly keys: Scalar[]
  /** One for each measure. */
  readonly tallies: readonly Tally[]
}

function groupIn(groups: Map<string, Group>, keys: Scalar[], { measures }: AggregateRead): Group {
  const name = JSON.stringify(keys)
  const group = groups.get(name) ?? { keys, tallies: measures.map(() => new Tally()) }
  groups.set(name, group)
  return group
}

async function* recordsOf(
  find: Collection['find'],
  { filter, by, measures, hints = {} }: AggregateRead,
): AsyncGenerator<Fields> {
  const end = performance.now() + (hints.timeLimitMs ?? Number.POSITIVE_INFINITY)
  const include = [...by, ...measures].flatMap((one) => ('field' in one ? [one.field] : []))
  for await (const page of pages({ find }, { filter, sort: BY_ID, select: { include }, hints })) {
    yield* page
    if (performance.now() > end) throw new StoreTimeout('an aggregate took too long')
  }
}

/** The values that a row is sorted by. */
function sortedBy(row: readonly Scalar[], { by, measures, sort }: AggregateRead): Scalar[] {
  return sort.map(({ column }) => {
    const value = row[column] ?? null
    const { op } = measures[column - by.length] ?? {}
    return op && typeof value === 'number' ? roundedMeasure(op, value) : value
  })
}

/** The value that counts of a record; null if there is none, or one of another type. */
function measuredBy(
  measure: Measure,
  shape: ObjectShape,
  valueAt: (record: Fields, field: string) => Scalar,
): (record: Fields) => Scalar {
  if (!('field' in measure)) return () => 1
  const isDate = placeOf(shape, measure.field)?.shape.kind === 'date'
  return (record) => {
    const value = valueAt(record, measure.field)
    return (isDate ? value instanceof Date : typeof value === 'number') ? value : null
  }
}

function keyOf(value: Scalar, { part }: GroupKey): Scalar {
  if (part === undefined) return value
  return value instanceof Date ? value.toISOString().slice(0, PART_LENGTHS[part]) : null
}

/** What is known of the values of one field in one group. */
class Tally {
  count = 0
  min: Scalar = null
  max: Scalar = null
  #sum = 0
  /** What additions have lost (Neumaier). */
  #lost = 0

  add(value: Scalar): void {
    if (value === null) return
    this.count += 1
    if (this.min === null || value < this.min) this.min = value
    if (this.max === null || value > this.max) this.max = value
    if (typeof value !== 'number') return
    const sum = this.#sum + value
    this.#lost +=
      Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - sum + value : value - sum + this.#sum
    this.#sum = sum
  }

  get sum(): number {
    return this.#sum + this.#lost
  }

  get avg(): number | null {
    return this.count === 0 ? null : this.sum / this.count
  }
}
