/**
 * Several writes as one: a transaction, tried again while it meets others.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { ClientSession, Db, MongoClient } from 'mongodb'
import type {
  CollectionSchema,
  Fields,
  StepResult,
  WriteOutcome,
  WriteStep,
} from '../../../../src/ports/store.ts'
import { isNotable, type Noted, type NotedStep, notedBy, takeNoted } from '../../changes/noting.ts'
import type { Added, Log } from '../changes/log.ts'
import {
  DUPLICATE_KEY,
  hasCode,
  hasLabel,
  portError,
  WRITE_CONFLICT,
} from '../connection/errors.ts'
import type { Indexed } from '../search/grams.ts'
import { Guards } from './guards.ts'
import { type StepChange, takingTurns } from './turns.ts'
import { Writes } from './writes.ts'

/** How long a transaction that meets others is tried again, in milliseconds. */
const PATIENCE_MS = 10_000
/** The same for one that loses the database. */
const OUTAGE_MS = 2000
/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE_MS = 50

/** A store's `write`, in transactions of `client` on `database`. */
export function stepWriter(
  client: MongoClient,
  database: Db,
  log: Log,
  indexedOf: (schema: CollectionSchema) => Indexed,
): (steps: readonly WriteStep[]) => Promise<WriteOutcome> {
  async function take(steps: readonly WriteStep[], session: ClientSession): Promise<Tried> {
    const results: StepResult[] = []
    const noted: Noted[] = []
    await guards.take(steps, session)
    for (const [failed, step] of steps.entries()) {
      const { in: schema } = step
      const writes = new Writes(schema, database.collection(schema.name), () => indexedOf(schema))
      const taken = await taking(step, writes, session).catch((error: unknown) => {
        throw isTransient(error) ? error : portError(error, schema)
      })
      if (!taken) return { failed }
      results.push(taken.result)
      noted.push(...notedBy(taken, step, failed))
    }
    if (noted.length > 0) return { results, noted, added: await log.add(noted, session) }
    return steps.some(isNotable) ? { results, noted } : { results }
  }

  const guards = new Guards(database)
  const inTurn = takingTurns(async (steps) => {
    await guards.prepare(steps)
    const tried = await retried(client, (session) => take(steps, session))
    if ('failed' in tried) return tried
    const { results } = tried
    return tried.noted ? { results, noted: changesOf(tried) } : { results }
  })

  return async (steps) => {
    if (steps.length > 0) return inTurn(steps)
    await checkTransactions(database)
    return { results: [] }
  }
}

/** The outcome of a transaction, with what it has added to the log of changes. */
type Tried =
  | {
      readonly results: readonly StepResult[]
      readonly noted?: readonly Noted[]
      readonly added?: Added
    }
  | { readonly failed: number }

/** What was added to the log, each with the index of its step: writes that shared a transaction are told apart by it. */
function changesOf({ noted = [], added }: Exclude<Tried, { failed: number }>): StepChange[] {
  return (added?.changes ?? []).map((one, at) => ({ ...one, step: noted[at]?.step ?? 0 }))
}

/** What a step does, with what is to be noted of it; undefined if it fails. */
async function taking(
  step: WriteStep,
  writes: Writes,
  session: ClientSession,
): Promise<NotedStep | undefined> {
  if (!isNotable(step)) {
    const result = await resultOf(step, writes, session)
    return result && { result, records: [] }
  }
  return takeNoted(step, {
    insert: (record) => writes.insert(record, session),
    update: (filter, change) => writes.update(filter, change, undefined, session),
    updateMany: (filter, change) => writes.updateMany(filter, change, session),
    delete: (filter, options) => writes.delete(filter, options, session),
    deleteMany: (filter) => writes.deleteMany(filter, session),
    hold: (filter, options) => writes.hold(filter, options, session),
    holdAll: (filter) => writes.holdAll(filter, session),
  })
}

/** The outcome of `work` in a transaction, once it meets no other one. */
async function retried(
  client: MongoClient,
  work: (session: ClientSession) => Promise<Tried>,
): Promise<Tried> {
  const begun = performance.now()
  for (let tries = 0; ; tries += 1) {
    const session = client.startSession()
    try {
      return await inTransaction(session, () => work(session))
    } catch (error) {
      const isMeeting = hasCode(error, WRITE_CONFLICT) || hasCode(error, DUPLICATE_KEY)
      const patience = isMeeting ? PATIENCE_MS : OUTAGE_MS
      if (!isTransient(error) || performance.now() > begun + patience) throw error
    } finally {
      await session.endSession()
    }
    await pause(Math.random() * Math.min(2 ** tries, MAX_PAUSE_MS))
  }
}

/** Throws a `TypeError` if the database is a single server, which has no transactions. */
async function checkTransactions(database: Db): Promise<void> {
  const { setName, msg } = await database.command({ hello: 1 })
  if (setName || msg === 'isdbgrid') return
  throw new TypeError(
    'MongoDB has transactions only in a replica set, and this server is not in one. Start mongod with --replSet, and run rs.initiate() once: one member is enough.',
  )
}

/** Runs `work` in a transaction and commits it, unless a step failed. */
async function inTransaction(session: ClientSession, work: () => Promise<Tried>): Promise<Tried> {
  session.startTransaction({
    readConcern: { level: 'snapshot' },
    writeConcern: { w: 'majority', journal: true },
    readPreference: 'primary',
  })
  try {
    const outcome = await work()
    if ('failed' in outcome) return outcome
    try {
      await commit(session)
      void outcome.added?.close()
    } catch (error) {
      // It is over, unless the way to the database was lost: then nobody knows whether it has been committed.
      if (isTransient(error)) void outcome.added?.close()
      throw error
    }
    return outcome
  } finally {
    // After a network error too: the server would keep its locks for a minute.
    if (session.inTransaction()) await session.abortTransaction().catch(() => {})
  }
}

/** Asks again if the response was lost: repeating a commit does no harm. */
async function commit(session: ClientSession): Promise<void> {
  const until = performance.now() + OUTAGE_MS
  for (;;) {
    try {
      await session.commitTransaction()
      return
    } catch (error) {
      const isUnknown = hasLabel(error, 'UnknownTransactionCommitResult')
      if (!isUnknown || performance.now() > until) throw error
    }
  }
}

function isTransient(error: unknown): boolean {
  return hasLabel(error, 'TransientTransactionError')
}

/** What a step did; undefined if it failed. */
async function resultOf(
  step: WriteStep,
  writes: Writes,
  session: ClientSession,
): Promise<StepResult | undefined> {
  if ('guard' in step) return { count: 0, records: [] }
  if ('insert' in step) {
    await writes.insert(step.insert, session)
    return { count: 1, records: [] }
  }
  if ('update' in step)
    return one(await writes.update(step.update, step.change, step.options, session))
  if ('delete' in step) return one(await writes.delete(step.delete, step.options, session))
  if ('updateMany' in step) {
    return { count: await writes.updateMany(step.updateMany, step.change, session), records: [] }
  }
  if ('deleteMany' in step) {
    const records = await writes.deleteMany(step.deleteMany, session)
    return { count: records.length, records }
  }
  const isThere = step.exists
    ? await writes.lock(step.require, step.options, session)
    : await writes.isThere(step.require, session)
  return isThere === step.exists ? { count: 0, records: [] } : undefined
}

function one(record: Fields | null): StepResult | undefined {
  return record ? { count: 1, records: [record] } : undefined
}
