/**
 * A consumer: reads the log of changes on behalf of all processes, and delivers each change until that succeeds.
 *
 * What is delivered, or held to be tried again, is behind its position. So a process that dies leaves nothing out, and
 * repeats what it has delivered since the position was last stored.
 *
 * @module
 */

import type { ChangeLog } from '../../ports/changes.ts'
import { withId } from '../../ports/filter.ts'
import type { Collection, Fields } from '../../ports/store.ts'
import type { BackgroundWork, ConsumerStatus } from '../../records/engine/background-work.ts'
import type { Host } from '../../records/engine/host.ts'
import { idOf, insertOnce, type Lease, takeLease, workSchema } from '../lease.ts'
import { Loop, once, type Pace, POLL_MS } from '../loop.ts'
import { Held, heldSchema } from './held.ts'
import { Reading } from './reading.ts'
import { Retries } from './retries.ts'
import { type ConsumerSettings, type Delivering, Slots, Tries } from './tries.ts'

/** A consumer of an app. */
export class Consumer implements BackgroundWork {
  readonly name: string
  readonly #host: Host
  readonly #log: ChangeLog
  readonly #settings: ConsumerSettings
  readonly #records: Collection
  readonly #held: Held
  readonly #slots: Slots
  readonly #loop: Loop
  readonly #id: string
  #isPrepared = false

  constructor(host: Host, log: ChangeLog, settings: ConsumerSettings) {
    this.name = settings.name
    this.#host = host
    this.#log = log
    this.#settings = settings
    this.#records = host.collection(workSchema)
    this.#held = new Held(host.collection(heldSchema), settings.name)
    this.#slots = new Slots(settings.concurrency)
    this.#loop = new Loop(host, (pace) => this.#step(pace))
    this.#id = idOf('consumer', settings.name)
  }

  /** Notes where the consumer begins. */
  async prepare(): Promise<void> {
    if (this.#isPrepared) return
    const { name, from } = this.#settings
    const position = from === 'start' ? '' : await this.#log.position()
    const until = new Date(this.#host.now())
    await insertOnce(this.#records, {
      ...{ _id: this.#id, name: `consumer ${name}`, owner: '', until, position },
    })
    this.#isPrepared = true
  }

  start(): void {
    this.#loop.start()
  }

  close(waitMs?: number): Promise<void> {
    return this.#loop.close(waitMs)
  }

  async runDue(): Promise<void> {
    await this.#step(once())
  }

  async status(): Promise<ConsumerStatus> {
    const [{ owner, until, position }, counts, examples] = await Promise.all([
      this.#kept(),
      this.#held.counts(),
      this.#held.aside(MOST_SHOWN),
    ])
    const { models, gone } = this.#settings
    const next = await this.#log.read(String(position) || undefined, {
      ...{ limit: 1, models: models() },
    })
    return {
      ...{ kind: 'consumer', name: this.name, ...counts, examples },
      isRunning: owner !== '' && (until as Date).getTime() > this.#host.now(),
      behind: 'gone' in next ? undefined : next.changes[0]?.at,
      gone: (await gone?.()) ?? [],
    }
  }

  async retry(): Promise<number> {
    await this.#settings.retried?.()
    return this.#held.retry(new Date(this.#host.now()))
  }

  async #kept(): Promise<Fields> {
    const read = { filter: withId(this.#id), sort: [], limit: 1 }
    const [found] = await this.#records.find(read)
    if (!found) throw new Error(`what is known of the consumer '${this.name}' was deleted`)
    return found
  }

  /** Delivers as long as this process has the lease; resolves to when to ask for it again. */
  async #step(pace: Pace): Promise<number> {
    const { now } = this.#host
    const found = await this.#kept()
    const until = (found.until as Date).getTime()
    if (found.owner !== '' && until > now()) return Math.min(until, now() + POLL_MS)
    const lease = await takeLease(this.#host, this.#records, found, {}, pace.signal)
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
    const delivering: Delivering = {
      ...{ host: this.#host, settings: this.#settings, held: this.#held, lease, pace },
      slots: this.#slots,
      stop: () => stops.abort(),
      get isEnding() {
        return pace.isClosing || lease.isLost || stops.signal.aborted
      },
    }
    await this.#settings.begin?.()
    const tries = new Tries(delivering)
    // What fails in one ends both; and the lease is kept until both have ended.
    const ended = [
      new Reading(delivering, this.#log, tries).from(position),
      new Retries(delivering, tries).run(),
    ].map((one) =>
      one.catch((error: unknown) => {
        delivering.stop()
        throw error
      }),
    )
    const failed = (await Promise.allSettled(ended)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }
}

const MOST_SHOWN = 20
