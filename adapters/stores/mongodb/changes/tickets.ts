/**
 * The order of the log of changes in MongoDB: transactions commit in another order than they write.
 *
 * A transaction that has begun takes a ticket: the next number, which is open until it has ended. Its entries have that
 * number, so those of one record are in the order of their commits: of two transactions that write it, the later one can
 * only commit if it has begun, and so taken its ticket, after the commit of the earlier one. Nothing comes any more below
 * the first open ticket. If a process dies with a ticket, another one takes the place of its first entry, so that its
 * transaction can't commit any more, ends that, so that the records that it has written are free, and closes the ticket.
 */

import type { Collection, Db, Document, ServerSessionId } from 'mongodb'
import { noLog } from '../../changes/entries.ts'
import { newEpoch } from '../../changes/position.ts'
import { sharing } from '../../gather.ts'
import { DUPLICATE_KEY, hasCode, unless } from '../connection/errors.ts'

const LOG = 'log'
/** Entries of one transaction: more than any write has. */
export const MOST: number = 2 ** 20
/** After how long an open ticket may have been left, in milliseconds. */
const LEFT_MS = 2000
/** After how long it may be one whose transaction has already added its entries. */
const DEAD_MS = 4000

/** A number, and when and in which session it was taken. */
export interface Ticket {
  readonly number: number
  readonly at: Date
  readonly session: ServerSessionId | null
}

type Taken = Ticket & { readonly epoch: string }

export interface State {
  readonly epoch: string
  /** The first entry that may still come. */
  readonly floor: number
  readonly now: Date
  /** The last entry that may have been dropped, by model. */
  readonly dropped: ReadonlyMap<string, Position>
  /** Up to which entry they have been removed, by model: a process may have died before it removed more. */
  readonly removed: ReadonlyMap<string, number>
}

/** An entry by its number and its time. */
export type Position = readonly [id: number, at: number]

/** Marks entries that stand for nothing, and no model. */
export const NOTHING = ''

export class Tickets {
  readonly #log: Collection<LogDocument>
  readonly #entries: Collection<{ _id: number }>
  readonly #database: Db
  #closing: Promise<void> | undefined

  constructor(database: Db) {
    this.#database = database
    this.#log = database.collection('fieldgate_change_log')
    this.#entries = database.collection(ENTRIES)
  }

  /** Makes the row of the log, once. */
  async prepare(): Promise<void> {
    const made = { epoch: newEpoch(), number: 0, open: [] }
    await this.#log
      .updateOne({ _id: LOG }, { $setOnInsert: made }, { upsert: true })
      .catch(unless(DUPLICATE_KEY))
  }

  /** Takes a ticket for a transaction that has begun. What it is for can only be committed if this is. */
  readonly take: (session: ServerSessionId | null) => Promise<Taken> = sharing((sessions) =>
    this.#take(sessions),
  )

  readonly close: (number: number) => Promise<void> = sharing(async (numbers: number[]) => {
    await this.#log.updateOne({ _id: LOG }, { $pull: { open: { number: { $in: numbers } } } })
    return numbers.map(() => undefined)
  })

  async #take(sessions: (ServerSessionId | null)[]): Promise<Taken[]> {
    const made = sessions.map((session, at) => {
      return { number: { $add: ['$number', at + 1] }, at: '$$NOW', session: { $literal: session } }
    })
    const set = {
      number: { $add: ['$number', made.length] },
      open: { $concatArrays: ['$open', made] },
    }
    const taken = await this.#log.findOneAndUpdate({ _id: LOG }, [{ $set: set }], {
      returnDocument: 'after',
      writeConcern: { w: 1 },
    })
    const own = taken?.open.slice(-made.length) ?? []
    const [first] = own
    if (!taken || !first) throw noLog()
    this.#closeLeft(taken.open, +first.at)
    return own.map((ticket) => ({ epoch: taken.epoch, ...ticket }))
  }

  /** The log as the session sees it. */
  async state(options: Document): Promise<State | undefined> {
    const projection = { epoch: 1, number: 1, open: 1, at: 1, from: 1, now: '$$NOW' }
    const found = await this.#log.find({}, { ...options, projection }).toArray()
    const log = found.find(({ _id }) => _id === LOG)
    if (!log) return undefined
    const now = log.now ?? new Date()
    this.#closeLeft(log.open, +now)
    const first = Math.min(log.number + 1, ...log.open.map(({ number }) => number))
    const dropped = new Map<string, Position>()
    const removed = new Map<string, number>()
    for (const { _id, number, at, from = 0 } of found) {
      if (_id === LOG) continue
      const model = _id.slice(DROPPED.length)
      dropped.set(model, [number, Number(at)])
      removed.set(model, from)
    }
    return { epoch: log.epoch, floor: first * MOST, now, dropped, removed }
  }

  /** Notes up to which entry those of a model may have been dropped, or have been removed (`from`). */
  async dropped(model: string, to: Partial<LogDocument>): Promise<void> {
    await this.#log.updateOne({ _id: DROPPED + model }, { $max: to }, { upsert: true })
  }

  /** Sees to it that nothing comes any more of tickets that have been left. */
  #closeLeft(open: readonly Ticket[], now: number): void {
    const left = open.filter(({ at }) => now - +at > LEFT_MS)
    if (left.length === 0) return
    const closed = () => {
      this.#closing = undefined
    }
    this.#closing ??= this.#end(left, now).then(closed, closed)
  }

  async #end(left: readonly Ticket[], now: number): Promise<void> {
    for (const { number, at, session } of left) {
      const isPlaced = await this.#placeNothing(number, at)
      if (isPlaced === false && now - +at < DEAD_MS) continue
      // Not every provider allows this; the server itself ends such a transaction after a minute.
      const kill = () => this.#database.command({ killSessions: [session] }).catch(() => {})
      if (isPlaced !== undefined && session) await kill()
      if (isPlaced !== false) await this.close(number)
    }
  }

  /** Takes the place of a ticket's first entry: true if that was free, false if it will be or not, undefined if it is there. */
  async #placeNothing(number: number, at: Date): Promise<boolean | undefined> {
    const nothing = { _id: number * MOST, at, model: NOTHING, record: NOTHING }
    try {
      await this.#entries.insertOne(nothing, { maxTimeMS: 200 } as object)
      return true
    } catch (error) {
      return hasCode(error, DUPLICATE_KEY) ? undefined : false
    }
  }
}

export const ENTRIES = 'fieldgate_changes'
const DROPPED = 'dropped '

interface LogDocument {
  readonly _id: string
  readonly epoch: string
  readonly number: number
  readonly open: readonly Ticket[]
  readonly at?: number
  readonly from?: number
  readonly now?: Date
}
