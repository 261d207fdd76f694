/**
 * The order of the log of changes in MongoDB: transactions commit in another order than they write.
 *
 * A transaction that has written its records, and so keeps others from writing them, takes a ticket: the next number, which
 * is open until its transaction has ended. Its entries have that number, so those of one record are in the order of their
 * commits. Nothing comes any more below the first open ticket. If a process dies with a ticket, another one takes the place
 * of its first entry, so that its transaction can't commit any more, and closes it.
 *
 * @module
 */

import type { Collection, Db, Document } from 'mongodb'
import { newEpoch } from '../../changes/position.ts'
import { DUPLICATE_KEY, hasCode } from '../connection/errors.ts'

/** The row of the log. */
const LOG = 'log'
/** Entries of one transaction: more than any write has. */
export const MOST: number = 2 ** 20
/** After how long an open ticket may have been left, in milliseconds. */
const LEFT_MS = 1500

/** A number, and when it was taken. */
export interface Ticket {
  readonly number: number
  readonly at: Date
}

type Taken = Ticket & { readonly epoch: string }

/** The log at one moment. */
export interface State {
  readonly epoch: string
  /** The first entry that may still come. */
  readonly floor: number
  readonly now: Date
  /** The last entry that may have been dropped, by model. */
  readonly dropped: ReadonlyMap<string, Position>
}

/** An entry by its number and its time. */
export type Position = readonly [id: number, at: number]

/** Marks entries that stand for nothing, and no model. */
export const NOTHING = ''

/** The tickets of one database. */
export class Tickets {
  readonly #log: Collection<LogDocument>
  readonly #entries: Collection<{ _id: number }>

  constructor(database: Db) {
    this.#log = database.collection('fieldgate_change_log')
    this.#entries = database.collection(ENTRIES)
  }

  /** Makes the row of the log, once. */
  async prepare(): Promise<void> {
    const made = { epoch: newEpoch(), number: 0, open: [] }
    await this.#log
      .updateOne({ _id: LOG }, { $setOnInsert: made }, { upsert: true })
      .catch((error: unknown) => {
        if (!hasCode(error, DUPLICATE_KEY)) throw error
      })
  }

  /** Takes a ticket. What it is for can only be committed if this is. */
  readonly take: (_: null) => Promise<Taken> = sharing((asked: null[]) => this.#take(asked.length))

  /** Closes a ticket: its transaction has ended. */
  readonly close: (number: number) => Promise<void> = sharing(async (numbers: number[]) => {
    await this.#log.updateOne({ _id: LOG }, { $pull: { open: { number: { $in: numbers } } } })
    return numbers.map(() => undefined)
  })

  async #take(count: number): Promise<Taken[]> {
    const numbers = { $range: [1, count + 1] }
    const made = { number: { $add: ['$number', '$$this'] }, at: '$$NOW' }
    const open = { $concatArrays: ['$open', { $map: { input: numbers, in: made } }] }
    const taken = await this.#log.findOneAndUpdate(
      { _id: LOG },
      [{ $set: { number: { $add: ['$number', count] }, open } }],
      { returnDocument: 'after', writeConcern: { w: 1 } },
    )
    if (!taken) throw new TypeError('the log of changes is not there. Was the store prepared?')
    return taken.open.slice(-count).map((ticket) => ({ epoch: taken.epoch, ...ticket }))
  }

  /** The log as the session sees it. */
  async state(options: Document): Promise<State | undefined> {
    const projection = { epoch: 1, number: 1, open: 1, at: 1, now: '$$NOW' }
    const found = await this.#log.find({}, { ...options, projection }).toArray()
    const log = found.find(({ _id }) => _id === LOG)
    if (!log) return undefined
    const now = log.now ?? new Date()
    const left = log.open.filter(({ at }) => +now - +at > LEFT_MS)
    if (left.length > 0) await this.#closeLeft(left)
    const first = Math.min(log.number + 1, ...log.open.map(({ number }) => number))
    const dropped = found.flatMap(({ _id, number, at }) =>
      _id === LOG ? [] : [[_id.slice(DROPPED.length), [number, Number(at)]] as const],
    )
    return { epoch: log.epoch, floor: first * MOST, now, dropped: new Map(dropped) }
  }

  /** Notes up to which entry those of a model may have been dropped. */
  async drop(model: string, [number, at]: Position): Promise<void> {
    const set = { $max: { number, at } }
    await this.#log.updateOne({ _id: DROPPED + model }, set, { upsert: true })
  }

  /** Makes sure that nothing comes of these tickets any more. */
  async #closeLeft(tickets: readonly Ticket[]): Promise<void> {
    for (const { number, at } of tickets) {
      const nothing = { _id: number * MOST, at, model: NOTHING, record: NOTHING }
      try {
        await this.#entries.insertOne(nothing, { maxTimeMS: 200 } as object)
      } catch (error) {
        // Its transaction is still there, and the server ends it after a while; otherwise it has been committed.
        if (!hasCode(error, DUPLICATE_KEY)) continue
      }
      await this.close(number)
    }
  }
}

/** `work`, called once at a time: calls that come while it is under way share the next one. */
function sharing<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: (PromiseWithResolvers<Result> & { readonly item: Item })[] = []
  let isBusy = false
  const serve = async () => {
    isBusy = true
    while (waiting.length > 0) {
      const calls = waiting
      waiting = []
      try {
        const results = await work(calls.map(({ item }) => item))
        for (const [at, { resolve }] of calls.entries()) resolve(results[at] as Result)
      } catch (error) {
        for (const { reject } of calls) reject(error)
      }
    }
    isBusy = false
  }
  return (item) => {
    const call = { item, ...Promise.withResolvers<Result>() }
    waiting.push(call)
    if (!isBusy) void serve()
    return call.promise
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
  readonly now?: Date
}
