/** Deliveries that wait: those that have failed or were set aside, and those that came after them in their lane. */

import { sortKey } from '../../model/model.ts'
import { ownSchema } from '../../model/own-records.ts'
import type { LoggedChange } from '../../ports/store/changes.ts'
import { all, type Filter, is, type SortKey, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Collection, CollectionSchema, WriteStep } from '../../ports/store/store.ts'
import { underCurrent } from '../../records/engine/author.ts'
import type { AsideStatus } from '../../records/engine/background-work.ts'
import type { Host } from '../../records/engine/host.ts'
import { idOf } from '../lease.ts'

const heldSchema: CollectionSchema = ownSchema(
  'fieldgate_held_changes',
  {
    ...{ consumer: 'string', lane: 'string' },
    // Of the change. Greater strings are later.
    position: 'string',
    // To whom, if a consumer delivers to several.
    to: 'string',
    ...{ change: 'string', isAside: 'boolean', attempt: 'integer' },
    // When it is tried again, if it is the first of its lane.
    due: 'date',
    // When it was tried first.
    since: 'date',
    error: 'string',
  },
  [
    ['consumer', 'isAside', 'due'],
    ['consumer', 'isAside', 'lane', 'position'],
  ],
)

const IN_ORDER = [sortKey('position'), sortKey('_id')]

export interface Delivery {
  readonly change: LoggedChange
  /** Deliveries of one lane are in order, and wait for each other. */
  readonly lane: string
  readonly to: string
}

export interface HeldDelivery extends Delivery, Omit<Failure, 'isAside'> {
  readonly _id: string
}

export interface Failure {
  readonly isAside: boolean
  readonly attempt: number
  readonly due: Date
  readonly since: Date
  readonly error: string
}

type HeldRecord = Omit<HeldDelivery, 'change'> & { readonly change: string }

/** The deliveries of one consumer that wait. Writes are steps for `Lease.write`. */
export class Held {
  readonly #host: Host
  readonly #records: Collection
  readonly #consumer: string

  constructor(host: Host, consumer: string) {
    this.#host = host
    this.#records = host.collection(heldSchema)
    this.#consumer = consumer
  }

  #filter(isAside: boolean, ...more: readonly Filter[]): Filter {
    return all([is('consumer', this.#consumer), is('isAside', isAside), ...more])
  }

  /** Those of `lanes` in which something waits. */
  async blocked(lanes: readonly string[]): Promise<Set<string>> {
    const blocked = new Set<string>()
    let left = lanes
    // Each read finds at least one more.
    while (left.length > 0) {
      const found = await this.#lanes([], { op: 'in', field: 'lane', values: left })
      for (const lane of found) blocked.add(lane)
      left = found.length < MOST_READ ? [] : left.filter((lane) => !blocked.has(lane))
    }
    return blocked
  }

  /** Some of the lanes, without `others`, in which a delivery may be due at `now`. */
  async dueLanes(now: Date, others: readonly string[]): Promise<readonly string[]> {
    const isOther: Filter[] =
      others.length > 0 ? [{ op: 'nin', field: 'lane', values: others }] : []
    const isDue: Filter = { op: 'lte', field: 'due', value: now }
    return [...new Set(await this.#lanes([sortKey('due')], isDue, ...isOther))]
  }

  async #lanes(sort: readonly SortKey[], ...filters: readonly Filter[]): Promise<string[]> {
    const read = { filter: this.#filter(false, ...filters), select: { include: ['lane'] } }
    const found = await this.#records.find({ ...read, sort, limit: MOST_READ })
    return found.map(({ lane }) => String(lane))
  }

  async first(lane: string): Promise<HeldDelivery | undefined> {
    const [found] = await this.#records.find({
      filter: this.#filter(false, is('lane', lane)),
      sort: IN_ORDER,
      limit: 1,
    })
    if (!found) return undefined
    const held = found as unknown as HeldRecord
    const change = changeIn(held.change)
    // An earlier version may have held it.
    return { ...held, change: underCurrent(change, this.#host.modelNamed(change.model)) }
  }

  async counts(): Promise<{ readonly waiting: number; readonly aside: number }> {
    const [waiting, aside] = await Promise.all([
      this.#records.count(this.#filter(false)),
      this.#records.count(this.#filter(true)),
    ])
    return { waiting, aside }
  }

  /** The first that were set aside: in an order of an index, because metrics ask for them again and again. */
  async aside(limit: number): Promise<readonly AsideStatus[]> {
    const read = { filter: this.#filter(true), sort: [sortKey('due')], limit }
    const found = await this.#records.find(read)
    return (found as unknown as HeldRecord[]).map((one) => {
      const { attempt: attempts, to, since, error } = one
      const { id, model, before, after } = changeIn(one.change)
      const record = String((after ?? before)?._id)
      return { change: id, model, record, to, attempts, since, error }
    })
  }

  /** Puts back what was set aside, to be tried anew; resolves to their number. */
  async retry(now: Date): Promise<number> {
    const set = { isAside: false, attempt: 0, due: now, since: now }
    return this.#records.updateMany(this.#filter(true), { set })
  }

  hold({ change, lane, to }: Delivery, failure: Failure): WriteStep {
    const _id = idOf('held', this.#consumer, change.id, to)
    const { id: position } = change
    const text = JSON.stringify([change, datesIn(change, [])])
    const of = { _id, consumer: this.#consumer, lane, position, to, change: text }
    return { in: heldSchema, insert: { ...of, ...failure } }
  }

  note({ _id }: HeldDelivery, set: Fields): WriteStep {
    return { in: heldSchema, update: withId(_id), change: { set } }
  }

  release({ _id }: HeldDelivery): WriteStep {
    return { in: heldSchema, delete: withId(_id) }
  }

  /** Those behind the first one of a lane wait until that is due. */
  postpone({ lane, due, change }: HeldDelivery): WriteStep {
    const early: Filter = { op: 'lt', field: 'due', value: due }
    // With it, SQLite finds them by their lane; without it, among all that are due.
    const behind: Filter = { op: 'gt', field: 'position', value: change.id }
    const updateMany = this.#filter(false, is('lane', lane), behind, early)
    return { in: heldSchema, updateMany, change: { set: { due } } }
  }
}

const MOST_READ = 100

type Path = readonly (string | number)[]

function changeIn(text: string): LoggedChange {
  const [change, dates] = JSON.parse(text) as [LoggedChange, readonly Path[]]
  for (const path of dates) {
    const holder = path
      .slice(0, -1)
      .reduce<Record<string | number, unknown>>((at, key) => at[key] as never, change as never)
    const last = path.at(-1) as string
    holder[last] = new Date(holder[last] as string)
  }
  return change
}

function datesIn(value: unknown, path: Path): Path[] {
  if (value instanceof Date) return [path]
  if (typeof value !== 'object' || value === null) return []
  const members = Array.isArray(value) ? value.entries() : Object.entries(value)
  return [...members].flatMap(([key, member]) => datesIn(member, [...path, key]))
}
