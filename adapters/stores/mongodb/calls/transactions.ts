/** Several writes as one: a transaction, tried again while it meets others. */

import { setTimeout as pause } from 'node:timers/promises'
import type { ClientSession, Db } from 'mongodb'
import type {
  CollectionSchema,
  StepResult,
  WriteOutcome,
  WriteStep,
} from '../../../../src/ports/store/store.ts'
import { isNotable, type Noted, notedBy, takeNoted } from '../../changes/noting.ts'
import type { Log, LogTicket } from '../changes/log.ts'
import {
  DUPLICATE_KEY,
  EXISTS,
  hasCode,
  hasLabel,
  INTERRUPTED,
  portError,
  throwMet,
  unless,
  WRITE_CONFLICT,
} from '../connection/errors.ts'
import type { Stored } from '../documents/documents.ts'
import { goingTogether, type Outcome, takingTurns } from './turns.ts'
import { writesOf } from './writes.ts'

/** How long a transaction that meets others is tried again, in milliseconds. */
const PATIENCE_MS = 10_000
/** The same for one that loses the database. */
const OUTAGE_MS = 2000
/** How often writes that share a transaction are tried before each is on its own: a record may be held for long. */
const TRIES_TOGETHER = 3
/** After how many tries a record may be held by a process that has died. */
const TRIES_UNTIL_LEFT = 12
const MOST_SHORT = 8
/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE_MS = 50

/** The collection of guards: documents that transactions change, so that two with the same guard conflict. */
const GUARDS = 'fieldgate_guards'
/** How many documents stand for all guards; two guards that share one only wait for each other. */
const PLACES = 4096

export function stepWriter(
  database: Db,
  log: Log,
  storedOf: (schema: CollectionSchema) => Stored,
): (steps: readonly WriteStep[]) => Promise<WriteOutcome> {
  async function takeAll(
    steps: readonly WriteStep[],
    session: ClientSession,
    ticket: LogTicket,
  ): Promise<Outcome> {
    const results: StepResult[] = []
    const noted: Noted[] = []
    // While a ticket is open, readers wait: what takes long takes it at its end.
    const isEarly = areQuick(steps)
    await takeGuards(database, guardsOf(steps), session)
    for (const [failed, step] of steps.entries()) {
      const { in: schema } = step
      const writes = writesOf(storedOf(schema), session)
      const taken = await takeNoted(step, writes).catch((error: unknown) => {
        throw isTransient(error) ? error : portError(error, schema)
      })
      if (!taken) return { failed }
      if (isEarly) ticket.take()
      results.push(taken.result)
      noted.push(...notedBy(taken, step, failed))
    }
    if (noted.length > 0) return { results, noted: await ticket.add(noted) }
    return steps.some(isNotable) ? { results, noted: [] } : { results }
  }

  function writeOnce(steps: readonly WriteStep[], tries?: number): Promise<Outcome> {
    return retried(
      database,
      async (session, tried) => {
        if (tried % TRIES_UNTIL_LEFT === TRIES_UNTIL_LEFT - 1) await log.endLeft()
        const ticket = log.ticket(session)
        return inTransaction(session, ticket, () => takeAll(steps, session, ticket))
      },
      tries,
    )
  }

  let hasGuards = false
  const inTurn = takingTurns(async (steps) => {
    // A transaction can't create their collection.
    if (!hasGuards && guardsOf(steps).length > 0) {
      await database.createCollection(GUARDS).catch(unless(EXISTS))
      hasGuards = true
    }
    return writeOnce(steps)
  })
  const together = goingTogether((steps) => writeOnce(steps, TRIES_TOGETHER), inTurn)

  return async (steps) => {
    const isShort = steps.length <= MOST_SHORT && areQuick(steps)
    if (steps.length > 0) return isShort ? together(steps) : inTurn(steps)
    await checkTransactions(database)
    return { results: [] }
  }
}

/** Whether steps that the log notes neither write many records nor wait for others. */
function areQuick(steps: readonly WriteStep[]): boolean {
  const isLong = (step: WriteStep) =>
    'updateMany' in step || 'deleteMany' in step || 'guard' in step
  return steps.some(isNotable) && !steps.some(isLong)
}

/** The documents of the guards of these steps, in one order. */
function guardsOf(steps: readonly WriteStep[]): readonly number[] {
  const guards = steps.flatMap((step) => ('guard' in step ? step.guard : []))
  const places = guards.map((guard) => {
    let hash = 0
    for (const char of guard) hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) | 0
    return Math.abs(hash % PLACES)
  })
  return [...new Set(places)].sort((a, b) => a - b)
}

async function takeGuards(
  database: Db,
  guards: readonly number[],
  session: ClientSession,
): Promise<void> {
  const native = database.collection<{ _id: number }>(GUARDS)
  for (const _id of guards) {
    const options = { session, upsert: true }
    await native.updateOne({ _id }, { $inc: { writes: 1 } }, options).catch(throwMet)
  }
}

/** The outcome of `work` in a transaction, once it meets no other one, or after so many tries. */
async function retried(
  { client }: Db,
  work: (session: ClientSession, tried: number) => Promise<Outcome>,
  most = Number.POSITIVE_INFINITY,
): Promise<Outcome> {
  const begun = performance.now()
  for (let tries = 0; ; tries += 1) {
    const session = client.startSession()
    try {
      return await work(session, tries)
    } catch (error) {
      const isLast = tries + 1 >= most || performance.now() > begun + patienceFor(error)
      if (!isTransient(error) || isLast) throw error
    } finally {
      await session.endSession()
    }
    await pause(Math.random() * Math.min(2 ** tries, MAX_PAUSE_MS))
  }
}

function patienceFor(error: unknown): number {
  const isMeeting = hasCode(error, WRITE_CONFLICT) || hasCode(error, DUPLICATE_KEY)
  return isMeeting ? PATIENCE_MS : OUTAGE_MS
}

/** Throws a `TypeError` if the database is a single server, which has no transactions. */
async function checkTransactions(database: Db): Promise<void> {
  const { setName, msg } = await database.command({ hello: 1 })
  if (setName || msg === 'isdbgrid') return
  throw new TypeError(
    'MongoDB has transactions only in a replica set, and this server is not in one. Start mongod with --replSet, and run rs.initiate() once: one member is enough.',
  )
}

/** Runs `work` in a transaction and commits it, unless a step failed; its ticket is closed when that is over. */
async function inTransaction(
  session: ClientSession,
  ticket: LogTicket,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  session.startTransaction({
    readConcern: { level: 'snapshot' },
    writeConcern: { w: 'majority', journal: true },
    readPreference: 'primary',
  })
  let isOver = true
  try {
    const outcome = await work()
    if ('failed' in outcome) return outcome
    // If the way to the database is lost now, nobody knows whether it has been committed.
    isOver = !outcome.noted?.length
    await commit(session)
    isOver = true
    return outcome
  } catch (error) {
    isOver ||= isTransient(error)
    throw error
  } finally {
    if (isOver) ticket.close()
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
      const isUnknown =
        hasLabel(error, 'UnknownTransactionCommitResult') || hasCode(error, INTERRUPTED)
      if (!isUnknown || performance.now() > until) throw error
    }
  }
}

function isTransient(error: unknown): boolean {
  return hasLabel(error, 'TransientTransactionError') || hasCode(error, INTERRUPTED)
}
