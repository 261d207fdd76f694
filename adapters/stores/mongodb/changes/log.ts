/** The log of changes in MongoDB. */

import type { ClientSession, Collection } from 'mongodb'
import type {
  ChangeLog,
  LoggedChange,
  LoggedModel,
  NotedChange,
} from '../../../../src/ports/store/changes.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import {
  LoggedModels,
  MAX_DROPPED,
  nextPosition,
  noLog,
  timesToDrop,
} from '../../changes/entries.ts'
import type { Noted } from '../../changes/noting.ts'
import { positionIn, positionText } from '../../changes/position.ts'
import { Wakes } from '../../changes/wakes.ts'
import type { Connection, Run } from '../connection/connection.ts'
import { EXISTS, throwMet, unless } from '../connection/errors.ts'
import { ENTRIES, MOST, NOTHING, type Position, type State, Tickets } from './tickets.ts'

interface Entry {
  readonly _id: number
  readonly at: Date
  readonly model: string
  readonly record: string
  readonly actor?: string | null
  readonly before?: string | null
  readonly after?: string | null
}

export class Log implements ChangeLog {
  readonly #connection: Connection
  readonly #run: Run
  readonly #entries: Collection<Entry>
  readonly #tickets: Tickets
  readonly #models = new LoggedModels()
  readonly #wakes = new Wakes(() => this.position())
  readonly wake: ChangeLog['wake'] = this.#wakes.wake

  constructor(connection: Connection) {
    this.#connection = connection
    this.#run = connection.on()
    this.#entries = connection.database.collection<Entry>(ENTRIES)
    this.#tickets = new Tickets(connection.database)
  }

  position(): Promise<string> {
    return this.#seen(async (state, session) => idOf(state.epoch, await this.#end(state, session)))
  }

  readonly read: ChangeLog['read'] = async (
    after,
    { limit, models = this.#models.names, lossy },
  ) => {
    const from = after === undefined ? undefined : positionIn(after, 2)
    if (after !== undefined && !from) return { gone: true }
    const [first = 0, at = 0] = from?.numbers ?? []
    return this.#seen(async (state, session) => {
      const isKnown = async () =>
        from?.epoch === state.epoch && (await this.#isKnown([first, at], state, session))
      const isDropped =
        !lossy && models.some((model) => (state.dropped.get(model)?.[0] ?? 0) > first)
      if (from && (isDropped || !(await isKnown()))) return { gone: true }
      const query = { _id: { $gt: first, $lt: state.floor }, model: { $in: [...models] } }
      const found = await this.#entries.find(query, { session, sort: { _id: 1 }, limit }).toArray()
      const ids = found.map(({ _id, at }) => idOf(state.epoch, [_id, +at]))
      const end = idOf(state.epoch, await this.#end(state, session))
      const changes = this.#changes(state.epoch, found)
      return { changes, position: nextPosition(ids, end, limit, after) }
    })
  }

  readonly history: ChangeLog['history'] = async (model, record, { limit, upTo }) => {
    const last = upTo === undefined ? undefined : positionIn(upTo, 2)
    if (upTo !== undefined && !last) return []
    return this.#seen(async (state, session) => {
      if (last && last.epoch !== state.epoch) return []
      const query = { model, record, ...(last && { _id: { $lte: last.numbers[0] ?? 0 } }) }
      const options = { session, sort: { _id: -1 }, limit } as const
      return this.#changes(state.epoch, await this.#entries.find(query, options).toArray())
    })
  }

  /** A ticket for a transaction in `session`, under which its entries are added. */
  ticket(session: ClientSession): LogTicket {
    let taken: ReturnType<Tickets['take']> | undefined
    let added = 0
    const take = () => {
      taken ??= this.#tickets.take(session.id ?? null)
      // Whoever adds entries is told of it.
      taken.catch(() => {})
      return taken
    }
    return {
      take,
      close: () => void taken?.then(({ number }) => this.#close(number, added)).catch(() => {}),
      add: async (noted) => {
        added = noted.length
        return this.#add(noted, session, await take())
      },
    }
  }

  async #add(
    noted: readonly Noted[],
    session: ClientSession,
    { epoch, number, at }: Awaited<ReturnType<Tickets['take']>>,
  ): Promise<StepChange[]> {
    const entries = noted.map(({ model, record, by, before, after }, index): Entry => {
      return { _id: number * MOST + index, at, model, record, actor: by, before, after }
    })
    // If the first is there already, another process has taken this one for dead.
    await this.#entries.insertMany(entries, { session, ordered: true }).catch(throwMet)
    return noted.map(({ model, record, step }, index) => {
      return { id: idOf(epoch, [number * MOST + index, +at]), model, record, step }
    })
  }

  /** Ends the transactions of processes that have died, if there are any. */
  async endLeft(): Promise<void> {
    // Whoever needs the database itself is told if it is gone.
    await this.#tickets.state({}).catch(() => {})
  }

  /** The transaction with this ticket has ended, and has added so many entries. */
  async #close(number: number, added: number): Promise<void> {
    try {
      await this.#run(() => this.#tickets.close(number))
      this.#wakes.notify()
      await this.#drop(timesToDrop(added))
    } catch {
      // Readers close what is left.
    }
  }

  /** Creates what the log needs; a transaction can't. */
  async prepared(schemas: readonly CollectionSchema[]): Promise<void> {
    this.#models.prepared(schemas)
    await this.#connection.database.createCollection(ENTRIES).catch(unless(EXISTS))
    await this.#entries.createIndex({ model: 1, record: 1, _id: -1 })
    await this.#tickets.prepare()
    // One that takes no writes is read all the same.
    await this.#drop(1).catch(() => {})
  }

  /** What `read` finds at one moment, which a majority of the members knows. */
  #seen<T>(read: (state: State, session: ClientSession) => Promise<T>): Promise<T> {
    return this.#run(async () => {
      const session = this.#connection.client.startSession({ snapshot: true })
      try {
        const state = await this.#tickets.state({ session })
        if (!state) throw noLog()
        return await read(state, session)
      } finally {
        await session.endSession()
      }
    })
  }

  /** The last entry that nothing comes before any more, dropped ones included. */
  async #end({ floor, dropped }: State, session: ClientSession): Promise<Position> {
    const options = { session, sort: { _id: -1 }, projection: { at: 1 } } as const
    const found = await this.#entries.findOne({ _id: { $lt: floor } }, options)
    const ends: Position[] = [...dropped.values(), [found?._id ?? 0, Number(found?.at ?? 0)]]
    return ends.reduce((a, b) => (b[0] > a[0] ? b : a))
  }

  /** Whether a position is that of an entry which is there or has been, or the beginning. */
  async #isKnown([id, at]: Position, state: State, session: ClientSession): Promise<boolean> {
    if (id === 0 || [...state.dropped.values()].some(([last]) => last >= id)) return true
    const found = await this.#entries.findOne({ _id: id }, { session, projection: { at: 1 } })
    return found !== null && +found.at === at
  }

  #changes(epoch: string, found: readonly Entry[]): LoggedChange[] {
    return found.flatMap(({ _id, at, model, actor, before, after }) => {
      const stored = { at: +at, model, actor, before, after }
      return this.#models.change(idOf(epoch, [_id, +at]), stored) ?? []
    })
  }

  #drop(times: number): Promise<void> {
    return this.#models.dropOld(times, (one) => this.#seen((state) => this.#dropOf(one, state)))
  }

  async #dropOf({ model, keepMs }: LoggedModel, state: State): Promise<void> {
    const [known] = state.dropped.get(model) ?? [0]
    const options = { sort: { _id: 1 }, projection: { at: 1 } } as const
    const rest = { _id: { $gt: known, $lt: state.floor } }
    const isOld = ({ at }: Pick<Entry, 'at'>) => +at < +state.now - keepMs
    // Mostly there is none.
    const first = await this.#entries.findOne(rest, options)
    if (!first || !isOld(first)) return
    const oldest = await this.#entries.find(rest, { ...options, limit: MAX_DROPPED }).toArray()
    const young = oldest.findIndex((one) => !isOld(one))
    const last = (young < 0 ? oldest : oldest.slice(0, young)).at(-1)
    if (!last) return
    await this.#tickets.dropped(model, { number: last._id, at: +last.at })
    const range = { $gt: state.removed.get(model) ?? 0, $lte: last._id }
    await this.#entries.deleteMany({ model: { $in: [model, NOTHING] }, _id: range })
    await this.#tickets.dropped(model, { from: last._id })
  }
}

/** An entry of the log, and the index of the step that it is of: writes that share a transaction are told apart by it. */
export type StepChange = NotedChange & { readonly step: number }

export interface LogTicket {
  /** Takes it, unless that was done: once the transaction has read or written something, as it has begun then. */
  take(): unknown
  /** Adds entries, as the last thing that the transaction does. */
  add(noted: readonly Noted[]): Promise<StepChange[]>
  /** The transaction has ended: it is closed if it was taken. It stays open if nobody knows how that ended. */
  close(): void
}

function idOf(epoch: string, numbers: Position): string {
  return positionText({ epoch, numbers })
}
