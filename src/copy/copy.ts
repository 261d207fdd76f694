/**
 * Copies all records from one store to another; resumable, and verified by counts and checksums.
 *
 * This folder depends on models and the store port, and nothing depends on it.
 *
 * @module
 */

import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Model } from '../model/model.ts'
import { everything } from '../ports/filter.ts'
import type { Collection, CollectionSchema, Fields, Store } from '../ports/store.ts'
import { batches, readable } from '../ports/walk.ts'

/** Callbacks for the progress of a copy. */
export interface CopyProgress {
  /** A collection has been started; it holds `total` records. */
  start?(collection: string, total: number): void
  /** The target now holds `done` of its records. */
  advance?(collection: string, done: number): void
}

/** The result for one collection. */
export interface CopyResult {
  readonly collection: string
  /** The number of records in the source and in the target, counted after the copy. */
  readonly source: number
  readonly target: number
  /** How many of them this run has copied; the others were already there from an earlier run. */
  readonly copied: number
  /** SHA-256 over all records in the order of their ids, keys sorted; equal on both sides. */
  readonly checksum: string
}

/** Thrown if source and target differ after a copy: something wrote to one of them meanwhile. */
export class CopyMismatch extends Error {
  override readonly name = 'CopyMismatch'
}

/** What is already in the target is never overwritten or deleted. */
const AGAIN =
  'stop what writes to the stores and copy again, into an empty target if records were changed or deleted since they were copied'

/**
 * Copies the records of `models` from one store to another, and verifies them. A record already in the target under the
 * same id is left as it is, so an interrupted copy continues. The source is only read, so an app can keep reading from
 * it. Throws a `CopyMismatch` if the two sides are not equal afterwards.
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

/** Waits for every write, then throws the first failure: no write goes on in the background. */
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
    // A walk by id only finds ids of one type, but other programs, e.g. Mongoose or a script, may have written other
    // ids.
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

/** Without search fields: search data is created when an app opens the target. */
function schemaOf(model: Model): CollectionSchema {
  const { collection: name, idType, adopted, shape, declared, absence, unique, indexes } = model
  const schema = { name, idType, shape, declared, absence, unique, indexes, searchable: [] }
  return adopted ? { ...schema, adopted } : schema
}
