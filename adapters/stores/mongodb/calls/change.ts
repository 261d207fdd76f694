/**
 * A change of one record as an aggregation pipeline, which MongoDB applies as one atomic step. The plain update
 * operators don't fit: `$inc` and `$push` refuse null, which fieldgate counts as 0 and as an empty list.
 *
 * @module
 */

import type { Document } from 'mongodb'
import type { ObjectShape, Shape } from '../../../../src/ports/shape.ts'
import type { Change, CollectionSchema } from '../../../../src/ports/store.ts'
import { encode } from '../documents/documents.ts'
import { gramStages, type Indexed } from '../search/grams.ts'

/**
 * `change` as an update pipeline, with a stage for each of its members; `indexed` are the paths with a search index.
 */
export function compileChange(
  change: Change,
  { shape, version }: Pick<CollectionSchema, 'shape' | 'version'>,
  indexed: Indexed,
): Document[] {
  const isCounted = version && (version.always || changesList(change, shape))
  const stages = [
    setStage(change.set, (field, value) => literal(value, shapeAt(field, shape))),
    change.unset?.length ? { $unset: [...change.unset] } : undefined,
    setStage(change.increment, (field, by) => ({ $add: [numberAt(field), by] })),
    setStage(change.push, (field, { value, cap }) => {
      const element = literal([value], shapeAt(field, shape))
      const longer = { $concatArrays: [listAt(field), element] }
      return cap === undefined ? longer : { $slice: [longer, -cap] }
    }),
    setStage(change.pull, (field, { key, value }) => {
      const unlike = {
        $ne: [`$$element.${key}`, literal(value, shapeAt(`${field}.${key}`, shape))],
      }
      const shorter = { $filter: { input: `$${field}`, as: 'element', cond: unlike } }
      return { $cond: [{ $isArray: `$${field}` }, shorter, `$${field}`] }
    }),
    isCounted ? { $set: { [version.key]: { $add: [numberAt(version.key), 1] } } } : undefined,
    ...gramStages(change, indexed, (field) => shapeAt(field, shape)),
  ].filter((stage) => stage !== undefined)
  // The driver refuses an empty pipeline.
  return stages.length > 0 ? stages : [{ $replaceWith: '$$ROOT' }]
}

/** Whether `change` may move elements of a list: another program that writes to one by position must notice. */
function changesList({ set = {}, unset = [], push, pull }: Change, shape: ObjectShape): boolean {
  return (
    push !== undefined ||
    pull !== undefined ||
    [...Object.keys(set), ...unset].some((field) => holdsList(shapeAt(field, shape))) ||
    Object.values(set).some(isListed)
  )
}

/** Whether a value of this shape holds a list, at any depth. */
function holdsList(shape: Shape | undefined): boolean {
  if (shape?.kind === 'map') return holdsList(shape.value)
  if (shape?.kind === 'object') return [...shape.fields.values()].some(holdsList)
  return shape?.kind === 'list'
}

/** Whether `value` is a list or holds one: mixed values may. */
function isListed(value: unknown): boolean {
  if (Array.isArray(value)) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(isListed)
}

function setStage<T>(
  members: Readonly<Record<string, T>> | undefined,
  compile: (field: string, value: T) => Document,
): Document | undefined {
  const entries = Object.entries(members ?? {}).filter(([, value]) => value !== undefined)
  if (entries.length === 0) return undefined
  return {
    $set: Object.fromEntries(entries.map(([field, value]) => [field, compile(field, value)])),
  }
}

/** A value taken literally: without `$literal`, a string that starts with `$` would name a field. */
function literal(value: unknown, shape: Shape | undefined): Document {
  return { $literal: encode(value, shape) }
}

function numberAt(field: string): Document {
  return { $cond: [{ $isNumber: `$${field}` }, `$${field}`, 0] }
}

function listAt(field: string): Document {
  return { $cond: [{ $isArray: `$${field}` }, `$${field}`, []] }
}

/** The shape of the whole value at `path`; for a list, the list's own shape. */
function shapeAt(path: string, shape: ObjectShape): Shape | undefined {
  let at: Shape | undefined = shape
  for (const key of path.split('.')) {
    if (at?.kind === 'list') at = at.element
    if (at?.kind === 'map') at = at.value
    else at = at?.kind === 'object' ? at.fields.get(key) : undefined
  }
  return at
}
