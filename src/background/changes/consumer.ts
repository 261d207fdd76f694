/**
 * A consumer: reads the log of changes on behalf of all processes, and delivers each change until that succeeds.
 *
 * What is delivered, or held to be tried again, is behind its position. So a process that dies leaves nothing out, and
 * repeats what it has delivered since the position was last stored.
 */

import { outageLog } from '../../http/errors/outages.ts'
import { settledAll } from '../../ports/promises/settled-all.ts'
import type { ChangeLog } from '../../ports/store/changes.ts'
import { withId } from '../../ports/store/filter.ts'
import type { ConsumerStatus } from '../../records/engine/background-work.ts'
import type { Host } from '../../records/engine/host.ts'
import { type Lease, takeLease } from '../lease.ts'
import { type Pace, POLL_MS } from '../loop.ts'
import { type Kept, LeasedWork } from '../work.ts'
import { Held } from './held.ts'
import { Reading } from './reading.ts'
import { Receivers } from './receivers.ts'
import { type ConsumerSettings, type Delivering, slots, Tries } from './tries.ts'

/**
 * Models by their names: null, or up to where their changes are done or held. While a new version of an app adds one, a process of
 * the old version may still deliver for the consumer, and pass its changes. So a model that is added has a position of its own,
 * until it has caught up with the others.
 */
type Known = Readonly<Record<string, string | null>>

export class Consumer extends LeasedWork {
  readonly #log: ChangeLog
  readonly #settings: ConsumerSettings
  readonly #held: Held
  readonly #receivers: Receivers
  readonly #leftOut = outageLog()

  constructor(host: Host, log: ChangeLog, settings: ConsumerSettings) {
    super(host, 'consumer', settings.name)
    this.#log = log
    this.#settings = settings
    this.#held = new Held(host, settings.name)
    this.#receivers = new Receivers(host.now, settings.concurrency)
  }

  protected override async begin(now: Date): Promise<void> {
    const position = this.#settings.from === 'start' ? '' : await this.#log.position()
    await this.note({ position }, now)
    // Those that are new begin at `position`; of a new consumer, all are as far as it.
    await this.#noteModels((known, isNew) => {
      const at = (name: string) => known[name] ?? (isNew || name in known ? null : position)
      return this.#settings.models().map((name) => [name, at(name)])
    })
  }

  /** Models that were added are done up to `position`, or as far as the others. */
  #reached(names: readonly string[], position: string | null): Promise<void> {
    // A process that stood still may tell late how far it was: what is further stays.
    const at = (before: string | null | undefined) =>
      before === null || (position !== null && before && before > position) ? before : position
    return this.#noteModels((known) => names.map((name) => [name, at(known[name])]))
  }

  async #noteModels(
    changed: (known: Known, isNew: boolean) => [name: string, position: string | null][],
  ): Promise<void> {
    for (;;) {
      const kept = await this.kept()
      const known = knownIn(kept)
      const changes = Object.fromEntries(changed(known, kept.models === undefined))
      const models = JSON.stringify({ ...known, ...changes })
      if (models === kept.models) return
      const expect = { models: kept.models }
      // Another process may note others at this moment.
      if (await this.records.update(withId(this.id), { set: { models } }, { expect })) return
    }
  }

  async status(): Promise<ConsumerStatus> {
    const [kept, counts, examples] = await Promise.all([
      this.kept(),
      this.#held.counts(),
      this.#held.aside(MOST_SHOWN),
    ])
    const { models, gone } = this.#settings
    const next = await this.#log.read(String(kept.position) || undefined, {
      ...{ limit: 1, models: models(), lossy: true },
    })
    return {
      ...{ kind: 'consumer', name: this.name, ...counts, examples },
      isRunning: this.isRunning(kept),
      behind: 'gone' in next ? undefined : next.changes[0]?.at,
      gone: (await gone?.()) ?? [],
    }
  }

  async retry(): Promise<number> {
    await this.#settings.retried?.()
    return this.#held.retry(new Date(this.host.now()))
  }

  /** Delivers as long as this process has the lease; resolves to when to ask for it again. */
  protected override async step(pace: Pace): Promise<number> {
    const { now } = this.host
    const found = await this.kept()
    if (this.isRunning(found)) return now() + POLL_MS
    const lease = await takeLease(this.host, this.records, found, {}, pace)
    if (!lease) return now() + POLL_MS
    try {
      await this.#deliver(lease, pace, String(found.position))
    } finally {
      await lease.end({})
    }
    return now()
  }

  async #deliver(lease: Lease, pace: Pace, position: string): Promise<void> {
    const stops = new AbortController()
    this.#receivers.begin()
    const delivering: Delivering = {
      ...{ host: this.host, log: this.#log, settings: this.#settings, held: this.#held },
      leftOut: this.#leftOut,
      // Slots of this step alone: one that Workers end gives none back.
      ...{ lease, pace, inSlot: slots(this.#settings.concurrency), receivers: this.#receivers },
      stop: () => stops.abort(),
      get isEnding() {
        return pace.isClosing || lease.isLost || stops.signal.aborted
      },
    }
    const tries = new Tries(delivering)
    const keep = async (position: string) => void (await lease.keep({ position }))
    const models = this.#settings.models()
    const read = async () => {
      await this.#catchUp(tries, position)
      await new Reading(tries, { models, keep }).from(position)
    }
    // What fails in one ends both; and the lease is kept until both have ended.
    await settledAll([read(), retryDue(tries)], delivering.stop)
    // A step that is called by itself has looked for what is due before the reading left it something.
    if (!delivering.isEnding) await retryDue(tries)
  }

  /** Delivers what models that were added have up to `position`, where the others are. */
  async #catchUp(tries: Tries, position: string): Promise<void> {
    const known = knownIn(await this.kept())
    const added = new Map<string, string>()
    for (const name of this.#settings.models()) {
      const at = known[name] ?? null
      if (at !== null) added.set(name, at)
    }
    if (added.size === 0) return
    const names = [...added.keys()]
    const [first = ''] = [...added.values()].sort()
    if (first < position) {
      const keep = (to: string) => this.#reached(names, to)
      const scope = { models: names, keep, until: position, behind: added }
      await new Reading(tries, scope).from(first)
    }
    if (!tries.at.isEnding) await this.#reached(names, null)
  }
}

const MOST_SHOWN = 20

function knownIn({ models }: Kept): Known {
  return typeof models === 'string' ? (JSON.parse(models) as Known) : {}
}

/**
 * Tries what waits and is due, the first delivery of each lane first, until there is no more to do. A lane doesn't wait for
 * others: one that takes long would keep those that fail at once from their next try.
 */
async function retryDue(tries: Tries): Promise<void> {
  const { at } = tries
  const { host, held, pace } = at
  const running = new Map<string, Promise<void>>()
  const failures: unknown[] = []
  const run = async (lane: string): Promise<void> => {
    try {
      // Those behind the first are tried as long as they are done.
      while (!at.isEnding && (await retryFirst(tries, lane)));
    } catch (error) {
      failures.push(error)
      at.stop()
    } finally {
      running.delete(lane)
      tries.bell.ring()
    }
  }
  while (!at.isEnding) {
    const now = host.now()
    const next = Math.min(tries.dueAfter(now), now + POLL_MS)
    const isFull = running.size >= MOST_LANES
    const lanes = isFull ? [] : await held.dueLanes(new Date(now), [...running.keys()])
    for (const lane of lanes) running.set(lane, run(lane))
    // Not longer than until the next poll: others may put back what was set aside.
    if (lanes.length > 0 || (await pace.sleep(next, tries.bell))) continue
    // A step that is called by itself ends with what it has begun.
    if (running.size === 0) break
    await Promise.race(running.values())
  }
  await Promise.all(running.values())
  if (failures.length > 0) throw failures[0]
}

/** How many lanes are tried at the same time, as far as there are slots for them. */
const MOST_LANES = 100

/** Tries the first delivery of a lane; resolves to whether the next one may be tried. */
async function retryFirst(tries: Tries, lane: string): Promise<boolean> {
  const { held, host } = tries.at
  const first = await held.first(lane)
  if (!first) return false
  const isDue = first.due.getTime() <= host.now()
  const end = isDue ? await tries.run(first, first) : undefined
  if (end?.kind === 'interrupted') return false
  if (end?.kind !== 'failed') {
    await tries.write(end ? held.release(first) : held.postpone(first))
    return isDue
  }
  const { isAside, attempt, due, error } = end.failure
  await tries.write(held.note(first, { isAside, attempt, due, error }))
  return isAside
}
