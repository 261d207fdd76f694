/** Indexes: what `prepare` creates for a collection's schema, and what is left of other versions of the model. */

import type { Collection, Db } from 'mongodb'
import type { Surroundings } from '../../../../src/ports/services/surroundings.ts'
import { type SortKey, sortText } from '../../../../src/ports/store/filter.ts'
import type { CollectionSchema, LeftOver } from '../../../../src/ports/store/store.ts'
import { IndexConflict } from '../../../../src/ports/store/store-errors.ts'
import { haveSameFields, leftOverWarning } from '../../left-over.ts'
import { totalOrder } from '../../planner/seek.ts'
import { DUPLICATE_KEY, hasCode } from '../connection/errors.ts'
import { LOCK, type Stored } from '../documents/documents.ts'
import { GRAMS } from '../search/grams.ts'
import {
  besideOther,
  collationFor,
  holds,
  isCollation,
  orderIndex,
  uniqueIndex,
} from './desired-indexes.ts'
import {
  collationText,
  create,
  drop,
  dropGrams,
  type Existing,
  type ExistingIndex,
  existingOf,
  otherGrams,
  prepareGrams,
  refusal,
  stands,
} from './existing-indexes.ts'
import { dropCommand, foreignIndexes, inShell, isAsStrict } from './foreign-indexes.ts'

type Warn = (message: string) => void

/**
 * Creates the collection's indexes. Those of other versions of the app and of other programs stay; `warn` gets a message about
 * each that concerns a declared field and serves none of the model's needs.
 */
export async function prepareCollection(stored: Stored, warn: Warn): Promise<void> {
  const { native, schema } = stored
  const reserved = [GRAMS, LOCK].find((name) => schema.shape.fields.has(name))
  if (reserved !== undefined) {
    throw new TypeError(`'${schema.name}': the MongoDB store reserves the field '${reserved}'`)
  }
  const fault = faultOf(schema.name, native.namespace)
  if (fault !== undefined) {
    throw new TypeError(
      `'${schema.name}': MongoDB takes no name ${fault}. Give the model another 'collection'`,
    )
  }
  const keepUnique = (fields: readonly string[]) =>
    createUnique(stored, fields).catch((error: unknown) => {
      if (!hasCode(error, DUPLICATE_KEY)) throw error
      throw new IndexConflict(schema.name, fields, { cause: error })
    })
  for (const fields of schema.unique) await keepUnique(fields)
  // MongoDB also says that an index exists when another process has just begun to build it; asked again, it waits.
  const asked = Promise.all(schema.unique.map(keepUnique))
  const [existing] = await Promise.all([existingOf(native), asked])
  for (const message of warningsOf(existing, schema)) warn(message)
  const { indexes } = existing
  for (const declared of schema.indexes) {
    const keys = totalOrder(declared)
    if (!indexes.some((index) => holds(index, keys))) await createOrder(stored, keys, warn)
  }
  await prepareGrams(native, indexes, stored.indexed())
}

/** The bytes of a collection's name with that of its database. */
const MAX_NAME_BYTES = 255

/** Why MongoDB takes no collection of this name; some it refuses only at the first write. */
function faultOf(name: string, namespace: string): string | undefined {
  if (/^system\.|\$/.test(name)) {
    return "with '$', and keeps those that begin with 'system.' for itself"
  }
  if (name.startsWith('.') || name.endsWith('.')) return 'that begins or ends with a dot'
  if (name.includes('\0')) return 'with the character U+0000'
  const isLong = new TextEncoder().encode(namespace).length > MAX_NAME_BYTES
  return isLong ? `of more than ${MAX_NAME_BYTES} bytes with its database's` : undefined
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

/** How often it looks again after an index that it relied on has gone. */
const MAX_TRIES = 20

/** A unique index over the records in which every field has a value. */
async function createUnique(
  stored: Stored,
  fields: readonly string[],
  tries = MAX_TRIES,
): Promise<void> {
  const { native, schema } = stored
  const wanted = uniqueIndex(fields, schema)
  const error = await refusal(native, wanted)
  if (!error) return
  const { indexes } = await existingOf(native)
  // The same index under another name keeps the values unique as well; before MongoDB 5, any stricter one is in the way.
  const strict = indexes.find((index) => isAsStrict(index, fields, schema))
  if (strict) {
    const isKept = await stands(native, strict)
    return isKept || tries === 0 ? undefined : createUnique(stored, fields, tries - 1)
  }
  const own = indexes.find(({ name }) => name === wanted.name)
  if (!own) throw clash(schema, fields, indexes, error)
  // A field has another type than in another version of the app, or another collation: each has its own index.
  const beside = besideOther(wanted, schema)
  if (await refusal(native, beside)) await replace(native, own, wanted)
}

/** Before MongoDB 5, indexes over the same fields can't differ in conditions alone: nothing is unique until this is done. */
async function replace(
  native: Collection,
  own: ExistingIndex,
  wanted: ExistingIndex,
): Promise<void> {
  await drop(native, own)
  try {
    await create(native, wanted)
  } catch (error) {
    // What earlier versions of the app rely on stays.
    await create(native, own)
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
  { native, schema }: Stored,
  keys: readonly SortKey[],
  warn: Warn,
): Promise<void> {
  const wanted = orderIndex(keys)
  if (!(await refusal(native, wanted))) return
  // Its own name is taken by an index with other options.
  const error = await refusal(native, { ...wanted, name: `order(${sortText(keys)})` })
  if (!error) return
  const list = keys.map(({ field }) => field).join(', ')
  warn(
    `MongoDB: '${schema.name}' can't have the index on ${list} that the model declares, because of an index that fieldgate did not create: ${error.message}. Look at ${inShell(schema.name)}.getIndexes(), and drop it with ${inShell(schema.name)}.dropIndex(name) if nothing else needs it.`,
  )
}

const UNIQUE = /^unique\(.*\)$/s
const ORDER = /^order\(.*\)$/s

/** The undeclared indexes with names of this store's own; an order has such a name only if MongoDB's own was taken. */
function leftIn(existing: Existing, schema: CollectionSchema): ExistingIndex[] {
  const orders = schema.indexes.map(totalOrder)
  return existing.indexes.filter((index) => {
    const { name = '' } = index
    if (UNIQUE.test(name)) return !isDeclared(index, existing, schema)
    return ORDER.test(name) && !orders.some((keys) => holds(index, keys))
  })
}

/** Whether an index keeps some fields unique exactly as the model says. */
function isDeclared(
  { key, unique, collation, partialFilterExpression }: ExistingIndex,
  existing: Existing,
  schema: CollectionSchema,
): boolean {
  const fields = [...key.keys()]
  if (!unique || !schema.unique.some((one) => one.join() === fields.join())) return false
  const wanted = collationFor(fields, schema)
  const isCollated = wanted ? isCollation(collation ?? existing.collation, wanted) : !collation
  const condition = uniqueIndex(fields, schema).partialFilterExpression
  return isCollated && JSON.stringify(partialFilterExpression) === JSON.stringify(condition)
}

/** Drops what only other versions of the models need, and says what it was. `prepare` has succeeded before. */
export async function dropLeftOvers(collections: readonly Stored[]): Promise<LeftOver[]> {
  const dropped: LeftOver[] = []
  for (const stored of collections) {
    const what = await droppedFrom(stored)
    dropped.push(...what.map((one) => ({ collection: stored.schema.name, what: one })))
  }
  return dropped
}

async function droppedFrom(stored: Stored): Promise<string[]> {
  const { native, schema } = stored
  const existing = await existingOf(native)
  const left = leftIn(existing, schema)
  const staying = existing.indexes.filter((index) => !left.includes(index))
  const dropped: string[] = []
  for (const index of left) {
    if (!(await staysUnique(stored, index, staying))) continue
    await drop(native, index)
    dropped.push(`${index.unique ? 'the unique index' : 'the index'} '${index.name}'`)
  }
  // A script without routers declares no searches.
  const indexed = stored.indexed() ?? []
  for (const index of indexed.length > 0 ? otherGrams(existing.indexes, indexed) : []) {
    await dropGrams(native, index)
    dropped.push(`the search index '${index.name}'`)
  }
  return dropped
}

/**
 * Whether what the model says is unique stays so without `index`. A stricter one, with another collation, may have stood
 * in for the model's own: that is made first.
 */
async function staysUnique(
  { native, schema }: Stored,
  { name, key }: ExistingIndex,
  staying: readonly ExistingIndex[],
): Promise<boolean> {
  const fields = schema.unique.find((set) => haveSameFields(set, [...key.keys()]))
  if (!fields) return true
  const strict = staying.find((index) => isAsStrict(index, fields, schema))
  if (strict && (await stands(native, strict))) return true
  const wanted = uniqueIndex(fields, schema)
  for (const one of [wanted, besideOther(wanted, schema)]) {
    // One that is there already may be this very index.
    const error = (await refusal(native, one)) ?? (await refusal(native, one))
    if (!error) return one.name !== name
  }
  return false
}
