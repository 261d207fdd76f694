/**
 * Copying all records from one store to another: resumable, and verified by counts and checksums.
 *
 * The folder hangs on the side of the tree: it knows models and the store port, and nothing knows it.
 *
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Model } from '../model/model.ts'
import { everything } from '../ports/filter.ts'
import type { Collection, CollectionSchema, Fields, Store } from '../ports/store.ts'
import { batches, readable } from '../ports/walk.ts'

/** Hears how far a copy is. */
export interface CopyProgress {
  /** A collection is begun; it holds `total` records. */
  start?(collection: string, total: number): void
  /** So many of its records are in the target. */
  advance?(collection: string, done: number): void
}

/** What became of one collection. */
export interface CopyResult {
  readonly collection: string
  /** Records in the source and in the target, counted after the copy. */
  readonly source: number
  readonly target: number
  /** How many of them this run has copied; the others were there from a run before. */
  readonly copied: number
  /** SHA-256 over all records in the order of their ids, keys sorted; equal on both sides. */
  readonly checksum: string
}

/** Source and target differ after a copy: something wrote to one of them meanwhile. */
export class CopyMismatch extends Error {
  override readonly name = 'CopyMismatch'
}

/** What is in the target already is never overwritten or deleted. */
const AGAIN =
  'stop what writes to the stores and copy again, into an empty target if records were changed or deleted since they were copied'

/**
 * Copies the records of `models` from one store to another, and verifies them. What is already in the target
 * under the same id is left as it is, so a copy that was interrupted goes on where it was. The source is read alone:
 * an app that reads from it goes on. Throws a `CopyMismatch` when the two sides are not equal afterwards.
 */
export async function copyRecords(
  from: Store,
  to: Store,
  models: readonly Model[],
  progress: CopyProgress = {},
): Promise<CopyResult[]> {
  const schemas = models.map(schemaOf)
  await to.prepare(schemas)
  const results: CopyResult[] = []
  for (const schema of schemas) {
    const [source, target] = [await readable(from.collection(schema)), to.collection(schema)]
    const copied = await copyCollection(schema.name, source, target, progress)
    results.push({ ...(await verified(schema.name, source, target)), copied })
  }
  return results
}

async function copyCollection(
  name: string,
  source: Collection,
  target: Collection,
  progress: CopyProgress,
): Promise<number> {
  progress.start?.(name, await source.count(everything))
  let copied = 0
  let done = 0
  for await (const batch of batches(source)) {
    const ids = batch.map((record) => String(record._id))
    const there = await target.find({
      filter: { op: 'in', field: '_id', values: ids },
      sort: [],
      limit: ids.length,
      select: { include: ['_id'] },
    })
    const known = new Set(there.map((record) => record._id))
    const missing = batch.filter((record) => !known.has(record._id))
    await allOf(missing.map((record) => target.insert(record)))
    copied += missing.length
    done += batch.length
    progress.advance?.(name, done)
  }
  return copied
}

/** Waits for every write before it fails with the first that failed: none goes on behind the caller's back. */
async function allOf(writes: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(writes)).find((write) => write.status === 'rejected')
  if (failed) throw failed.reason
}

async function verified(
  name: string,
  source: Collection,
  target: Collection,
): Promise<Omit<CopyResult, 'copied'>> {
  const before = await source.count(everything)
  const [ours, theirs] = await Promise.all([summary(source), summary(target)])
  const after = await source.count(everything)
  if (ours.count !== before || before !== after) {
    // A walk by id meets ids of one type alone, and others may have written these: Mongoose, say, or a script.
    const isQuiet = before === after && (await summary(source)).checksum === ours.checksum
    throw new CopyMismatch(
      isQuiet && ours.count < before
        ? `'${name}': ${before - ours.count} of ${before} records have an _id of another type than the model's, and were not copied`
        : `'${name}': the source was written to during the copy; ${AGAIN}`,
    )
  }
  if (ours.count !== theirs.count || ours.checksum !== theirs.checksum) {
    throw new CopyMismatch(
      `'${name}': the source holds ${ours.count} records (${ours.checksum}), the target ${theirs.count} (${theirs.checksum}); ${AGAIN}`,
    )
  }
  return { collection: name, source: ours.count, target: theirs.count, checksum: ours.checksum }
}

async function summary(collection: Collection): Promise<{ count: number; checksum: string }> {
  const hash = sha256.create()
  let count = 0
  for await (const batch of batches(collection)) {
    for (const record of batch) hash.update(utf8ToBytes(canonical(record)))
    count += batch.length
  }
  return { count, checksum: bytesToHex(hash.digest()) }
}

/** JSON with sorted keys: stores may keep the members of objects in another order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null || value instanceof Date) {
    return JSON.stringify(value) ?? 'null'
  }
  const fields = value as Fields
  const members = Object.keys(fields)
    .filter((key) => fields[key] !== undefined)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonical(fields[key])}`)
  return `{${members.join(',')}}`
}

/** Without search fields: what search needs is made when an app opens the target. */
function schemaOf(model: Model): CollectionSchema {
  const { collection: name, idType, shape, declared, unique, indexes } = model
  return { name, idType, shape, declared, unique, indexes, searchable: [] }
}
