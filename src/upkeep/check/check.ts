import { digestOf } from '#hmac'
import { collectionSchema } from '../../model/collection-schema.ts'
import { type Model, valueIn } from '../../model/model.ts'
import { renamedCollection } from '../../model/versions/renamed-collection.ts'
import { upgraded, upgradeOf } from '../../model/versions/upgrade.ts'
import { batches, readable } from '../../ports/evaluation/walk.ts'
import { everything } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Collection, Store } from '../../ports/store/store.ts'
import { EXAMPLES, Ids, type Progress, type Some, Tally, told } from '../tally.ts'
import { overlapping } from './overlaps.ts'
import { type Problem, recordChecker } from './record.ts'
import { unmatchedIn } from './unmatched.ts'

export interface CheckResult {
  readonly ok: boolean
  readonly records: number
  readonly problems: readonly Problem[]
  /** What reads show otherwise than it is stored, until a backfill writes it. It is no problem. */
  readonly pending: readonly Pending[]
  /** What keeps the app from starting, besides: sentences of the store, with the command to run. */
  readonly misfits: readonly string[]
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
  const schemas = new Map([...models].map((model) => [model, collectionSchema(model)]))
  for (const [model, schema] of schemas) {
    const collection = await readable(store.collection(schema))
    const found = await checkModel(model, collection, progress)
    records += found.records
    problems.push(...found.problems)
    problems.push(...(await overlapping(model, renamedCollection(collection, model))))
    const of = { total: found.records, progress }
    problems.push(...(await unmatchedIn(store, model, schema, of)))
    pending.push(...found.pending)
  }
  const misfits = (await store.misfits?.([...schemas.values()])) ?? []
  return { ok: problems.length + misfits.length === 0, records, problems, pending, misfits }
}

async function checkModel(
  model: Model,
  collection: Collection,
  progress: Progress,
): Promise<Omit<CheckResult, 'ok' | 'misfits'>> {
  const total = await collection.count(everything)
  const check = recordChecker(model)
  const tally = new Tally<Omit<Problem, keyof Some>>()
  const sets = model.unique.map((fields) => new Duplicates(fields, total))
  const pending = new Map<string, number>()
  let done = 0
  const all = batches(collection, model.idType)
  for await (const batch of told(all, progress, model.name, total)) {
    for (const stored of batch) {
      const record = upgraded(model, stored)
      for (const { problem, field } of await check(record)) {
        tally.add({ model: model.name, problem, field }, String(record._id))
      }
      for (const set of sets) set.add(record)
      count(pending, upgradeOf(model, stored, record)?.fields)
    }
    done += batch.length
  }
  const problems = tally.all()
  await recount(model, collection, sets, progress)
  for (const set of sets) {
    const found = set.found()
    if (found) problems.push({ model: model.name, problem: 'duplicate', ...found })
  }
  const counts = [...pending].map(([field, count]) => ({ model: model.name, field, count }))
  return { records: done, problems, pending: counts }
}

function count(counts: Map<string, number>, names: readonly string[] = []): void {
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
}

/**
 * Looks again at the values that several records seem to have: two may have one hash. The store could not tell, which finds
 * values as they are stored, and reads all records for each.
 */
async function recount(
  model: Model,
  collection: Collection,
  sets: readonly Duplicates[],
  progress: Progress,
): Promise<void> {
  const suspicious = sets.filter(({ hasSuspects }) => hasSuspects)
  if (suspicious.length === 0) return
  const total = await collection.count(everything)
  const all = batches(collection, model.idType)
  for await (const batch of told(all, progress, `${model.name}, duplicates`, total)) {
    for (const stored of batch) {
      const record = upgraded(model, stored)
      for (const set of suspicious) set.recount(record)
    }
  }
}

/** How many values are kept to be looked at again; where there are more duplicates, the first tell enough. */
const MAX_SUSPECTS = 10_000

/** The values of one unique set of fields. A hash of each is kept, 8 bytes, so that millions fit in memory. */
class Duplicates {
  readonly fields: readonly string[]
  readonly #hashes: Float64Array
  readonly #suspects = new Map<string, Ids>()

  /** For about `records` records. */
  constructor(fields: readonly string[], records: number) {
    this.fields = fields
    // Half empty, so that a place is found soon; more records may have come since they were counted.
    this.#hashes = new Float64Array(2 ** Math.ceil(Math.log2((records + 1000) * 2)))
  }

  add(record: Fields): void {
    const text = this.#textOf(record)
    if (text === undefined || this.#note(hashOf(text))) return
    if (this.#suspects.size < MAX_SUSPECTS) this.#suspects.set(text, new Ids())
  }

  get hasSuspects(): boolean {
    return this.#suspects.size > 0
  }

  /** Counts a record that seems to have the values of another. */
  recount(record: Fields): void {
    this.#suspects.get(this.#textOf(record) ?? '')?.add(String(record._id))
  }

  /** The records that have the values of others, of those that were counted. */
  found(): Omit<Problem, 'model' | 'problem'> | undefined {
    const same = [...this.#suspects.values()].filter(({ count }) => count > 1)
    const count = same.reduce((sum, one) => sum + one.count, 0)
    const examples = same.flatMap((one) => one.examples).slice(0, EXAMPLES)
    return count > 0 ? { field: this.fields.join(', '), count, examples } : undefined
  }

  /** The values as a text; undefined if the record lacks one: then it clashes with none. */
  #textOf(record: Fields): string | undefined {
    const values = this.fields.map((path) => valueIn(record, path))
    return values.some((value) => value === undefined || value === null)
      ? undefined
      : JSON.stringify(values)
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
  const { buffer, byteOffset } = digestOf(text)
  const view = new DataView(buffer, byteOffset)
  return view.getUint32(0) * 2 ** 16 + view.getUint16(4) + 1
}
