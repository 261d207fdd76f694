/**
 * Indexes that this store did not create: what each means for a collection's schema. None is ever dropped.
 *
 * @module
 */

import type { Document, IndexDescriptionInfo } from 'mongodb'
import { topOf } from '../../../src/ports/paths.ts'
import type { CollectionSchema } from '../../../src/ports/store.ts'
import type { ForeignIndex } from '../../../src/ports/surroundings.ts'
import { haveSameFields } from './errors.ts'
import { collationText } from './existing.ts'
import {
  collationFor,
  holds,
  isCollation,
  isOwn,
  sameConditions,
  totalOrder,
  valueCondition,
} from './wanted.ts'

/**
 * What an operator should know of the other indexes on fields of `schema`; nothing of those that the model has a use
 * for.
 */
export function foreignIndexes(
  indexes: readonly IndexDescriptionInfo[],
  schema: CollectionSchema,
): readonly ForeignIndex[] {
  return indexes.flatMap((index) => {
    const fields = fieldsOf(index)
    const isDeclared = fields.some((path) => schema.shape.fields.has(topOf(path)))
    if (isOwn(index) || !isDeclared) return []
    const found = unlikeOurs(index, schema) ?? unused(index, schema)
    const { name = '' } = index
    return found ? [{ name, fields, ...found, command: dropCommand(schema, name) }] : []
  })
}

/** The line for MongoDB's shell that drops an index. */
export function dropCommand({ name }: CollectionSchema, index: string): string {
  return `${inShell(name)}.dropIndex(${quoted(index)})`
}

/** A collection in MongoDB's shell. */
export function inShell(collection: string): string {
  return /^[A-Za-z]\w*$/.test(collection)
    ? `db.${collection}`
    : `db.getCollection(${quoted(collection)})`
}

function quoted(text: string): string {
  return /^[^'\\\p{Cc}]*$/u.test(text) ? `'${text}'` : JSON.stringify(text)
}

/** Those of a text index are not in its key. */
function fieldsOf({ key, weights = {} }: IndexDescriptionInfo): readonly string[] {
  const named = Object.keys(key).filter((path) => path !== '_fts' && path !== '_ftsx')
  return [...named, ...Object.keys(weights)]
}

/**
 * Whether an index refuses every record that our own unique index over `fields` would refuse. A collation, another order
 * of the keys and more records in it make it stricter.
 */
export function isAsStrict(
  index: IndexDescriptionInfo,
  fields: readonly string[],
  schema: CollectionSchema,
): boolean {
  if (index.unique !== true || !haveSameFields(Object.keys(index.key), fields)) return false
  const collation = collationFor(fields, schema)
  if (collation && !isCollation(index.collation, collation)) return false
  const condition: Document = index.partialFilterExpression ?? {}
  return Object.entries(condition).every(([path, given]) => {
    if (!fields.includes(path)) return false
    const enough = [valueCondition(path, schema), ...sameConditions(path, schema)]
    return enough.some((one) => JSON.stringify(one) === JSON.stringify(given))
  })
}

type Found = Pick<ForeignIndex, 'harm' | 'note'>

/** What an index does to writes that the model doesn't say. */
function unlikeOurs(index: IndexDescriptionInfo, schema: CollectionSchema): Found | undefined {
  const { expireAfterSeconds: after, unique, collation } = index
  const list = fieldsOf(index).join(', ')
  if (typeof after === 'number') {
    return {
      harm: 'deletes',
      note: `deletes records ${after.toLocaleString('en')} seconds after ${list}, past every guard, hook and reference.`,
    }
  }
  if (!unique) return undefined
  const refuses = (note: string): Found => ({ harm: 'refuses', note: `refuses ${note}` })
  if (!schema.unique.some((set) => haveSameFields(set, fieldsOf(index)))) {
    return refuses(`a second record with the same ${list}, which the model does not say is unique.`)
  }
  const own = collationFor(fieldsOf(index), schema)
  const isOwnCollation = own !== undefined && isCollation(collation, own)
  if (collation && collation.locale !== 'simple' && !isOwnCollation) {
    return refuses(
      `a ${list} that its collation (${collationText(collation)}) takes for another's. Without it, only equal values clash.`,
    )
  }
  const lack = clashingLack(index, schema)
  return lack === undefined
    ? undefined
    : refuses(`a second record ${lack}, because it counts a missing value as a value.`)
}

/** Which records without a value a unique index refuses though the model takes them. */
function clashingLack(index: IndexDescriptionInfo, schema: CollectionSchema): string | undefined {
  if (index.partialFilterExpression) return undefined
  const fields = fieldsOf(index)
  const mayLack = fields.filter((field) => schema.absence?.get(field) !== 'never')
  if (mayLack.length === 0) return undefined
  const list = mayLack.join(', ')
  // A sparse index leaves out the records that have none of its fields, but not those in which one is null.
  if (!index.sparse || fields.length > 1) return `without ${list}`
  return schema.absence?.get(list) === 'missing' ? undefined : `in which ${list} is null`
}

function unused(index: IndexDescriptionInfo, schema: CollectionSchema): Found | undefined {
  if (schema.unique.some((set) => isAsStrict(index, set, schema))) return undefined
  const isDeclared = schema.indexes.some((declared) => holds(index, totalOrder(declared)))
  if (isDeclared && !index.hidden) return undefined
  return {
    harm: 'none',
    note: isDeclared
      ? `is the one that the model declares, but it is hidden, so no read uses it. To use it: ${inShell(schema.name)}.unhideIndex(${quoted(index.name ?? '')}).`
      : 'serves nothing that the model declares, and slows down every write.',
  }
}
