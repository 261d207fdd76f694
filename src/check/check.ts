/**
 * Stored records against the models of an app. Nothing is written.
 *
 * The folder hangs on the side of the tree: it knows models and the store port, and nothing knows it.
 *
 * @module
 */

import type { Model } from '../model/model.ts'
import { all, type Filter, type Scalar } from '../ports/filter.ts'
import type { Collection, Fields, Store } from '../ports/store.ts'
import { batches, readable } from '../ports/walk.ts'
import { Duplicates } from './duplicates.ts'
import { type Finding, type RecordProblem, recordChecker } from './record.ts'

/** A kind of problem that records of one model have in one field. */
export interface Problem {
  readonly model: string
  readonly problem: RecordProblem | 'duplicate'
  /** Its path; of a duplicate the fields that are the same, with commas between them. */
  readonly field: string
  /** How many records have it. */
  readonly count: number
  /** The ids of the first of them, three at most. */
  readonly examples: readonly string[]
}

/** What a check has found. */
export interface CheckResult {
  readonly ok: boolean
  readonly problems: readonly Problem[]
}

/** Hears how far a check is. */
export interface CheckProgress {
  /** A model is begun; there are about `total` records of it. */
  start?(model: string, total: number): void
  /** So many of them have been read. */
  advance?(model: string, done: number): void
}

const EXAMPLES = 3

/** Reads every stored record of `models` and tells what does not fit. Records that are written meanwhile may be missed. */
export async function checkRecords(
  store: Store,
  models: Iterable<Model>,
  progress: CheckProgress = {},
): Promise<CheckResult> {
  const problems: Problem[] = []
  for (const model of models) {
    const collection = await readable(store.collection(schemaOf(model)))
    problems.push(...(await problemsOf(model, collection, progress)))
  }
  return { ok: problems.length === 0, problems }
}

async function problemsOf(
  model: Model,
  collection: Collection,
  progress: CheckProgress,
): Promise<Problem[]> {
  const total = await collection.count({ op: 'and', filters: [] })
  progress.start?.(model.name, total)
  const check = recordChecker(model)
  const tally = new Tally()
  const sets = model.unique.map((fields) => new Duplicates(fields, total))
  let done = 0
  for await (const batch of batches(collection)) {
    for (const record of batch) {
      for (const finding of await check(record)) tally.add(finding, record)
      for (const set of sets) set.add(record)
    }
    done += batch.length
    progress.advance?.(model.name, done)
  }
  const problems = tally.problems(model.name)
  for (const set of sets) {
    const duplicate = await duplicatesOf(set, collection)
    if (duplicate) problems.push({ model: model.name, problem: 'duplicate', ...duplicate })
  }
  return problems
}

/** How many records of a model have each problem. */
class Tally {
  readonly #found = new Map<string, Finding & { count: number; examples: string[] }>()

  add(finding: Finding, { _id }: Fields): void {
    const key = `${finding.problem} ${finding.field}`
    const seen = this.#found.get(key) ?? { ...finding, count: 0, examples: [] }
    seen.count += 1
    if (seen.examples.length < EXAMPLES) seen.examples.push(String(_id))
    this.#found.set(key, seen)
  }

  problems(model: string): Problem[] {
    return [...this.#found.values()].map((seen) => ({ model, ...seen }))
  }
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

/** Without search fields and indexes: a check makes none. */
function schemaOf({ collection: name, idType, adopted, shape, declared, absence }: Model) {
  return {
    name,
    idType,
    ...(adopted && { adopted }),
    shape,
    declared,
    absence,
    unique: [],
    indexes: [],
    searchable: [],
  }
}
