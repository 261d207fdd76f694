/**
 * Indexes: what `prepare` creates for a collection's schema.
 *
 * @module
 */

import type { Collection, Db } from 'mongodb'
import type { SortKey } from '../../../../src/ports/filter.ts'
import { type CollectionSchema, IndexConflict } from '../../../../src/ports/store.ts'
import type { Surroundings } from '../../../../src/ports/surroundings.ts'
import { leftOverWarning } from '../../left-over.ts'
import { DUPLICATE_KEY, hasCode, haveSameFields } from '../connection/errors.ts'
import { LOCK } from '../documents/documents.ts'
import { GRAMS, type Indexed } from '../search/grams.ts'
import {
  besideOther,
  type DesiredIndex,
  holds,
  orderIndex,
  otherName,
  totalOrder,
  uniqueIndex,
} from './desired-indexes.ts'
import { collationText, type Existing, type ExistingIndex, existingOf } from './existing-indexes.ts'
import { dropCommand, foreignIndexes, inShell, isAsStrict } from './foreign-indexes.ts'
import { prepareGrams } from './gram-indexes.ts'
import { drop, refusal } from './index-calls.ts'
import { leftIn } from './obsolete-indexes.ts'

type Warn = (message: string) => void

/**
 * Creates the collection's indexes; `indexed` are the paths with a search index. Those of other versions of the app and of
 * other programs stay; `warn` gets a message about each that concerns a declared field and serves none of the model's
 * needs.
 */
export async function prepareCollection(
  native: Collection,
  schema: CollectionSchema,
  indexed: Indexed,
  warn: Warn,
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
  const existing = await existingOf(native)
  for (const message of warningsOf(existing, schema)) warn(message)
  const { indexes } = existing
  for (const declared of schema.indexes) {
    const keys = totalOrder(declared)
    if (!indexes.some((index) => holds(index, keys))) await createOrder(native, schema, keys, warn)
  }
  await prepareGrams(native, indexes, indexed)
}

/** What other programs left around the records of `schema`. */
export async function surroundingsOf(
  database: Db,
  schema: CollectionSchema,
): Promise<Surroundings> {
  const listed = await database.listCollections({}, { nameOnly: true }).toArray()
  const { indexes, collation } = await existingOf(database.collection(schema.name))
  return {
    database: database.databaseName,
    collections: listed.map(({ name }) => name),
    indexes: foreignIndexes(indexes, schema),
    ...(collation && { collation: collationText(collation) }),
  }
}

function warningsOf(existing: Existing, schema: CollectionSchema): string[] {
  const { indexes, collation } = existing
  const warnings = foreignIndexes(indexes, schema).map(({ name, note, advice, harm }) => {
    // One that only costs time may be ours, from when the model declared it: it has the name that MongoDB gives.
    const whose = harm === 'none' ? '' : 'was not created by fieldgate. It '
    return `MongoDB: the index '${name}' of '${schema.name}' ${whose}${note} ${advice}`
  })
  for (const { name = '', key, unique } of leftIn(existing, schema)) {
    const of = { collection: schema.name, name, unique: unique ? [...key.keys()] : undefined }
    warnings.push(leftOverWarning('MongoDB', of))
  }
  if (collation) {
    warnings.push(
      `MongoDB: the collection '${schema.name}' compares strings by a collation of its own (${collationText(collation)}), so filters, unique fields and sorts do too. Only a new collection can have another.`,
    )
  }
  return warnings
}

/** A unique index over the records in which every field has a value. */
async function createUnique(
  native: Collection,
  schema: CollectionSchema,
  fields: readonly string[],
): Promise<void> {
  const wanted = uniqueIndex(fields, schema)
  const error = await refusal(native, wanted)
  if (!error) return
  const { indexes } = await existingOf(native)
  // The same index under another name keeps the values unique as well; before MongoDB 5, any stricter one is in the way.
  if (indexes.some((index) => isAsStrict(index, fields, schema))) return
  const own = indexes.find(({ name }) => name === wanted.options.name)
  if (!own) throw clash(schema, fields, indexes, error)
  // A field has another type than in another version of the app, or another collation: each has its own index.
  if (await refusal(native, besideOther(wanted, fields, schema))) {
    await replace(native, own, wanted)
  }
}

/**
 * Before MongoDB 5, indexes over the same fields cannot differ in their conditions alone: until the new one is complete
 * nothing is unique.
 */
async function replace(
  native: Collection,
  own: ExistingIndex,
  wanted: DesiredIndex,
): Promise<void> {
  await drop(native, own)
  try {
    await native.createIndex(new Map(wanted.keys), wanted.options)
  } catch (error) {
    // What earlier versions of the app rely on stays.
    const { key, v: _, ...options } = own
    await native.createIndex(new Map(key), options)
    throw error
  }
}

function clash(
  schema: CollectionSchema,
  fields: readonly string[],
  indexes: readonly ExistingIndex[],
  cause: Error,
): Error {
  const others = indexes.filter(({ key, name }) => {
    return name !== '_id_' && haveSameFields([...key.keys()], fields)
  })
  if (others.length === 0) return cause
  const names = others.map(({ name }) => `'${name}'`).join(', ')
  const commands = others.map(({ name = '' }) => dropCommand(schema, name)).join('; ')
  return new Error(
    `MongoDB: '${schema.name}' can't have an index that keeps ${fields.join(', ')} unique beside ${names}, which fieldgate did not create. If nothing else needs it, run ${commands} and start again. Otherwise drop ${fields.join(', ')} from 'unique'.`,
    { cause },
  )
}

/** Reads work without this index: what is in its way is left to the operator. */
async function createOrder(
  native: Collection,
  schema: CollectionSchema,
  keys: readonly SortKey[],
  warn: Warn,
): Promise<void> {
  const wanted = orderIndex(keys)
  if (!(await refusal(native, wanted))) return
  const renamed = { ...wanted, options: { name: otherName(keys) } }
  const error = await refusal(native, renamed)
  if (!error) return
  const list = keys.map(({ field }) => field).join(', ')
  warn(
    `MongoDB: '${schema.name}' can't have the index on ${list} that the model declares, because of an index that fieldgate did not create: ${error.message}. Look at ${inShell(schema.name)}.getIndexes(), and drop it with ${inShell(schema.name)}.dropIndex(name) if nothing else needs it.`,
  )
}
