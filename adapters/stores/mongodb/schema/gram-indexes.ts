/**
 * The indexes over the grams of documents.
 *
 * @module
 */

import type { AnyBulkWriteOperation, Collection, Document } from 'mongodb'
import { GRAMS, gramsAt, type Indexed, isStill, memberOf } from '../search/grams.ts'
import { drop, type ExistingIndex } from './existing-indexes.ts'

/** How many documents get their grams in one round trip. */
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
    await native.createIndex({ [memberOf(path)]: 1 }, { name: `search(${path})` })
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

/** Drops an index over grams, with the grams. */
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
  const fields = [...new Set(paths.map((path) => path.split('.')[0] ?? path))]
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
        update: gramsOfAll(document, paths),
      },
    })
    if (writes.length === BATCH) await flush()
  }
  await flush()
}

/** The update that gives a document its grams, and removes those of strings that have too many. */
function gramsOfAll(document: Document, paths: readonly string[]): Document {
  const update: { $set?: Document; $unset?: Document } = {}
  for (const path of paths) {
    const grams = gramsAt(document, path)
    if (grams) update.$set = { ...update.$set, [memberOf(path)]: grams }
    else update.$unset = { ...update.$unset, [memberOf(path)]: '' }
  }
  return update
}
