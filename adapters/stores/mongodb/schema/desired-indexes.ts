/** The indexes that a schema asks for. */

import { Binary, type CollationOptions, type Document, ObjectId } from 'mongodb'
import type { SortKey } from '../../../../src/ports/store/filter.ts'
import { placeOf, type Shape } from '../../../../src/ports/store/shape.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { haveSameFields } from '../../left-over.ts'
import { formOf } from '../documents/documents.ts'
import { directionOf } from '../query/filter.ts'
import type { DesiredIndex, ExistingIndex } from './existing-indexes.ts'

/** The unique index over the records in which every one of `fields` has a value. */
export function uniqueIndex(fields: readonly string[], schema: CollectionSchema): DesiredIndex {
  const values = fields.map((field) => [field, valueCondition(field, schema)])
  const collation = collationFor(fields, schema)
  return {
    key: new Map(fields.map((field) => [field, 1])),
    name: `unique(${fields.join(',')})`,
    unique: true,
    partialFilterExpression: Object.fromEntries(values),
    ...(collation && { collation }),
  }
}

/** The collation by which the model compares the values of a unique set; undefined if it compares them exactly. */
export function collationFor(
  fields: readonly string[],
  { collations = [] }: CollectionSchema,
): CollationOptions | undefined {
  return collations.find((one) => haveSameFields(one.fields, fields))?.collation
}

/** Whether `found`, to which MongoDB has added every option, is the collation that `wanted` describes. */
export function isCollation(found: Document | undefined, wanted: Document): boolean {
  return Object.entries(wanted).every(([option, value]) => found?.[option] === value)
}

/**
 * The same index under a name with its condition, for the time when another version of the app has made one over the same
 * fields with another: of numbers that were strings before, say.
 */
export function besideOther(index: DesiredIndex, { shape }: CollectionSchema): DesiredIndex {
  const types = [...index.key.keys()].map((field) => typeOf(placeOf(shape, field)?.shape)).join()
  const collation = index.collation ? `, ${JSON.stringify(index.collation)}` : ''
  return { ...index, name: `${index.name}(${types}${collation})` }
}

function typeOf(shape: Shape | undefined): string {
  return formOf(shape) ?? (shape?.kind === 'id' ? shape.idType : (shape?.kind ?? ''))
}

/** The index in the order of `keys`, with MongoDB's name for it: programs that declare the same get an error for another. */
export function orderIndex(keys: readonly SortKey[]): DesiredIndex {
  const directions = keys.map((key) => [key.field, directionOf(key)] as const)
  const name = directions.map(([field, direction]) => `${field}_${direction}`).join('_')
  return { key: new Map(directions), name }
}

/** What the values of a type begin with, and what MongoDB calls them, by name and number. */
type Kind = readonly [least: unknown, names: readonly (string | number)[]]

const STRINGS: Kind = ['', ['string', 2]]
const NUMBERS: Kind = [Number.NEGATIVE_INFINITY, ['number']]

const KINDS: Readonly<Record<string, Kind>> = {
  string: STRINGS,
  text: STRINGS,
  uuid: STRINGS,
  objectId: [new ObjectId('0'.repeat(24)), ['objectId', 7]],
  number: NUMBERS,
  integer: NUMBERS,
  boolean: [false, ['bool', 8]],
  date: [new Date(-8.64e15), ['date', 9]],
}

function kindOf(field: string, schema: CollectionSchema): Kind {
  const shape = placeOf(schema.shape, field)?.shape
  const form = formOf(shape)
  // Those of a stored form have other types than the model's.
  if (form) return [form === 'uuid' || form === 'binary' ? new Binary() : NUMBERS[0], []]
  const kind = KINDS[typeOf(shape)]
  if (kind) return kind
  throw new TypeError(
    `'${schema.name}': '${field}' cannot be unique, because it has no single type`,
  )
}

/**
 * The condition that a field has a value, as a range of its type: unlike `$type`, a range lets the planner use the
 * index for an equality. (`sparse` would do for one field, but counts null as a value.)
 */
export function valueCondition(field: string, schema: CollectionSchema): Document {
  return { $gte: kindOf(field, schema)[0] }
}

/** What else another program may write for a condition that no value of the field's type escapes. */
export function sameConditions(field: string, schema: CollectionSchema): readonly Document[] {
  return [{ $exists: true }, ...kindOf(field, schema)[1].map(($type) => ({ $type }))]
}

/** Whether an index holds all records in the order of `keys`. No read uses it while it is hidden. */
export function holds(index: ExistingIndex, keys: readonly SortKey[]): boolean {
  const { unique, sparse, partialFilterExpression, collation } = index
  if (unique || sparse || partialFilterExpression || collation) return false
  const order = [...index.key].map(([field, direction]) => `${field} ${direction}`)
  return order.join() === keys.map((key) => `${key.field} ${directionOf(key)}`).join()
}

/** Whether every read that uses `index` can use one over all records in the order of `keys`, which goes on after it. */
export function begins(index: ExistingIndex, keys: readonly SortKey[]): boolean {
  // Another collation has other equal values and another order.
  if (index.unique || index.collation) return false
  const own = [...index.key]
  const turns = new Set(
    own.map(([, direction], at) => keys[at] && direction === directionOf(keys[at])),
  )
  const isSame = own.every(([field], at) => keys[at]?.field === field)
  // An index is read backwards as well.
  return isSame && turns.size === 1
}
