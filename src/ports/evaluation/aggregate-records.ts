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
import { type Compared, compareAt, valuesAt } from './evaluate.ts'
import { pages } from './walk.ts'

/**
 * The rows of `read`, from the records that `find` finds, which compare `as` in their store. Memory holds a page of records, and
 * every group. As in stores, a measure has no use for what an earlier model has stored as another type.
 */
export async function aggregateRecords(
  find: Collection['find'],
  read: AggregateRead,
  as: Compared & { readonly shape: ObjectShape },
): Promise<Scalar[][]> {
  const { shape } = as
  const valueAt = (record: Fields, field: string) =>
    (valuesAt(record, field.split('.'), shape)[0] ?? null) as Scalar
  const groups = new Map<string, Group>()
  if (read.by.length === 0) groupIn(groups, [], read, shape)
  for await (const record of recordsOf(find, read)) {
    const { tallies } = groupIn(
      groups,
      read.by.map((key) => keyOf(valueAt(record, key.field), key)),
      read,
      shape,
    )
    for (const [at, measure] of read.measures.entries()) {
      tallies[at]?.add('field' in measure ? valueAt(record, measure.field) : 1)
    }
  }
  const rows = [...groups.values()].map(({ keys, tallies }) => [
    ...keys,
    ...read.measures.map(({ op }, at) => tallies[at]?.[op] ?? null),
  ])
  const order = read.sort.map(({ column, descending }) => ({
    field: read.by[column]?.field ?? '',
    descending,
  }))
  return rows
    .sort((a, b) => compareAt(order, sortedBy(a, read), sortedBy(b, read), as))
    .slice(0, read.limit)
}

interface Group {
  readonly keys: Scalar[]
  /** One for each measure. */
  readonly tallies: readonly Tally[]
}

function groupIn(
  groups: Map<string, Group>,
  keys: Scalar[],
  { measures }: AggregateRead,
  shape: ObjectShape,
): Group {
  const name = JSON.stringify(keys)
  const tally = (one: Measure) =>
    new Tally('field' in one && placeOf(shape, one.field)?.shape.kind === 'date')
  const group = groups.get(name) ?? { keys, tallies: measures.map(tally) }
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

function sortedBy(row: readonly Scalar[], { by, measures, sort }: AggregateRead): Scalar[] {
  return sort.map(({ column }) => {
    const value = row[column] ?? null
    const { op } = measures[column - by.length] ?? {}
    return op && typeof value === 'number' ? roundedMeasure(op, value) : value
  })
}

function keyOf(value: Scalar, { part }: GroupKey): Scalar {
  if (part === undefined) return value
  return value instanceof Date ? value.toISOString().slice(0, PART_LENGTHS[part]) : null
}

/** What is known of the values of one field in one group. */
class Tally {
  readonly #isOfDates: boolean
  count = 0
  min: Scalar = null
  max: Scalar = null
  #sum = 0
  /** What additions have lost (Neumaier). */
  #lost = 0

  constructor(isOfDates: boolean) {
    this.#isOfDates = isOfDates
  }

  add(value: Scalar): void {
    if (value === null || value instanceof Date !== this.#isOfDates) return
    if (!this.#isOfDates && typeof value !== 'number') return
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
