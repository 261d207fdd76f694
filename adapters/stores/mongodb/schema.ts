/**
 * Indexes: what `prepare` creates for a collection's schema.
 *
 * @module
 */

import {
  type CollationOptions,
  type Collection,
  type Document,
  type IndexDescriptionInfo,
  ObjectId,
} from 'mongodb'
import type { SortKey } from '../../../src/ports/filter.ts'
import { placeOf } from '../../../src/ports/shape.ts'
import { type CollectionSchema, IndexConflict } from '../../../src/ports/store.ts'
import { LOCK } from './documents.ts'
import { drop } from './drop.ts'
import { DUPLICATE_KEY, hasCode, haveSameFields, isDriverError } from './errors.ts'
import { GRAMS, prepareGrams } from './grams.ts'
import { leastOf } from './stored.ts'

const NO_COLLECTION = 26
/** The index exists under another name, or another index exists under its name. */
const OTHER_OPTIONS: ReadonlySet<unknown> = new Set([85, 86])

/** The names of the indexes that this store creates. Another app may rely on every other one. */
const OWN = /^(?:_id_|(?:unique|order|search)\(.*\))$/

/**
 * Creates the collection's indexes; `indexed` are the paths with a search index. Indexes that this store did not create
 * stay; `warn` gets a message about each that concerns a declared field and serves none of the model's needs.
 */
export async function prepareCollection(
  native: Collection,
  schema: CollectionSchema,
  indexed: readonly string[],
  warn: (message: string) => void,
): Promise<void> {
  const reserved = [GRAMS, LOCK].find((name) => schema.shape.fields.has(name))
  if (reserved !== undefined) {
    throw new TypeError(`'${schema.name}': the MongoDB store reserves the field '${reserved}'`)
  }
  for (const fields of schema.unique) {
    await createUnique(native, schema, fields).catch((error: unknown) => {
      if (!hasCode(error, DUPLICATE_KEY)) throw error
      throw new IndexConflict(schema.name, fields, { cause: error })
    })
  }
  const existing = await indexesOf(native)
  for (const index of existing) {
    const why = foreignness(index, schema)
    if (why)
      warn(`MongoDB: ${why} If nothing else needs it: db.${schema.name}.dropIndex('${index.name}')`)
  }
  for (const declared of schema.indexes) {
    const keys = totalOrder(declared)
    if (!existing.some((index) => serves(index, keys))) await createPlain(native, keys)
  }
  await prepareGrams(native, existing, indexed)
}

/** What an operator should know of an index that this store did not create; undefined if there is nothing to say. */
function foreignness(index: IndexDescriptionInfo, schema: CollectionSchema): string | undefined {
  const { name = '', key, unique } = index
  const fields = Object.keys(key)
  const isDeclared = fields.some((path) => schema.shape.fields.has(path.split('.')[0] ?? ''))
  if (OWN.test(name) || !isDeclared) return undefined
  const [which, list] = [`the index '${name}' of '${schema.name}'`, fields.join(', ')]
  if (unique && !index.partialFilterExpression) {
    return `${which} refuses a second record without ${list}, because it counts a missing value as a value.`
  }
  const isOfUse =
    schema.unique.some((set) => isUnique(index, set)) ||
    schema.indexes.some((declared) => serves(index, totalOrder(declared)))
  return isOfUse ? undefined : `${which} was not created by fieldgate, and slows down every write.`
}

/** A unique index over the records in which every field has a value. */
async function createUnique(
  native: Collection,
  schema: CollectionSchema,
  fields: readonly string[],
): Promise<void> {
  const key = Object.fromEntries(fields.map((field) => [field, 1 as const]))
  const values = fields.map((field) => [field, anyValue(field, schema)])
  const name = `unique(${fields.join(',')})`
  const collated = schema.collations?.find((one) => haveSameFields(one.fields, fields))
  const options = {
    name,
    unique: true,
    partialFilterExpression: Object.fromEntries(values),
    ...(collated && { collation: collated.collation as CollationOptions }),
  }
  try {
    await native.createIndex(key, options)
  } catch (error) {
    if (!isDriverError(error) || !OTHER_OPTIONS.has(error.code)) throw error
    const existing = await indexesOf(native)
    const own = existing.find((index) => index.name === name)
    if (own) {
      // A field may have another type than before: the filter changes with it.
      await drop(native, own)
      await native.createIndex(key, options)
      return
    }
    // The same index under another name keeps the values unique as well.
    if (!existing.some((index) => isUnique(index, fields))) throw error
  }
}

/**
 * The condition that a field has a value, as a range of its type: unlike `$type`, a range lets the planner use the
 * index for an equality. (`sparse` would do for one field, but counts null as a value.)
 */
function anyValue(field: string, schema: CollectionSchema): Document {
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

function isUnique(index: IndexDescriptionInfo, fields: readonly string[]): boolean {
  return index.unique === true && haveSameFields(Object.keys(index.key), fields)
}

/**
 * With `_id` as the last key, as total orders have it: without it MongoDB would sort everything that a filter matches.
 */
function totalOrder(keys: readonly SortKey[]): readonly SortKey[] {
  const isTotal = keys.some(({ field }) => field === '_id')
  return isTotal ? keys : [...keys, { field: '_id', descending: false }]
}

/** Whether an index holds all records in the order of `keys`, and stays. */
function serves(index: IndexDescriptionInfo, keys: readonly SortKey[]): boolean {
  const whole = !index.unique && !index.sparse && !index.partialFilterExpression
  const order = Object.entries(index.key).map(([field, direction]) => `${field} ${direction}`)
  return whole && order.join() === keys.map((key) => `${key.field} ${directionOf(key)}`).join()
}

async function createPlain(native: Collection, keys: readonly SortKey[]): Promise<void> {
  const name = `order(${keys.map((key) => (key.descending ? `-${key.field}` : key.field)).join(',')})`
  await native.createIndex(new Map(keys.map((key) => [key.field, directionOf(key)])), { name })
}

function directionOf({ descending }: SortKey): 1 | -1 {
  return descending ? -1 : 1
}

/** The collection's indexes; it may not exist yet. */
async function indexesOf(native: Collection): Promise<IndexDescriptionInfo[]> {
  try {
    return await native.indexes()
  } catch (error) {
    if (hasCode(error, NO_COLLECTION)) return []
    throw error
  }
}
