/** What a consumer does with the log: it reads on, delivers what it finds, and stores how far it is. */

import { isSameContent } from '../../ports/evaluation/evaluate.ts'
import { settledAll } from '../../ports/promises/settled-all.ts'
import { countFor } from '../../ports/promises/turns.ts'
import type { LoggedChange, ReadChanges } from '../../ports/store/changes.ts'
import { Bell, POLL_MS } from '../loop.ts'
import type { Delivery } from './held.ts'
import { type Delivering, laneOf, type Tries } from './tries.ts'

const BATCH = 100
/** How many are read at first where other requests are served. */
const FIRST = 3
/** How often the position is stored while a batch takes longer, in milliseconds. */
const STORE_MS = 1000

/** How often it is told that a consumer is behind, or that some are lost, in milliseconds. */
const WARN_MS = 600_000

interface Item extends Delivery {
  /** The place of its change in the batch. */
  readonly at: number
  /** Whether it is done or held. */
  isDone: boolean
}

interface ReadingScope {
  readonly models: readonly string[]
  readonly keep: (position: string) => Promise<void>
  readonly until?: string
  /** Where models begin, if that is not where the reading does. */
  readonly behind?: ReadonlyMap<string, string>
}

export class Reading {
  readonly #at: Delivering
  readonly #tries: Tries
  readonly #scope: ReadingScope
  readonly #bell = new Bell()
  /** How many are read next: few of large records, as other requests wait meanwhile. */
  #many: number
  #position = ''
  #stored = ''
  #storedAt = performance.now()
  #delivered = 0
  #quietUntil = 0
  #lossQuietUntil = 0

  constructor(tries: Tries, scope: ReadingScope) {
    this.#at = tries.at
    this.#tries = tries
    this.#scope = scope
    this.#many = scope.until === undefined ? FIRST : BATCH
  }

  /** Delivers what comes after `position`, until there is no more to do. */
  async from(position: string): Promise<void> {
    this.#position = position
    this.#stored = position
    // From the beginning, what was dropped before is no loss.
    if (position === '') this.#lossQuietUntil = performance.now() + WARN_MS
    const stop = this.#at.log.wake(() => this.#bell.ring())
    try {
      while (!this.#at.isEnding && (await this.#next()));
    } finally {
      stop()
      await this.#store()
    }
  }

  /** Delivers the next batch; resolves to false if there is none, and the step may not wait for one, or at the end. */
  async #next(): Promise<boolean> {
    const { host, pace } = this.#at
    const { until, behind } = this.#scope
    const found = await this.#read()
    if ('gone' in found) {
      this.#position = ''
      return true
    }
    if (found.changes.length === 0) {
      this.#position = found.position
      if (until !== undefined) return false
      if (performance.now() - this.#storedAt > POLL_MS) await this.#store()
      return pace.sleep(host.now() + POLL_MS, this.#bell)
    }
    this.#warnOfLag(found.changes)
    this.#many = countFor(JSON.stringify(found.changes.at(-1)).length, BATCH)
    const own = (one: LoggedChange) =>
      until === undefined || (one.id <= until && one.id > (behind?.get(one.model) ?? ''))
    const told = found.changes.filter((one) => own(one) && !isMove(one))
    if (await this.#deliver(told)) {
      this.#position = found.position
      await this.#store()
    }
    return until === undefined || this.#position < until
  }

  /** Reads on, and says so if some may be lost: after the position, all that is left of each model is there. */
  async #read(): Promise<ReadChanges> {
    const options = { limit: this.#many, models: this.#scope.models }
    const after = this.#position || undefined
    const { log, host, settings } = this.#at
    const found = await log.read(after, options)
    if (!('gone' in found)) return found
    if (performance.now() >= this.#lossQuietUntil) {
      this.#lossQuietUntil = performance.now() + WARN_MS
      host.logger.error(
        `Consumer '${settings.name}' goes on with the oldest change that is there: it was behind for longer than changes are kept, so that some are lost, or the database is a copy of another one`,
        { position: this.#position },
      )
    }
    return log.read(after, { ...options, lossy: true })
  }

  /** Warns if changes are half as old as they may become before they are dropped. */
  #warnOfLag([first]: readonly LoggedChange[]): void {
    const { host, settings } = this.#at
    const model = [...host.known()].find(({ name }) => name === first?.model)
    if (!first || !model?.changes || performance.now() < this.#quietUntil) return
    const behindMs = host.now() - first.at.getTime()
    if (behindMs * 2 < model.changes.keepMs) return
    this.#quietUntil = performance.now() + WARN_MS
    const minutes = Math.round(behindMs / 60_000)
    host.logger.warn(
      `Consumer '${settings.name}' is ${minutes} minutes behind. Changes of '${model.name}' are kept for ${Math.round(model.changes.keepMs / 60_000)} minutes, and dropped after that whether it has them or not`,
    )
  }

  /** Delivers a batch; resolves to whether all of it is done or held. */
  async #deliver(changes: readonly LoggedChange[]): Promise<boolean> {
    const { settings, stop } = this.#at
    const { items, blocked } = await this.#sorted(changes)
    /** How the last delivery of each lane ended. */
    const lanes = new Map<string, Promise<LaneState>>()
    const deliver = (delivery: Delivery): Promise<LaneState> => {
      const { lane } = delivery
      const before = lanes.get(lane) ?? Promise.resolve(blocked.has(lane) ? 'blocked' : 'open')
      const own = before.then((state) => this.#one(delivery, state))
      lanes.set(lane, own)
      return own
    }
    /** Stores the position of the last change before which none is left. */
    const store = async () => {
      const open = items.find(({ isDone }) => !isDone)
      const last = changes[(open?.at ?? changes.length) - 1]
      if (last) this.#position = last.id
      await this.#store()
    }
    const queue = items.values()
    /** Delivers what is in the queue. What was taken from it is done: so nothing is left before what is. */
    const work = async (): Promise<void> => {
      while (!this.#at.isEnding) {
        const { done, value } = queue.next()
        if (done || (await deliver(value)) === 'ended') return
        value.isDone = true
        this.#delivered += 1
        // Workers limit the queries of a step. One that ends at the limit has stored at least half of what it has delivered.
        const isPowerOfTwo = (this.#delivered & (this.#delivered - 1)) === 0
        if (isPowerOfTwo || performance.now() - this.#storedAt > STORE_MS) await store()
      }
    }
    const workers = Array.from({ length: settings.concurrency }, work)
    await settledAll(workers, stop).finally(store)
    return items.every(({ isDone }) => isDone)
  }

  /** The deliveries of a batch, and the lanes that wait: a record's changes do behind one whose receivers are unknown. */
  async #sorted(changes: readonly LoggedChange[]) {
    const { receiversOf } = this.#at.settings
    const found = await Promise.all(
      changes.map(async (change) => {
        const ask = () => receiversOf?.(change) ?? Promise.resolve(undefined)
        const receivers = await this.#tries.watched({ change, to: '' }, ask).catch(() => undefined)
        return { change, unsure: laneOf(change, ''), receivers }
      }),
    )
    const lanes = found.flatMap(({ change, unsure, receivers = [] }) => {
      return [unsure, ...receivers.map((to) => laneOf(change, to))]
    })
    const blocked = await this.#at.held.blocked([...new Set(lanes)])
    const unsureNow = new Set(receiversOf ? blocked : [])
    const items = found.flatMap(({ change, unsure, receivers }, at) => {
      if (!receivers) unsureNow.add(unsure)
      const known = receivers && !unsureNow.has(unsure) ? receivers : ['']
      return known.map((to): Item => ({ change, to, lane: laneOf(change, to), at, isDone: false }))
    })
    return { items, blocked }
  }

  /** Delivers a change, or holds it behind one of its lane that is held. */
  async #one(delivery: Delivery, state: LaneState): Promise<LaneState> {
    if (state === 'ended') return 'ended'
    if (state === 'blocked') {
      await this.#tries.hold(delivery, 'open')
      return 'blocked'
    }
    // A batch ends when all of it has: those of others behind it would wait for one that takes long.
    if (this.#at.receivers.isSlow(delivery.to)) {
      await this.#tries.leave(delivery)
      return 'blocked'
    }
    const end = await this.#tries.run(delivery)
    if (end.kind === 'done') return 'open'
    if (end.kind === 'interrupted') return 'ended'
    await this.#tries.hold(delivery, end.failure)
    return end.failure.isAside ? 'open' : 'blocked'
  }

  async #store(): Promise<void> {
    this.#storedAt = performance.now()
    if (this.#position === this.#stored) return
    this.#stored = this.#position
    await this.#scope.keep(this.#position)
  }
}

/** Whether a record has only moved to the names of now, which is told to earlier versions: under these, nothing has changed. */
function isMove({ before, after }: LoggedChange): boolean {
  return before !== null && after !== null && isSameContent(before, after)
}

/** Whether the next delivery of a lane may be tried, must wait for one that is held, or is left for later. */
type LaneState = 'open' | 'blocked' | 'ended'
