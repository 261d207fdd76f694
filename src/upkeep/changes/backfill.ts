/**
 * Stores what reads only show: values under the current names, old values converted, defaults filled in.
 *
 * It may run while the app serves. Each record is written in one conditional step, so that a write of the app in between
 * is never lost; and what is done is done, so an interrupted run continues where it stopped, and then looks at all again.
 */

import { collectionSchema } from '../../model/collection-schema.ts'
import type { Model } from '../../model/model.ts'
import { type Upgrade, upgraded, upgradeOf } from '../../model/versions/upgrade.ts'
import { batches, firstIn, readable } from '../../ports/evaluation/walk.ts'
import { settledAll } from '../../ports/promises/settled-all.ts'
import { everything, type Filter, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Collection, CollectionSchema, LeftOver, Store } from '../../ports/store/store.ts'
import { DuplicateKey, RefusedWrite } from '../../ports/store/store-errors.ts'
import { type Problem, recordChecker } from '../check/record.ts'
import { unmatchedIn } from '../check/unmatched.ts'
import { type Progress, type Some, Tally } from '../tally.ts'
import type { ModelHistory } from './model-history.ts'

/** What a backfill has done to the records of one model. */
export interface Backfilled {
  readonly model: string
  /** How many records it has looked at, an interrupted run before it included. */
  readonly records: number
  /** How many of them it has changed. Of an interrupted run, the last thousand may be missing. */
  readonly changed: number
}

export interface BackfillResult {
  /** Whether every record fits its model now. */
  readonly ok: boolean
  readonly models: readonly Backfilled[]
  /** What could not be made to fit. */
  readonly problems: readonly Problem[]
  /** What only earlier versions of the app needed, which the database has no more. */
  readonly dropped: readonly LeftOver[]
}

export interface BackfillTarget {
  readonly models: Iterable<Model>
  /** The records of a model as they are stored. Writes to it must reach the app's cache. */
  stored(model: Model): Collection
  readonly history: ModelHistory
  readonly database: Store
  schemas(): readonly CollectionSchema[]
}

/** Writes at a time: enough to share transactions, few enough to leave room for the app's own. */
const AT_ONCE = 100

/** Backfills every model. Earlier versions of the app must not run any more. */
export async function backfillRecords(
  { models, stored, history, database, schemas }: BackfillTarget,
  progress: Progress = {},
): Promise<BackfillResult> {
  const done: Backfilled[] = []
  const problems: Problem[] = []
  for (const model of models) {
    const collection = await readable(stored(model))
    const { problems: misfits, ...counts } = await backfillModel(
      model,
      collection,
      history,
      progress,
    )
    done.push({ model: model.name, ...counts })
    const of = { total: counts.records, progress }
    const unmatched = await unmatchedIn(database, model, collectionSchema(model), of)
    const left = [...misfits, ...unmatched]
    problems.push(...left)
    if (left.length === 0) await history.accept(model)
  }
  const dropped = (await database.dropLeftOvers?.(schemas())) ?? []
  return { ok: problems.length === 0, models: done, problems, dropped }
}

type Problems = Tally<Omit<Problem, keyof Some>>

/** How far a backfill is, as it is noted after each batch. */
interface State extends Omit<Backfilled, 'model'> {
  /** The id of the last record. */
  readonly after?: string
}

interface Done extends Omit<Backfilled, 'model'> {
  readonly problems: readonly Problem[]
}

async function backfillModel(
  model: Model,
  collection: Collection,
  history: ModelHistory,
  progress: Progress,
): Promise<Done> {
  progress.start?.(model.name, await collection.count(everything))
  const noted = await history.progress(model)
  const state: State = noted === undefined ? { records: 0, changed: 0 } : JSON.parse(noted)
  const first = await pass(model, collection, state, async (reached) => {
    await history.note(model, JSON.stringify(reached))
    progress.advance?.(model.name, reached.records)
  })
  // Since the interruption, an earlier version may have written what was done, or other rules hold.
  const again = { records: 0, changed: first.changed }
  const done = noted === undefined ? first : await pass(model, collection, again)
  await history.note(model, undefined)
  // One that was written in between has changed twice.
  return { ...done, changed: Math.min(done.changed, done.records) }
}

/** Backfills the records behind `state`, and says after each batch how far it is. */
async function pass(
  model: Model,
  collection: Collection,
  { after, records, changed }: State,
  reached?: (state: State) => Promise<void>,
): Promise<Done> {
  let counts = { records, changed }
  const tally: Problems = new Tally()
  const batch = batchWriter(model, collection, tally)
  for await (const some of batches(collection, model.idType, after)) {
    counts = {
      records: counts.records + some.length,
      changed: counts.changed + (await batch(some)),
    }
    await reached?.({ after: String(some.at(-1)?._id), ...counts })
  }
  return { ...counts, problems: tally.all() }
}

/** Returns what stores a batch as reads show it, adds what does not fit to `tally`, and resolves to how many it changed. */
function batchWriter(
  model: Model,
  collection: Collection,
  tally: Problems,
): (batch: readonly Fields[]) => Promise<number> {
  const check = recordChecker(model)
  const note = async ({ record, refused }: Written): Promise<void> => {
    const add = (problem: Problem['problem'], field: string) =>
      tally.add({ model: model.name, problem, field }, String(record._id))
    if (refused) add(refused.problem, refused.fields.join(', '))
    for (const { problem, field } of await check(record)) {
      // What is not declared stays as it is stored.
      if (problem !== 'undeclared') add(problem, field)
    }
  }
  return async (batch) => {
    let changed = 0
    for (let at = 0; at < batch.length; at += AT_ONCE) {
      const some = batch.slice(at, at + AT_ONCE)
      const writes = await settledAll(some.map((one) => write(model, collection, one)))
      const written = writes.filter((one) => one !== undefined)
      for (const one of written) await note(one)
      await collection.refresh?.(written.map(({ record }) => String(record._id)))
      changed += written.filter(({ isChanged }) => isChanged).length
    }
    return changed
  }
}

/** A record after a backfill, as reads show it. */
interface Written {
  readonly record: Fields
  readonly isChanged: boolean
  readonly refused?: Refused | undefined
}

/** Why the database takes no such record: another one has these values, or it has a rule that the model has not. */
interface Refused {
  readonly problem: 'duplicate' | 'invalid'
  readonly fields: readonly string[]
}

/** How often other writers may come in between. */
const MAX_TRIES = 50

/** Stores one record as reads show it; undefined if it has been deleted. */
async function write(
  model: Model,
  collection: Collection,
  read: Fields,
): Promise<Written | undefined> {
  let record: Fields | undefined = read
  for (let tries = 0; record && tries < MAX_TRIES; tries += 1) {
    const current = upgraded(model, record)
    const shown = { ...current, ...missingTimes(model, current) }
    const upgrade = upgradeOf(model, record, shown)
    if (!upgrade) return { record, isChanged: false }
    const one = withId(String(record._id))
    const { written, refused } = await updated(collection, one, upgrade)
    if (refused) return { record: shown, isChanged: false, refused }
    if (written) return { record: written, isChanged: true }
    record = await firstIn(collection, one)
  }
  if (record) throw new Error(`a record of '${model.name}' changed faster than it could be written`)
  return undefined
}

/**
 * The times that a record from before the model's timestamps lacks. Only the server writes them, so nobody else could add
 * them. An id that has its time tells when the record was made; otherwise that is now, or when it was changed since.
 */
function missingTimes({ timestamps, idType }: Model, record: Fields): Fields {
  const { createdAt, updatedAt } = timestamps
  const changed = updatedAt === undefined ? undefined : record[updatedAt]
  const seconds = Number.parseInt(String(record._id).slice(0, 8), 16)
  const made = idType === 'objectId' ? new Date(seconds * 1000) : (changed ?? new Date())
  const lacks = (name?: string) => name !== undefined && record[name] === undefined
  return {
    ...(lacks(createdAt) && { [createdAt as string]: made }),
    ...(lacks(updatedAt) && { [updatedAt as string]: record[createdAt ?? ''] ?? made }),
  }
}

/** The record after the write, null if it is not what it was, or why it was refused. */
async function updated(
  collection: Collection,
  filter: Filter,
  { change, expect, fields }: Upgrade,
): Promise<{ readonly written?: Fields | null; readonly refused?: Refused }> {
  try {
    return { written: await collection.update(filter, change, { expect }) }
  } catch (error) {
    if (error instanceof DuplicateKey) {
      return { refused: { problem: 'duplicate', fields: error.fields } }
    }
    if (!(error instanceof RefusedWrite)) throw error
    const named = error.fields.length > 0 ? error.fields : fields
    return { refused: { problem: 'invalid', fields: named } }
  }
}
