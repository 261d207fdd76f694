/** Which unique fields a write clashes in: databases report one constraint, each another; this looks up the values. */

import { HttpError } from '../../http/errors/errors.ts'
import { duplicate, hiddenDuplicate } from '../../http/errors/refusals.ts'
import { isHidden, type Model, valueAt } from '../../model/model.ts'
import { firstIn } from '../../ports/evaluation/walk.ts'
import { all, any, type Filter, is } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Collection } from '../../ports/store/store.ts'
import { DuplicateKey } from '../../ports/store/store-errors.ts'
import { topOf } from '../../ports/values/paths.ts'
import { overlapTold } from './model-rules.ts'

/** A write that the store has refused: an insert, or changes to one record or to all that match. */
export type Refused =
  | { readonly record: Fields }
  | { readonly filter: Filter; readonly changes: Fields; readonly every?: boolean }

/** Fields that are unique together. */
type UniqueSet = readonly string[]

const ID: UniqueSet = ['_id']

/** The most records of an `updateWhere` that are compared with each other. */
const MAX_COMPARED_RECORDS = 10_000

/**
 * The fields of all unique sets that `refused` clashes in, in the model's order, `_id` first. Includes at least those
 * that the store reported, even if the other record is gone by now.
 */
export async function clashingFields(
  model: Model,
  stored: Collection,
  refused: Refused,
  reported: readonly string[],
): Promise<readonly string[]> {
  const taken = await takenSets(model, stored, refused).catch((): UniqueSet[] => [])
  const clashing = new Set([...taken, reported].map((set) => set.join()))
  const named = [ID, ...model.unique].filter((set) => clashing.has(set.join()))
  return [...new Set([...named.flat(), ...reported])]
}

async function takenSets(
  model: Model,
  stored: Collection,
  refused: Refused,
): Promise<readonly UniqueSet[]> {
  if ('record' in refused) return takenBy(stored, [ID, ...model.unique], refused.record)
  const { filter, changes, every } = refused
  const touched = model.unique.filter((set) => set.some((path) => isIn(changes, path)))
  if (every) return sharedAfter(stored, touched, filter, changes)
  const before = await firstIn(stored, filter)
  return before ? takenBy(stored, touched, { ...before, ...changes }, before._id) : []
}

/** Those of `sets` whose values in `record` are taken by a record with another id than `own`. */
async function takenBy(
  stored: Collection,
  sets: readonly UniqueSet[],
  record: Fields,
  own?: unknown,
): Promise<readonly UniqueSet[]> {
  const other: Filter[] = own === undefined ? [] : [{ op: 'ne', field: '_id', value: String(own) }]
  return only(sets, async (set) => {
    const values = set.map((path) => valueAt(record, path))
    if (values.includes(null)) return false
    return (await some(stored, all([...other, ...equalities(set, record)]), 1)).length > 0
  })
}

/** Those of `sets` that two records would share with `changes` in all that match, some of which may have them already. */
function sharedAfter(
  stored: Collection,
  sets: readonly UniqueSet[],
  filter: Filter,
  changes: Fields,
): Promise<readonly UniqueSet[]> {
  return only(sets, async (set) => {
    const changed = set.filter((path) => isIn(changes, path))
    const kept = set.filter((path) => !changed.includes(path))
    if (changed.some((path) => valueAt(changes, path) === null)) return false
    const concerned = any([filter, all(equalities(changed, changes))])
    const found = await some(stored, concerned, kept.length === 0 ? 2 : MAX_COMPARED_RECORDS, kept)
    const values = found
      .map((record) => kept.map((path) => valueAt(record, path)))
      .filter((tuple) => !tuple.includes(null))
    return new Set(values.map((tuple) => JSON.stringify(tuple))).size < values.length
  })
}

async function only(
  sets: readonly UniqueSet[],
  test: (set: UniqueSet) => Promise<boolean>,
): Promise<readonly UniqueSet[]> {
  const passed = await Promise.all(sets.map(test))
  return sets.filter((_, at) => passed[at])
}

function some(
  stored: Collection,
  filter: Filter,
  limit: number,
  paths: readonly string[] = [],
): Promise<Fields[]> {
  return stored.find({ filter, sort: [], limit, select: { include: ['_id', ...paths] } })
}

function equalities(paths: readonly string[], record: Fields): Filter[] {
  return paths.map((field) => is(field, valueAt(record, field)))
}

function isIn(changes: Fields, path: string): boolean {
  return Object.hasOwn(changes, topOf(path))
}

export function isDuplicate(error: unknown): boolean {
  return error instanceof HttpError && error.message.startsWith('Duplicate value')
}

/** The refusal of values that another record has in `fields`; hidden fields are not named. */
export function duplicateIn(model: Pick<Model, 'hidden'>, fields: readonly string[]): HttpError {
  return fields.some((field) => isHidden(model, field)) ? hiddenDuplicate() : duplicate(fields)
}

/** The error of a write; for a unique value that is taken, a 409 with all fields that clash. */
export async function refusedWith(
  { model, stored }: { readonly model: Model; readonly stored: Collection },
  error: unknown,
  refused: Refused,
): Promise<unknown> {
  if (!(error instanceof DuplicateKey)) return overlapTold(model, error) ?? error
  return duplicateIn(model, await clashingFields(model, stored, refused, error.fields))
}
