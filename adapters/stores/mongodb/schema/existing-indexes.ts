/** The indexes that a collection has, creating and dropping them beside others, and those over the grams of documents. */

import {
  type AnyBulkWriteOperation,
  BSON,
  type Collection,
  type Document,
  type IndexDescription,
  type IndexDirection,
} from 'mongodb'
import { topOf } from '../../../../src/ports/values/paths.ts'
import { DUPLICATE_KEY, hasCode, isDriverError, unless } from '../connection/errors.ts'
import { BsonReader } from '../documents/bson.ts'
import { GRAMS, gramsAt, type Indexed, isStill, memberOf } from '../search/grams.ts'

const NO_COLLECTION = 26
const NO_INDEX = 27
/** The index exists under another name, or another index exists under its name. */
const OTHER_OPTIONS: ReadonlySet<unknown> = new Set([85, 86])

/** CannotCreateIndex, and too many fields. */
const NO_ROOM: ReadonlySet<unknown> = new Set([67, 13103])

/** An index that exists. A plain object would have fields with names like `2024` before the others. */
export interface ExistingIndex extends Omit<IndexDescription, 'key'> {
  /** Its fields in order, with their directions. */
  readonly key: ReadonlyMap<string, IndexDirection>
}

export interface Existing {
  /** Each has a `collation` only if that is not the collection's. */
  readonly indexes: readonly ExistingIndex[]
  /** How the collection compares strings, if it has a collation of its own. */
  readonly collation: Document | undefined
}

export type DesiredIndex = ExistingIndex & { readonly name: string }

/** Looks at a collection; it may not exist yet. */
export async function existingOf(native: Collection): Promise<Existing> {
  const listed = await native.listIndexes({ raw: true }).toArray().catch(unless(NO_COLLECTION))
  const indexes = ((listed ?? []) as unknown as Uint8Array[]).map(indexOf)
  // MongoDB gives this index the collection's collation and lets nobody change it.
  const collation = indexes.find(({ name }) => name === '_id_')?.collation
  if (!collation) return { indexes, collation }
  const own = JSON.stringify(collation)
  const relative = indexes.map(({ collation: found = { locale: 'simple' }, ...index }) =>
    JSON.stringify(found) === own ? index : { ...index, collation: found },
  )
  return { indexes: relative, collation }
}

function indexOf(bytes: Uint8Array): ExistingIndex {
  const index = BSON.deserialize(bytes) as Omit<ExistingIndex, 'key'> & { key: Directions }
  const ordered = new BsonReader(BSON.deserialize(bytes, { raw: true }).key).names()
  const names = Object.keys(index.key)
  // A direction of a rare type ends the list early.
  const fields = ordered.length === names.length ? ordered : names
  return { ...index, key: new Map(fields.map((field) => [field, index.key[field] ?? 1])) }
}

type Directions = Readonly<Record<string, IndexDirection>>

/** The locale and the strength of a collation, for people. */
export function collationText({ locale, strength }: Document): string {
  return strength === undefined ? String(locale) : `${locale}, strength ${strength}`
}

/** Creates an index; what the database has against it, if there is another one in its place. */
export async function refusal(
  native: Collection,
  index: ExistingIndex,
): Promise<Error | undefined> {
  try {
    await create(native, index)
    return undefined
  } catch (error) {
    if (!isDriverError(error)) throw error
    if (OTHER_OPTIONS.has(error.code)) return error
    if (!NO_ROOM.has(error.code)) throw error
    throw new TypeError(
      `MongoDB: '${native.collectionName}' can't have the index on ${[...index.key.keys()].join(', ')}: ${error.message}. A collection takes 64 indexes, and an index 32 fields`,
    )
  }
}

/** Whether a listed index is there for good: another process may still build it, and fail. Asking for the same one waits. */
export async function stands(native: Collection, index: ExistingIndex): Promise<boolean> {
  try {
    return (await refusal(native, index)) === undefined
  } catch (error) {
    if (hasCode(error, DUPLICATE_KEY)) return false
    throw error
  }
}

export async function create(
  native: Collection,
  { key, ...options }: ExistingIndex,
): Promise<void> {
  await native.createIndex(new Map(key), options)
}

/** Drops an index; another process may have dropped it first. */
export async function drop(native: Collection, { name = '' }: ExistingIndex): Promise<void> {
  await native.dropIndex(name).catch(unless(NO_INDEX))
}

const BATCH = 1000

/**
 * Creates the indexes over `paths`, and adds grams to the documents that have none. Those in `existing` of other paths
 * stay, for other versions of the app. Without `searchIndexes` all go: what such a store changes would keep grams that are
 * no longer its own, and be missed once there is an index again.
 */
export async function prepareGrams(
  native: Collection,
  existing: readonly ExistingIndex[],
  paths: Indexed,
): Promise<void> {
  if (!paths) {
    for (const index of existing.filter(isOfGrams)) await dropGrams(native, index)
    return
  }
  if (paths.length === 0) return
  const members = existing.flatMap(({ key }) => [...key.keys()])
  const added = paths.filter((path) => !members.includes(memberOf(path)))
  // An index is built faster than it grows. Grams without an index may be older than their strings.
  if (added.length > 0) await backfill(native, added, {})
  for (const path of added) {
    const key = new Map([[memberOf(path), 1 as const]])
    const error = await refusal(native, { key, name: `search(${path})` })
    if (error) throw error
  }
  await backfill(native, paths, { $or: paths.map((path) => ({ [memberOf(path)]: null })) })
}

/** The indexes in `existing` over the grams of other paths than `paths`. */
export function otherGrams(
  existing: readonly ExistingIndex[],
  paths: readonly string[],
): ExistingIndex[] {
  const wanted = paths.map(memberOf)
  return existing.filter((index) => isOfGrams(index) && !wanted.includes(memberIn(index)))
}

export async function dropGrams(native: Collection, index: ExistingIndex): Promise<void> {
  const member = memberIn(index)
  // The index goes last: as long as it exists, the rest still has to go.
  await native.updateMany({ [member]: { $ne: null } }, [{ $unset: member }])
  await drop(native, index)
}

function isOfGrams(index: ExistingIndex): boolean {
  return memberIn(index).startsWith(`${GRAMS}.`)
}

function memberIn({ key }: ExistingIndex): string {
  return key.keys().next().value ?? ''
}

async function backfill(
  native: Collection,
  paths: readonly string[],
  filter: Document,
): Promise<void> {
  const fields = [...new Set(paths.map(topOf))]
  const projection = Object.fromEntries(fields.map((field) => [field, 1]))
  let writes: AnyBulkWriteOperation[] = []
  const flush = async () => {
    if (writes.length > 0) await native.bulkWrite(writes, { ordered: false })
    writes = []
  }
  for await (const document of native.find(filter, { projection })) {
    // A write in between has added its own.
    const unchanged = fields.map((field) => isStill(field, document[field]))
    writes.push({
      updateOne: {
        filter: { _id: document._id, $expr: { $and: unchanged } },
        update: [{ $set: Object.fromEntries(paths.map((path) => gramsMember(document, path))) }],
      },
    })
    if (writes.length === BATCH) await flush()
  }
  await flush()
}

/** A member with the grams of a document; those of strings that have too many are removed. */
function gramsMember(document: Document, path: string): [string, unknown] {
  const grams = gramsAt(document, path)
  return [memberOf(path), grams ? { $literal: grams } : '$$REMOVE']
}
