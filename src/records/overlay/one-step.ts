/** Several changes of one record are one step of the write: the store reads and writes it once. */

import { enforcedReferences } from '../../model/enforced-references.ts'
import { type Compared, matches } from '../../ports/evaluation/evaluate.ts'
import { all, any, everything, type Filter, nothing } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Change, StepResult, WriteAction } from '../../ports/store/store.ts'
import { topOf } from '../../ports/values/paths.ts'
import type { EngineStep } from '../engine/integrity.ts'
import { comparedOf } from '../engine/known-updates.ts'
import { fieldsOf } from '../engine/model-rules.ts'

/** A step that was taken in memory. */
export interface Taken extends EngineStep {
  /** What it did there. */
  readonly did: StepResult
  /** The record before an update or a removal. */
  readonly was?: Fields
  /** The record after an insert or an update. */
  readonly is?: Fields
}

/** The steps for the store, and for each of the given ones its place among them. */
export interface Joined {
  readonly steps: readonly Taken[]
  readonly places: readonly number[]
}

/** Joins later changes of a record to the step that wrote it first, where no other step can tell the difference. */
export function joinSteps(taken: readonly Taken[]): Joined {
  const steps: Taken[] = []
  const places: number[] = []
  /** The step that has written a record last, by the record. */
  const last = new Map<string, number>()
  for (const step of taken) {
    const record = step.is && `${step.engine.model.name} ${String(step.is._id)}`
    const before = last.get(record ?? '') ?? -1
    const both = together(steps[before], step)
    const at = both ? before : steps.length
    places.push(at)
    steps[at] = both ?? step
    if (record !== undefined) last.set(record, at)
    // After a step whose records are not known, later changes are steps of their own.
    else if (isWrite(step)) last.clear()
  }
  return { steps, places }
}

export function isWrite({ action }: EngineStep): boolean {
  return !('require' in action || 'guard' in action)
}

/** What each of the given steps did, if `results` are those of the joined ones. */
export function resultsOf(
  taken: readonly Taken[],
  { places }: Joined,
  results: readonly StepResult[],
): StepResult[] {
  return taken.map(({ is }, index) => {
    const place = places[index] ?? 0
    const result = results[place] ?? { count: 0, records: [] }
    if (!is || places.indexOf(place) === places.lastIndexOf(place)) return result
    // As the store has it after the last change; before, it was as the batch saw it.
    const stored = places.lastIndexOf(place) === index ? result.records[0] : undefined
    return { count: 1, records: [stored ?? is] }
  })
}

/** `later` as a part of `earlier`, which wrote the same record; undefined if another step might tell. */
function together(
  earlier: Taken | undefined,
  { engine, action, was, is }: Taken,
): Taken | undefined {
  if (!earlier || !('update' in action) || !was || !is || engine.schema.adopted) return undefined
  const fields = topsOf(action.change)
  if (!fields || fields.some((field) => isBound(engine, field))) return undefined
  if ('insert' in earlier.action) return { ...earlier, action: { insert: is }, is }
  if (!('update' in earlier.action)) return undefined
  const before = earlier.action
  const change = changedBy(before.change, action.change)
  const touched = topsOf(before.change)
  if (!change || !touched) return undefined
  const isKnown = (field: string) => touched.includes(topOf(field))
  const left = Object.entries(action.options?.expect ?? {}).filter(([field]) => !isKnown(field))
  const expect = { ...Object.fromEntries(left), ...before.options?.expect }
  const update = all([before.update, stillOpen(action.update, was, isKnown, comparedOf(engine))])
  const options = Object.keys(expect).length > 0 ? { options: { expect } } : {}
  const joint: WriteAction = { update, change, ...options }
  return { ...earlier, action: joint, is }
}

/** The fields that a change writes; undefined if what it makes of them depends on what is stored. */
function topsOf({ set = {}, unset = [], increment, push, pull }: Change): string[] | undefined {
  if (increment || push || pull) return undefined
  return [...Object.keys(set), ...unset].map(topOf)
}

/** Whether other steps may look for the field: it is unique, or refers to records that must exist. */
function isBound({ schema, model }: EngineStep['engine'], field: string): boolean {
  const isUnique = schema.unique.flat().some((path) => topOf(path) === field)
  const isRuled = (model.exclude ?? []).some((one) => fieldsOf(one).includes(field))
  return isUnique || isRuled || enforcedReferences(model).some(({ path }) => topOf(path) === field)
}

/** The change that does both, one after the other; undefined if one writes into what the other writes. */
function changedBy(first: Change, second: Change): Change | undefined {
  const later = [...Object.keys(second.set ?? {}), ...(second.unset ?? [])]
  const earlier = [...Object.keys(first.set ?? {}), ...(first.unset ?? [])]
  const isInside = (path: string, other: string) =>
    path !== other && (path.startsWith(`${other}.`) || other.startsWith(`${path}.`))
  if (later.some((path) => earlier.some((other) => isInside(path, other)))) return undefined
  const kept = Object.entries(first.set ?? {}).filter(([path]) => !later.includes(path))
  const unset = [
    ...(first.unset ?? []).filter((path) => !later.includes(path)),
    ...(second.unset ?? []),
  ]
  return { set: { ...Object.fromEntries(kept), ...second.set }, ...(unset.length > 0 && { unset }) }
}

/** What the store must check of `filter`: `record` decides the conditions on fields that the batch has written. */
function stillOpen(
  filter: Filter,
  record: Fields,
  isKnown: (field: string) => boolean,
  as: Compared,
): Filter {
  if ('filters' in filter) {
    const open = filter.filters.map((one) => stillOpen(one, record, isKnown, as))
    if (filter.op === 'and') return all(open)
    return open.some((one) => one.op === 'and' && one.filters.length === 0) ? everything : any(open)
  }
  if (!isKnown(filter.field)) return filter
  return matches(filter, record, as) ? everything : nothing
}
