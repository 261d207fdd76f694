/**
 * Stored records against the models of an app. Nothing is written.
 *
 * The folder hangs on the side of the tree: it knows models and the store port, and nothing knows it.
 */

import { digestOf } from '#hmac'
import { collectionSchema } from '../../model/collection-schema.ts'
import { type Model, valueIn } from '../../model/model.ts'
import { renamedCollection } from '../../model/renamed-collection.ts'
import { upgraded, upgradeOf } from '../../model/upgrade.ts'
import { all, everything, type Filter, type Scalar } from '../../ports/filter.ts'
import type { Fields } from '../../ports/records.ts'
import type { Collection, Store } from '../../ports/store.ts'
import { batches, readable } from '../../ports/walk.ts'
import { EXAMPLES, type Progress, type Some, Tally } from '../tally.ts'
import { type Problem, recordChecker } from './record.ts'

/** What a check has found. */
export interface CheckResult {
  readonly ok: boolean
  /** How many records were read. */
  readonly records: number
  readonly problems: readonly Problem[]
  /** What reads show otherwise than it is stored, until a backfill writes it. It is no problem. */
  readonly pending: readonly Pending[]
}

/** Records of one model in which a backfill would write one field. */
export interface Pending {
  readonly model: string
  readonly field: string
  readonly count: number
}

/** Reads every stored record of `models` and tells what does not fit. Records that are written meanwhile may be missed. */
export async function checkRecords(
  store: Store,
  models: Iterable<Model>,
  progress: Progress = {},
): Promise<CheckResult> {
  const problems: Problem[] = []
  const pending: Pending[] = []
  let records = 0
  for (const model of models) {
    const collection = await readable(store.collection(collectionSchema(model)))
    const found = await checkModel(model, collection, progress)
    records += found.records
    problems.push(...found.problems)
    pending.push(...found.pending)
  }
  return { ok: problems.length === 0, records, problems, pending }
}

async function checkModel(
  model: Model,
  collection: Collection,
  progress: Progress,
): Promise<Omit<CheckResult, 'ok'>> {
  const total = await collection.count(everything)
  progress.start?.(model.name, total)
  const check = recordChecker(model)
  const tally = new Tally<Omit<Problem, keyof Some>>()
  const sets = model.unique.map((fields) => new Duplicates(fields, total))
  const pending = new Map<string, number>()
  let done = 0
  for await (const batch of batches(collection, model.idType)) {
    for (const stored of batch) {
      const record = upgraded(model, stored)
      for (const { problem, field } of await check(record)) {
        tally.add({ model: model.name, problem, field }, String(record._id))
      }
      for (const set of sets) set.add(record)
      count(pending, upgradeOf(model, stored, record)?.fields)
    }
    done += batch.length
    progress.advance?.(model.name, done)
  }
  const problems = tally.all()
  const current = renamedCollection(collection, model)
  for (const set of sets) {
    const found = await duplicatesOf(set, current)
    if (found) problems.push({ model: model.name, problem: 'duplicate', ...found })
  }
  const counts = [...pending].map(([field, count]) => ({ model: model.name, field, count }))
  return { records: done, problems, pending: counts }
}

function count(counts: Map<string, number>, names: readonly string[] = []): void {
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** The store says which of those that look alike are: two values may have one hash. */
async function duplicatesOf(
  set: Duplicates,
  collection: Collection,
): Promise<Omit<Problem, 'model' | 'problem'> | undefined> {
  let count = 0
  const examples: string[] = []
  for (const values of set.suspects()) {
    const filter = all(
      set.fields.map((field, at): Filter => ({ op: 'eq', field, value: values[at] as Scalar })),
    )
    const same = await collection.count(filter)
    if (same < 2) continue
    count += same
    const limit = EXAMPLES - examples.length
    if (limit > 0) examples.push(...(await idsOf(collection, filter, limit)))
  }
  return count > 0 ? { field: set.fields.join(', '), count, examples } : undefined
}

async function idsOf(collection: Collection, filter: Filter, limit: number): Promise<string[]> {
  const records: Fields[] = await collection.find({
    filter,
    sort: [{ field: '_id', descending: false }],
    limit,
    select: { include: ['_id'] },
  })
  return records.map(({ _id }) => String(_id))
}

/** How many values are kept to be looked at again; where there are more duplicates, the first tell enough. */
const MAX_SUSPECTS = 10_000

/** The values of one unique set of fields. A hash of each is kept, 8 bytes, so that millions fit in memory. */
class Duplicates {
  readonly fields: readonly string[]
  readonly #hashes: Float64Array
  readonly #suspects = new Map<string, readonly unknown[]>()

  /** For about `records` records. */
  constructor(fields: readonly string[], records: number) {
    this.fields = fields
    // Half empty, so that a place is found soon; more records may have come since they were counted.
    this.#hashes = new Float64Array(2 ** Math.ceil(Math.log2((records + 1000) * 2)))
  }

  /** Records that lack one of the fields do not clash. */
  add(record: Fields): void {
    const values = this.fields.map((path) => valueIn(record, path))
    if (values.some((value) => value === undefined || value === null)) return
    const text = JSON.stringify(values)
    const isNew = this.#note(hashOf(text))
    if (!isNew && this.#suspects.size < MAX_SUSPECTS) this.#suspects.set(text, values)
  }

  /** Values that several records seem to have. */
  suspects(): Iterable<readonly unknown[]> {
    return this.#suspects.values()
  }

  /** Keeps a hash; whether it was not there before. */
  #note(hash: number): boolean {
    const { length } = this.#hashes
    for (let step = 0; step < length; step += 1) {
      const at = (hash + step) % length
      if (this.#hashes[at] === hash) return false
      if (this.#hashes[at] === 0) {
        this.#hashes[at] = hash
        return true
      }
    }
    // Full: whatever comes now is looked at.
    return false
  }
}

/** 48 bits, never 0. */
function hashOf(text: string): number {
  const bytes = digestOf(text)
  return (
    new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) * 2 ** 16 +
    (bytes[4] ?? 0) * 2 ** 8 +
    (bytes[5] ?? 0) +
    1
  )
}
