/**
 * The indexes of a collection that only other versions of the model need.
 *
 * @module
 */

import type { Collection, Db } from 'mongodb'
import type { CollectionSchema, LeftOver } from '../../../../src/ports/store.ts'
import { haveSameFields } from '../connection/errors.ts'
import type { Indexed } from '../search/grams.ts'
import {
  besideOther,
  collationFor,
  holds,
  isCollation,
  totalOrder,
  uniqueIndex,
  valueCondition,
} from './desired-indexes.ts'
import { type Existing, type ExistingIndex, existingOf } from './existing-indexes.ts'
import { isAsStrict } from './foreign-indexes.ts'
import { dropGrams, otherGrams } from './gram-indexes.ts'
import { drop, refusal } from './index-calls.ts'

/**
 * The unique indexes and orders with names of this store's own that the model doesn't declare. An order has such a name
 * only if MongoDB's own was taken.
 */
export function leftIn(existing: Existing, schema: CollectionSchema): ExistingIndex[] {
  const orders = schema.indexes.map(totalOrder)
  return existing.indexes.filter((index) => {
    if (UNIQUE.test(index.name ?? '')) {
      return !schema.unique.some((fields) => isOf(fields, index, { existing, schema }))
    }
    return ORDER.test(index.name ?? '') && !orders.some((keys) => holds(index, keys))
  })
}

const UNIQUE = /^unique\(.*\)$/s
const ORDER = /^order\(.*\)$/s

/** Whether an index keeps `fields` unique exactly as the model says. */
function isOf(
  fields: readonly string[],
  { key, unique, collation, partialFilterExpression }: ExistingIndex,
  { existing, schema }: { existing: Existing; schema: CollectionSchema },
): boolean {
  const wanted = collationFor(fields, schema)
  const isCollated = wanted ? isCollation(collation ?? existing.collation, wanted) : !collation
  const condition = Object.fromEntries(
    fields.map((field) => [field, valueCondition(field, schema)]),
  )
  const isSame = JSON.stringify(partialFilterExpression) === JSON.stringify(condition)
  const isOn = JSON.stringify([...key.keys()]) === JSON.stringify(fields)
  return unique === true && isCollated && isSame && isOn
}

/**
 * Drops what only other versions of the models need, and says what it was. `prepare` has succeeded before; `indexedOf`
 * has the paths of a model with a search index.
 */
export async function dropLeftOvers(
  database: Db,
  schemas: readonly CollectionSchema[],
  indexedOf: (schema: CollectionSchema) => Indexed,
): Promise<LeftOver[]> {
  const dropped: LeftOver[] = []
  for (const schema of schemas) {
    const native = database.collection(schema.name)
    const existing = await existingOf(native)
    const left = [
      ...(await dropIndexes(native, schema, existing)),
      ...(await dropSearches(native, existing, indexedOf(schema))),
    ]
    dropped.push(...left.map((what) => ({ collection: schema.name, what })))
  }
  return dropped
}

async function dropIndexes(
  native: Collection,
  schema: CollectionSchema,
  existing: Existing,
): Promise<string[]> {
  const left = leftIn(existing, schema)
  const staying = existing.indexes.filter((index) => !left.includes(index))
  const dropped: string[] = []
  for (const index of left) {
    if (!(await staysUnique(native, index, { schema, staying }))) continue
    await drop(native, index)
    dropped.push(`${index.unique ? 'the unique index' : 'the index'} '${index.name}'`)
  }
  return dropped
}

/**
 * Whether what the model says is unique stays so without `index`. A stricter one, with another collation, may have stood
 * in for the model's own: that is made first.
 */
async function staysUnique(
  native: Collection,
  { name, key }: ExistingIndex,
  { schema, staying }: { schema: CollectionSchema; staying: readonly ExistingIndex[] },
): Promise<boolean> {
  const fields = schema.unique.find((set) => haveSameFields(set, [...key.keys()]))
  if (!fields || staying.some((index) => isAsStrict(index, fields, schema))) return true
  const wanted = uniqueIndex(fields, schema)
  for (const one of [wanted, besideOther(wanted, fields, schema)]) {
    // One that is there already may be this very index.
    if (!(await refusal(native, one))) return one.options.name !== name
  }
  return false
}

async function dropSearches(
  native: Collection,
  existing: Existing,
  indexed: Indexed = [],
): Promise<string[]> {
  // A script without routers declares no searches.
  const left = indexed.length > 0 ? otherGrams(existing.indexes, indexed) : []
  for (const index of left) await dropGrams(native, index)
  return left.map(({ name }) => `the search index '${name}'`)
}
