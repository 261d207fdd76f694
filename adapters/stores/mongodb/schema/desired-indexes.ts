/**
 * The indexes that a schema asks for.
 *
 * @module
 */

import { type Document, ObjectId } from 'mongodb'
import type { SortKey } from '../../../../src/ports/filter.ts'
import { placeOf } from '../../../../src/ports/shape.ts'
import type { CollectionSchema } from '../../../../src/ports/store.ts'
import { haveSameFields } from '../connection/errors.ts'
import { leastOf } from '../documents/stored-forms.ts'
import type { ExistingIndex } from './existing-indexes.ts'

/** The names of the indexes that this store creates. Another app may rely on every other one. */
const OWN = /^(?:_id_|(?:unique|order|search)\(.*\))$/s

/** Whether this store created an index. */
export function isOwn({ name = '' }: ExistingIndex): boolean {
  return OWN.test(name)
}

/** An index, as the driver takes it. */
export interface DesiredIndex {
  readonly keys: ReadonlyMap<string, 1 | -1>
  readonly options: { readonly name: string } & Readonly<Document>
}

/** The unique index over the records in which every one of `fields` has a value. */
export function uniqueIndex(fields: readonly string[], schema: CollectionSchema): DesiredIndex {
  const values = fields.map((field) => [field, valueCondition(field, schema)])
  const collation = collationFor(fields, schema)
  return {
    keys: new Map(fields.map((field) => [field, 1])),
    options: {
      name: `unique(${fields.join(',')})`,
      unique: true,
      partialFilterExpression: Object.fromEntries(values),
      ...(collation && { collation }),
    },
  }
}

/** The collation by which the model compares the values of a unique set; undefined if it compares them exactly. */
export function collationFor(
  fields: readonly string[],
  { collations = [] }: CollectionSchema,
): Document | undefined {
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
export function besideOther(
  { keys, options }: DesiredIndex,
  fields: readonly string[],
  schema: CollectionSchema,
): DesiredIndex {
  const types = fields.map((field) => typeOf(field, schema)).join(',')
  const collation = options.collation ? `, ${JSON.stringify(options.collation)}` : ''
  return { keys, options: { ...options, name: `${options.name}(${types}${collation})` } }
}

function typeOf(field: string, { shape }: CollectionSchema): string {
  const place = placeOf(shape, field)?.shape
  if (place && 'stored' in place && place.stored) return place.stored
  return place?.kind === 'id' ? place.idType : (place?.kind ?? '')
}

/**
 * The index in the order of `keys`. It has the name that MongoDB would give it: a program that declares the same index
 * gets an error if that has another name.
 */
export function orderIndex(keys: readonly SortKey[]): DesiredIndex {
  const directions = keys.map((key) => [key.field, directionOf(key)] as const)
  const name = directions.map(([field, direction]) => `${field}_${direction}`).join('_')
  return { keys: new Map(directions), options: { name } }
}

/** A name for an order index whose own one is taken by an index with other options. */
export function otherName(keys: readonly SortKey[]): string {
  return `order(${keys.map((key) => (key.descending ? `-${key.field}` : key.field)).join(',')})`
}

/**
 * The condition that a field has a value, as a range of its type: unlike `$type`, a range lets the planner use the
 * index for an equality. (`sparse` would do for one field, but counts null as a value.)
 */
export function valueCondition(field: string, schema: CollectionSchema): Document {
  const shape = placeOf(schema.shape, field)?.shape
  if (shape && 'stored' in shape && shape.stored) return { $gte: leastOf(shape.stored) }
  switch (shape?.kind) {
    case 'string':
      return { $gte: '' }
    case 'number':
      return { $gte: Number.NEGATIVE_INFINITY }
    case 'boolean':
      return { $gte: false }
    case 'date':
      return { $gte: new Date(-8.64e15) }
    case 'id':
      return { $gte: shape.idType === 'objectId' ? new ObjectId('0'.repeat(24)) : '' }
    default:
      throw new TypeError(
        `'${schema.name}': '${field}' cannot be unique, because it has no single type`,
      )
  }
}

/** What else another program may write for a condition that no value of the field's type escapes. */
export function sameConditions(field: string, schema: CollectionSchema): readonly Document[] {
  const shape = placeOf(schema.shape, field)?.shape
  // Those of a stored form have other types than the model's.
  const isStored = shape && 'stored' in shape && shape.stored !== undefined
  const type = shape?.kind === 'id' && shape.idType === 'objectId' ? 'objectId' : shape?.kind
  const names = (!isStored && TYPES[type ?? '']) || []
  return [{ $exists: true }, ...names.map(($type) => ({ $type }))]
}

/** What MongoDB calls the types, by name and number. */
const TYPES: Readonly<Record<string, readonly (string | number)[]>> = {
  string: ['string', 2],
  id: ['string', 2],
  objectId: ['objectId', 7],
  boolean: ['bool', 8],
  date: ['date', 9],
  number: ['number'],
}

/**
 * With `_id` as the last key, as total orders have it: without it MongoDB would sort everything that a filter matches.
 */
export function totalOrder(keys: readonly SortKey[]): readonly SortKey[] {
  const isTotal = keys.some(({ field }) => field === '_id')
  return isTotal ? keys : [...keys, { field: '_id', descending: false }]
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

function directionOf({ descending }: SortKey): 1 | -1 {
  return descending ? -1 : 1
}
