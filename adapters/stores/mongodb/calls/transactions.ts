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
import { hasCode, hasLabel, portError, WRITE_CONFLICT } from '../connection/errors.ts'
import type { Indexed } from '../search/grams.ts'
import { Guards } from './guards.ts'
import { takingTurns } from './turns.ts'
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
  indexedOf: (schema: CollectionSchema) => Indexed,
): (steps: readonly WriteStep[]) => Promise<WriteOutcome> {
  async function take(steps: readonly WriteStep[], session: ClientSession): Promise<WriteOutcome> {
    const results: StepResult[] = []
    await guards.take(steps, session)
    for (const [failed, step] of steps.entries()) {
      const { in: schema } = step
      const writes = new Writes(schema, database.collection(schema.name), () => indexedOf(schema))
      const result = await resultOf(step, writes, session).catch((error: unknown) => {
        throw isTransient(error) ? error : portError(error, schema)
      })
      if (!result) return { failed }
      results.push(result)
    }
    return { results }
  }

  const guards = new Guards(database)
  const inTurn = takingTurns(async (steps) => {
    await guards.prepare(steps)
    return retried(client, (session) => take(steps, session))
  })

  return async (steps) => {
    if (steps.length > 0) return inTurn(steps)
    await checkTransactions(database)
    return { results: [] }
  }
}

/** The outcome of `work` in a transaction, once it meets no other one. */
async function retried(
  client: MongoClient,
  work: (session: ClientSession) => Promise<WriteOutcome>,
): Promise<WriteOutcome> {
  const begun = performance.now()
  for (let tries = 0; ; tries += 1) {
    const session = client.startSession()
    try {
      return await inTransaction(session, () => work(session))
    } catch (error) {
      const patience = hasCode(error, WRITE_CONFLICT) ? PATIENCE_MS : OUTAGE_MS
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
async function inTransaction(
  session: ClientSession,
  work: () => Promise<WriteOutcome>,
): Promise<WriteOutcome> {
  session.startTransaction({
    readConcern: { level: 'snapshot' },
    writeConcern: { w: 'majority', journal: true },
    readPreference: 'primary',
  })
  try {
    const outcome = await work()
    if ('results' in outcome) await commit(session)
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
