/** The rules of a model as conditions of each write: `transitions`, `initial` and `exclude`. */

import type { HttpError } from '../../http/errors/errors.ts'
import { forbiddenTransition, invalidFields, overlapping } from '../../http/errors/refusals.ts'
import { type FieldTransitions, isHidden, type Model, valueAt } from '../../model/model.ts'
import { countingIn } from '../../model/rules.ts'
import { upgraded } from '../../model/versions/upgrade.ts'
import type { Exclusion } from '../../ports/store/exclusion.ts'
import { all, type Filter, type Scalar } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { RefusedWrite } from '../../ports/store/store-errors.ts'
import { topOf } from '../../ports/values/paths.ts'
import { holds, type KnownRecords } from './known-updates.ts'
import { MAX_TRIES } from './serial-queue.ts'

/** Throws a 400 if a new record has a value that none begins with. */
export function checkStart({ transitions = [] }: Model, record: Fields): void {
  const wrong = transitions.filter(
    ({ field, initial }) =>
      initial && valueAt(record, field) !== null && !has(initial, record, field),
  )
  if (wrong.length === 0) return
  const messages = wrong.map(({ field, initial = [] }) => {
    return [field, `Must be ${initial.map(shown).join(' or ')} at first.`]
  })
  throw invalidFields(Object.fromEntries(messages))
}

/**
 * Writes `changes` while the record has values that may become these: that is a part of the write's condition. Throws a 409
 * if it has others; null if there is no such record.
 */
export async function updateAllowed(
  engine: KnownRecords,
  filter: Filter,
  changes: Fields,
  expect: Fields | undefined,
  write: (filter: Filter, expect: Fields | undefined) => Promise<Fields | null>,
): Promise<Fields | null> {
  const { model } = engine
  const concerned = (model.transitions ?? []).filter(
    ({ field, next }) => next && Object.hasOwn(changes, field),
  )
  if (concerned.length === 0) return write(filter, expect)
  const allowed = concerned.map((one): Filter => {
    return { op: 'in', field: one.field, values: sourcesOf(one, valueAt(changes, one.field)) }
  })
  let updated = await write(all([filter, ...allowed]), expect)
  for (let tries = 0; !updated; tries += 1) {
    const found = await engine.first(filter)
    if (!found || !holds(found, expect)) return null
    const record = upgraded(model, found)
    for (const one of concerned) checkTransition(model, one, record, changes)
    if (tries === MAX_TRIES) throw new Error(`a record of '${model.name}' changed all the time`)
    // It lacks the value, or has one of an earlier model.
    const as = Object.fromEntries(concerned.map(({ field }) => [field, found[field]]))
    updated = await write(filter, { ...as, ...expect })
  }
  return updated
}

/** The values that may become `to`, itself included. */
function sourcesOf({ next = new Map() }: FieldTransitions, to: Scalar): Scalar[] {
  const sources = [...next].filter(([, targets]) => targets.includes(to)).map(([from]) => from)
  return [...new Set([to, ...sources])].filter((value) => value !== null)
}

function checkTransition(
  model: Model,
  { field, next, initial }: FieldTransitions,
  record: Fields,
  changes: Fields,
): void {
  const [from, to] = [valueAt(record, field), valueAt(changes, field)]
  const isStart = from === null && (!initial || initial.includes(to))
  if (from === to || isStart || next?.get(from)?.includes(to)) return
  throw forbiddenTransition(field, isHidden(model, field) ? undefined : shown(from), shown(to))
}

/** The fields that must be known, if `changes` touch what records exclude each other by. */
export function excludedBy({ exclude = [] }: Model, changes: Fields): readonly string[] {
  return [...new Set(exclude.filter(touchedBy(changes)).flatMap(fieldsOf))]
}

function touchedBy(changes: Fields): (exclusion: Exclusion) => boolean {
  return (exclusion) => fieldsOf(exclusion).some((field) => field in changes)
}

/** The top-level fields of an exclusion. */
export function fieldsOf({ equal, range, where }: Exclusion): string[] {
  return [...equal, ...range, ...Object.keys(where)].map(topOf)
}

/** What a write must make sure of: that no record matches. */
export interface Exclusive {
  /** What all writes that could overlap name. */
  readonly guard: string
  readonly others: Filter
  readonly range: Exclusion['range']
  /** The error if a record matches. */
  readonly refusal: HttpError
}

/**
 * What a write of `values` must make sure of, which leaves `record`: no overlap. Throws a 400 for a range that doesn't end
 * after its start.
 */
export function exclusivesOf(model: Model, record: Fields, values: Fields): readonly Exclusive[] {
  return (model.exclude ?? []).filter(touchedBy(values)).flatMap((exclusion): Exclusive[] => {
    const { equal, range, where } = exclusion
    const [from, to] = range.map((field) => valueAt(record, field))
    if (from === null || to === null || from === undefined || to === undefined) return []
    if (!(to > from)) {
      const isTold = !range.some((field) => isHidden(model, field))
      throw invalidFields(isTold ? { [range[1]]: `Must be after '${range[0]}'.` } : {})
    }
    const values = equal.map((field) => valueAt(record, field))
    const counts = Object.entries(where).every(([field, some]) => has(some, record, field))
    if (values.includes(null) || !counts) return []
    const others = all([
      ...equal.map((field, at): Filter => ({ op: 'eq', field, value: values[at] as Scalar })),
      ...countingIn(model, exclusion),
      { op: 'lt', field: range[0], value: to },
      { op: 'gt', field: range[1], value: from },
      { op: 'ne', field: '_id', value: String(record._id) },
    ])
    const guard = `exclude ${model.collection} ${JSON.stringify([equal, values])}`
    return [{ guard, others, range, refusal: overlapIn(model, range) }]
  })
}

/** More records than this, in whose range is nothing, are not looked through. */
const MOST_EMPTY = 100

/**
 * The same for a write that was refused, beside records in whose range is nothing: stored before the rule, they exclude
 * none. Undefined if it was refused because of another one.
 */
export async function besideEmpty(
  { stored }: Pick<KnownRecords, 'stored'>,
  exclusive: Exclusive,
): Promise<Exclusive | undefined> {
  const { others, range } = exclusive
  const found = await stored.find({ filter: others, sort: [], limit: MOST_EMPTY + 1 })
  const isEmpty = (record: Fields): boolean => {
    const [from, to] = range.map((field) => Number(valueAt(record, field)))
    return Number(to) <= Number(from)
  }
  if (found.length > MOST_EMPTY || !found.every(isEmpty)) return undefined
  const values = found.map(({ _id }) => String(_id))
  return { ...exclusive, others: all([others, { op: 'nin', field: '_id', values }]) }
}

/** The refusal of a range that the database's own rule finds to overlap another one; undefined of any other error. */
export function overlapTold(model: Model, error: unknown): HttpError | undefined {
  if (!(error instanceof RefusedWrite) || error.rule !== 'overlap') return undefined
  const known = model.exclude?.find(({ range }) => range.some((one) => error.fields.includes(one)))
  return overlapIn(model, known?.range ?? [])
}

/** The refusal of a range that overlaps another one; hidden fields are not named. */
export function overlapIn(model: Pick<Model, 'hidden'>, range: readonly string[]): HttpError {
  return overlapping(range.some((field) => isHidden(model, field)) ? [] : range)
}

function has(values: readonly Scalar[], record: Fields, field: string): boolean {
  const value = JSON.stringify(valueAt(record, field))
  return values.some((one) => JSON.stringify(one) === value)
}

function shown(value: Scalar): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
