/** One try of a delivery, and what is held of it if it fails. */

import { hexDigestOf } from '#hmac'
import type { OutageLog } from '../../http/errors/outages.ts'
import { unlessTaken } from '../../model/own-records.ts'
import type { ChangeLog, LoggedChange } from '../../ports/store/changes.ts'
import type { WriteStep } from '../../ports/store/store.ts'
import { keptText, stackText } from '../../ports/values/causes.ts'
import type { Host } from '../../records/engine/host.ts'
import { type Lease, pauseAfter } from '../lease.ts'
import { Bell, type Pace, partOf, watched } from '../loop.ts'
import type { Delivery, Failure, Held, HeldDelivery } from './held.ts'
import { type Receivers, Resting } from './receivers.ts'

export interface Try {
  readonly attempt: number
  readonly signal: AbortSignal
}

export interface ConsumerSettings {
  readonly name: string
  /** The names of the models, known when the app starts. */
  models(): readonly string[]
  readonly from: 'now' | 'start'
  readonly concurrency: number
  /** To whom a change is delivered, by names that stay the same; to one with an empty name if there is no choice. */
  receiversOf?(change: LoggedChange): Promise<readonly string[]>
  /** Delivers a change. If it throws, it is tried again. */
  deliver(change: LoggedChange, to: string, given: Try): Promise<unknown>
  /** What `--retry` does beside putting back what was set aside. */
  retried?(): Promise<void>
  /** Receivers that want nothing any more. */
  gone?(): Promise<readonly string[]>
  /** Whether a delivery that has failed so often, and first at this time, is tried no more. */
  isOver(attempt: number, since: Date): boolean
}

/** A consumer while this process delivers for it. */
export interface Delivering {
  readonly host: Host
  readonly log: ChangeLog
  readonly settings: ConsumerSettings
  readonly held: Held
  readonly lease: Lease
  readonly pace: Pace
  readonly inSlot: InSlot
  readonly receivers: Receivers
  /** Leaves out lines of tries that fail alike, but for one a second. */
  readonly leftOut: OutageLog
  /** Whether to begin nothing new. */
  readonly isEnding: boolean
  stop(): void
}

type Before = Pick<HeldDelivery, 'attempt' | 'since'>

/** How a try ended: it succeeded, it failed, or it was interrupted and counts for nothing. */
type End =
  | { readonly kind: 'done' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly failure: Failure }

export class Tries {
  readonly at: Delivering
  /** Rings when a delivery is due earlier than it was known. */
  readonly bell: Bell = new Bell()
  /** When deliveries are due that have failed here, rounded up. */
  readonly #dues = new Set<number>()

  constructor(at: Delivering) {
    this.at = at
  }

  /** Tries a delivery, as soon as a slot is free. */
  run(delivery: Delivery, before?: Before): Promise<End> {
    const { settings, lease, inSlot, receivers, host } = this.at
    const { change, to } = delivery
    return inSlot(async () => {
      if (!(await lease.holds()) || lease.signal.aborted) return { kind: 'interrupted' }
      const attempt = (before?.attempt ?? 0) + 1
      const since = before?.since ?? new Date(host.now())
      const [{ signal }, release] = partOf(lease.signal)
      const deliver = () => settings.deliver(change, to, { attempt, signal })
      try {
        await this.watched(delivery, () => {
          if (to !== '') return receivers.try(to, deliver)
          return settings.receiversOf ? this.#spread(delivery, settings.receiversOf) : deliver()
        })
        return { kind: 'done' }
      } catch (error) {
        if (lease.signal.aborted) return { kind: 'interrupted' }
        return this.#failed(delivery, { attempt, since }, error)
      } finally {
        release()
      }
    })
  }

  /** Does what the app's own code does for a delivery, and warns if it does not end. */
  watched<T>(about: Pick<Delivery, 'change' | 'to'>, work: () => Promise<T>): Promise<T> {
    const { host, settings, pace } = this.at
    return watched(host, pace, `Consumer '${settings.name}'`, aboutOf(about), LONG_MS, work)
  }

  /** Of a change whose receivers could not be found out: each gets it, as soon as what waits before it is done. */
  async #spread(
    { change }: Delivery,
    receiversOf: NonNullable<ConsumerSettings['receiversOf']>,
  ): Promise<void> {
    const receivers = await receiversOf(change)
    for (const to of receivers) await this.leave({ change, to, lane: laneOf(change, to) })
  }

  /** Leaves a delivery to what tries again what has failed. */
  async leave(delivery: Delivery): Promise<void> {
    await this.hold(delivery, 'open')
    this.#isDue(this.at.host.now())
  }

  /** Holds a delivery that has failed, or is to be tried at once or behind others of its lane. */
  async hold(delivery: Delivery, failure: Failure | 'open'): Promise<void> {
    const now = new Date(this.at.host.now())
    const open = { isAside: false, attempt: 0, due: now, since: now, error: '' }
    const step = this.at.held.hold(delivery, failure === 'open' ? open : failure)
    // A process that has died may have held it, and not have stored how far it was.
    await unlessTaken(() => this.write(step))
  }

  #failed({ change, to }: Delivery, { attempt, since }: Before, error: unknown): End {
    const { settings, host, leftOut } = this.at
    const message = keptText(error)
    if (error instanceof Resting) {
      this.#isDue(error.until)
      const due = new Date(error.until)
      const failure = { isAside: false, attempt: attempt - 1, due, since, error: message }
      return { kind: 'failed', failure }
    }
    const isAside = settings.isOver(attempt, since)
    const due = new Date(host.now() + pauseAfter(attempt))
    const more = leftOut(new Error(`${isAside} ${to} ${message}`))
    if (more !== undefined) {
      const others = more > 0 && { failuresBefore: more }
      const told = { ...aboutOf({ change, to }), attempt, ...others, error: stackText(error) }
      if (isAside) host.logger.error(`Consumer '${settings.name}' has set a change aside`, told)
      else host.logger.warn(`Consumer '${settings.name}' failed, and tries again`, told)
    }
    if (!isAside) this.#isDue(due.getTime())
    return { kind: 'failed', failure: { isAside, attempt, due, since, error: message } }
  }

  /** When the next delivery is due that has failed here, after `now`. */
  dueAfter(now: number): number {
    for (const at of this.#dues) if (at <= now) this.#dues.delete(at)
    return Math.min(...this.#dues)
  }

  #isDue(at: number): void {
    const rounded = Math.ceil(at / DUE_MS) * DUE_MS
    const isFirst = rounded < Math.min(...this.#dues)
    this.#dues.add(rounded)
    if (isFirst) this.bell.ring()
  }

  /** Writes what is known of deliveries, unless another process has taken over. */
  async write(...steps: readonly WriteStep[]): Promise<void> {
    const { lease } = this.at
    if ((await lease.write(steps)) || lease.isLost) return
    throw new Error('a delivery that waits was changed by somebody else')
  }
}

/** How exactly it is known when deliveries are due, in milliseconds: an hour of them has 36,000 moments. */
const DUE_MS = 100

/** How often a try is warned of that does not end, in milliseconds. */
const LONG_MS = 600_000

function aboutOf({ change, to }: Pick<Delivery, 'change' | 'to'>): object {
  return { change: change.id, model: change.model, ...(to !== '' && { to: originOf(to) }) }
}

/** What the log names of a receiver's URL: its path may be a secret, as those of chat services are. */
export function originOf(to: string): string | undefined {
  return URL.canParse(to) ? new URL(to).origin : undefined
}

/** The deliveries of one record to one receiver are in order. */
export function laneOf({ model, before, after }: LoggedChange, to: string): string {
  const text = JSON.stringify([model, (after ?? before)?._id, to])
  return text.length > MAX_LANE ? hexDigestOf(text) : text
}

/** The lane is in an index, and PostgreSQL takes no more than 2.7 KB there. */
const MAX_LANE = 500

/** Does `work` as soon as a slot is free; who comes first gets one first. */
type InSlot = <T>(work: () => Promise<T>) => Promise<T>

export function slots(count: number): InSlot {
  let free = count
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
