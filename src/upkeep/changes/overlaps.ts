/** At start-up: whether records that were stored before their model excluded overlaps overlap each other. */

import { type Model, valueAt } from '../../model/model.ts'
import { countingIn } from '../../model/rules.ts'
import { pages } from '../../ports/evaluation/walk.ts'
import type { Exclusion } from '../../ports/store/exclusion.ts'
import { all, type Filter, type SortKey } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Collection } from '../../ports/store/store.ts'
import type { ModelHistory } from './model-history.ts'

const EXAMPLES = 3

/** Rejects if records of `model` overlap. Those of a model that was looked at once are not read again. */
export async function refuseOverlaps(
  model: Model,
  stored: Collection,
  history: ModelHistory,
): Promise<void> {
  for (const exclusion of model.exclude ?? []) {
    const place = `exclude of ${model.name}: ${JSON.stringify(exclusion)}`
    if (await history.has(place)) continue
    const pairs = await overlapsIn(model, stored, exclusion)
    if (pairs.length > 0) throw new Error(told(model, exclusion, pairs))
    await history.add(place)
  }
}

function told({ collection }: Model, { range }: Exclusion, pairs: readonly Pair[]): string {
  const examples = pairs.map((pair) => pair.join(' and ')).join(', ')
  return `'${collection}' already holds records that overlap in ${range.join(', ')}: ${examples}. Make them differ, or drop it from 'exclude'`
}

/** The ids of two records that overlap. */
type Pair = readonly [string, string]

async function overlapsIn(model: Model, stored: Collection, exclusion: Exclusion): Promise<Pair[]> {
  const { equal, range } = exclusion
  const sort = [...equal, range[1], '_id'].map((field): SortKey => ({ field, descending: false }))
  const filter = all([
    ...[...equal, ...range].map((field): Filter => ({ op: 'ne', field, value: null })),
    ...countingIn(model, exclusion),
  ])
  const select = { include: [...equal, ...range] }
  const pairs: Pair[] = []
  let before: Fields | undefined
  for await (const page of pages(stored, { filter, sort, select, hints: { allowDiskUse: true } })) {
    // A range without anything in it overlaps none.
    for (const record of page.filter((one) => isBefore(one, range[0], one, range[1]))) {
      if (before && overlap(before, record, exclusion)) {
        pairs.push([String(before._id), String(record._id)])
        if (pairs.length === EXAMPLES) return pairs
      }
      before = record
    }
  }
  return pairs
}

/** Whether `record`, which ends no earlier than `before`, overlaps it. In this order no other comes between two that do. */
function overlap(before: Fields, record: Fields, { equal, range: [from, to] }: Exclusion): boolean {
  const keyOf = (one: Fields) => JSON.stringify(equal.map((field) => valueAt(one, field)))
  return keyOf(before) === keyOf(record) && isBefore(record, from, before, to)
}

function isBefore(one: Fields, at: string, other: Fields, then: string): boolean {
  return Number(valueAt(one, at)) < Number(valueAt(other, then))
}
