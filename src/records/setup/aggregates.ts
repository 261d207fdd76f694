/** The `aggregates` option, resolved: what clients may group records by, and compute with. */

import { isMixed, type Model, SEVERAL_TYPES } from '../../model/model.ts'
import type { Fail } from '../../model/option-rules.ts'
import { didYouMean } from '../../model/suggest.ts'
import { type GroupKey, PART_LENGTHS } from '../../ports/store/aggregate.ts'
import { placeOf } from '../../ports/store/shape.ts'
import { groupKeyOf, MEASURES, type MeasuredKind, measuredKind } from '../engine/aggregate-plan.ts'
import { checkShown } from './expandables.ts'

/** Names for groups, or names to compute with. */
export interface AggregatesOption<By extends string = string, Of extends string = string> {
  /** Fields that records may be grouped by; of a date also `'createdAt:day'`, `':month'` and `':year'`, in UTC. */
  readonly by?: readonly By[]
  /** Fields whose numbers may be summed and so on; dates have a least and a greatest value only. */
  readonly of?: readonly Of[]
}

export interface AggregateRules {
  readonly by: ReadonlyMap<string, GroupKey>
  readonly of: ReadonlyMap<string, MeasuredKind>
}

/** Resolves the option. Fails for names that are unknown, hidden, or lead to values of another kind. */
export function aggregateRules(
  model: Model,
  { by = [], of = [] }: AggregatesOption,
  fail: Fail,
): AggregateRules {
  return {
    by: new Map(by.map((name) => [name, checkedKey(model, name, fail)])),
    of: new Map(of.map((name) => [name, checkedKind(model, name, fail)])),
  }
}

function checkedKey(model: Model, name: string, fail: Fail): GroupKey {
  if (MEASURES.includes(name)) {
    fail(`'aggregates.by' lists '${name}', but each group has a member of that name of its own`)
  }
  const key = groupKeyOf(model, name)
  const colon = key || placeOf(model.shape, name) ? -1 : name.lastIndexOf(':')
  const [field, part] = colon === -1 ? [name] : [name.slice(0, colon), name.slice(colon + 1)]
  checkShown(model, 'aggregates.by', key?.field ?? field, fail)
  if (key) return key
  if (part === undefined) {
    const why = isMixed(model.shape, name) ? SEVERAL_TYPES : 'which has no single value'
    return fail(`'aggregates.by' names '${name}', ${why}`)
  }
  return measuredKind(model, field) === 'date'
    ? fail(
        `'aggregates.by' names '${name}', but the parts of a date are 'day', 'month' and 'year'.${didYouMean(part, Object.keys(PART_LENGTHS))}`,
      )
    : fail(`'aggregates.by' names '${name}', but '${field}' is not a date`)
}

function checkedKind(model: Model, name: string, fail: Fail): MeasuredKind {
  checkShown(model, 'aggregates.of', name, fail)
  const kind = measuredKind(model, name)
  return kind ?? fail(`'aggregates.of' names '${name}', which is neither a number nor a date`)
}
