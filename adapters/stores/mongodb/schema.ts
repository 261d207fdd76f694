/**
 * Indexes: what `prepare` makes of a collection's schema.
 *
 * @module
 */

import type { Collection, Document, IndexDescriptionInfo } from 'mongodb'
import { ObjectId } from 'mongodb'
import type { SortKey } from '../../../src/ports/filter.ts'
import { placeOf } from '../../../src/ports/shape.ts'
import type { CollectionSchema } from '../../../src/ports/store.ts'
import { IndexConflict } from '../../../src/ports/store.ts'
import { haveSameFields, isDriverError } from './errors.ts'

const DUPLICATE_KEY = 11000
const NO_COLLECTION = 26
const NO_INDEX = 27
/** The index is there under another name, or another under its name. */
const OTHER_OPTIONS: ReadonlySet<unknown> = new Set([85, 86])

/** Makes the collection's indexes exist. Indexes that nobody asked for stay, but see `dropStricter`. */
export async function prepareCollection(
  native: Collection,
  schema: CollectionSchema,
): Promise<void> {
  for (const fields of schema.unique) {
    await createUnique(native, schema, fields)
    await dropStricter(native, fields)
  }
  for (const keys of schema.indexes) await createPlain(native, keys)
}

/** A unique index over the records in which every field has a value. */
async function createUnique(
  native: Collection,
  schema: CollectionSchema,
  fields: readonly string[],
): Promise<void> {
  const key = Object.fromEntries(fields.map((field) => [field, 1 as const]))
  const options = {
    name: uniqueName(fields),
    unique: true,
    partialFilterExpression: Object.fromEntries(
      fields.map((field) => [field, anyValue(field, schema)]),
    ),
  }
  try {
    await native.createIndex(key, options)
  } catch (error) {
    if (!isDriverError(error)) throw error
    if (error.code === DUPLICATE_KEY) throw new IndexConflict(schema.name, fields, { cause: error })
    if (!OTHER_OPTIONS.has(error.code)) throw error
    // A field of another type than before: the filter has changed with it.
    await dropIndex(native, options.name)
    await native.createIndex(key, options)
  }
}

/**
 * The condition that a field has a value, as a range of its type: unlike `$type`, a range lets the planner use the
 * index for an equality. (`sparse` would do for one field, but counts null as a value.)
 */
function anyValue(field: string, schema: CollectionSchema): Document {
  const shape = placeOf(schema.shape, field)?.shape
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
      return { $type: ['string', 'number', 'bool', 'date', 'object', 'array', 'objectId'] }
  }
}

/**
 * Drops a unique index on the same fields that counts a missing field or null as a value, such as Mongoose makes:
 * with it, two records without the field would clash. Ours, already there, keeps the values unique meanwhile.
 */
async function dropStricter(native: Collection, fields: readonly string[]): Promise<void> {
  for (const index of await indexesOf(native)) {
    const stricter = index.unique && !index.partialFilterExpression
    if (stricter && haveSameFields(Object.keys(index.key), fields)) {
      await dropIndex(native, index.name ?? '')
    }
  }
}

async function createPlain(native: Collection, keys: readonly SortKey[]): Promise<void> {
  const key = new Map(keys.map(({ field, descending }) => [field, descending ? -1 : 1]))
  const wanted = JSON.stringify([...key])
  const existing = await indexesOf(native)
  const there = existing.some(
    (index) =>
      JSON.stringify(Object.entries(index.key)) === wanted &&
      !index.partialFilterExpression &&
      !index.sparse,
  )
  if (!there) await native.createIndex(key as Map<string, 1 | -1>)
}

async function indexesOf(native: Collection): Promise<IndexDescriptionInfo[]> {
  return unless(NO_COLLECTION, () => native.indexes(), [])
}

/** Another process may have dropped it first. */
async function dropIndex(native: Collection, name: string): Promise<void> {
  await unless(NO_INDEX, () => native.dropIndex(name), {})
}

async function unless<T>(code: number, work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isDriverError(error) && error.code === code) return otherwise
    throw error
  }
}

function uniqueName(fields: readonly string[]): string {
  return `unique(${fields.join(',')})`
}
