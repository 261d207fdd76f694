/** Records that overlap each other, and were stored before their model excluded that. */

import { type Model, valueAt } from '../../model/model.ts'
import { countingIn } from '../../model/rules.ts'
import { pages } from '../../ports/evaluation/walk.ts'
import type { Exclusion } from '../../ports/store/exclusion.ts'
import { all, type Filter, type SortKey } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Collection } from '../../ports/store/store.ts'
import type { Problem } from './record.ts'

/** How many pairs are named: whoever mends them has to know which two they are. */
const MOST_PAIRS = 10

/** Of the records that an exclusion forbids beside each other, each that overlaps the one which ends before it, and that. */
export async function* overlapsIn(
  model: Model,
  stored: Pick<Collection, 'find'>,
  exclusion: Exclusion,
): AsyncGenerator<readonly [string, string]> {
  const { equal, range } = exclusion
  const sort = [...equal, range[1], '_id'].map((field): SortKey => ({ field, descending: false }))
  const filter = all([
    ...[...equal, ...range].map((field): Filter => ({ op: 'ne', field, value: null })),
    ...countingIn(model, exclusion),
  ])
  const select = { include: [...equal, ...range] }
  let before: Fields | undefined
  for await (const page of pages(stored, { filter, sort, select, hints: { allowDiskUse: true } })) {
    // A range without anything in it overlaps none.
    for (const record of page.filter((one) => isBefore(one, range[0], one, range[1]))) {
      if (before && overlap(before, record, exclusion)) {
        yield [String(before._id), String(record._id)]
      }
      before = record
    }
  }
}

/** What overlaps in a model's records, whose fields have the names of now in `stored`. */
export async function overlapping(
  model: Model,
  stored: Pick<Collection, 'find'>,
): Promise<Problem[]> {
  const found: Problem[] = []
  for (const exclusion of model.exclude ?? []) {
    const examples: string[] = []
    let count = 0
    let last: string | undefined
    for await (const pair of overlapsIn(model, stored, exclusion)) {
      // The second of one pair may be the first of the next.
      count += pair[0] === last ? 1 : 2
      last = pair[1]
      if (examples.length < MOST_PAIRS) examples.push(pair.join(' and '))
    }
    const field = exclusion.range.join(', ')
    if (count > 0) found.push({ model: model.name, problem: 'overlap', field, count, examples })
  }
  return found
}

/** Whether `record`, which ends no earlier than `before`, overlaps it. In this order no other comes between two that do. */
function overlap(before: Fields, record: Fields, { equal, range: [from, to] }: Exclusion): boolean {
  const keyOf = (one: Fields) => JSON.stringify(equal.map((field) => valueAt(one, field)))
  return keyOf(before) === keyOf(record) && isBefore(record, from, before, to)
}

function isBefore(one: Fields, at: string, other: Fields, then: string): boolean {
  return Number(valueAt(one, at)) < Number(valueAt(other, then))
}
