/**
 * What reads the log of changes for all live lists of a process, while there are some.
 *
 * @module
 */

import { causeOf, outageLog } from '../../http/outages.ts'
import type { ChangeLog, LoggedChange } from '../../ports/changes.ts'
import { nextTurn } from '../../ports/turns.ts'
import type { Host } from '../engine/host.ts'

/** How many entries are read at a time. */
const PART = 500
/** How often the log is read if nothing wakes the reader, and listeners are told that time passes, in milliseconds. */
const TICK_MS = 1000

/** A live list. */
export interface Listener {
  /** The next entry of the log. */
  take(change: LoggedChange): void
  /** Entries are missing: it has to begin anew. */
  missed(): void
  /** About a second has passed. */
  tick(): void
}

/** Reads the log of changes, and passes it on. */
export class Hub {
  readonly log: ChangeLog
  readonly #host: Host
  readonly #isAlone: boolean
  readonly #listeners = new Set<Listener>()
  readonly #outages = outageLog()
  #position: string | undefined
  #starting: Promise<void> | undefined
  #bell = Promise.withResolvers<void>()

  /** If it `isAlone`, it listens to nothing that other requests do. */
  constructor(host: Host, isAlone: boolean) {
    const { changes } = host.database
    if (!changes) throw new TypeError('the store keeps no log of changes')
    this.log = changes
    this.#host = host
    this.#isAlone = isAlone
  }

  /** Passes on to `listener` what is written from now on, at least; resolves when it does. */
  async join(listener: Listener): Promise<void> {
    this.#listeners.add(listener)
    this.#starting ??= this.#start()
    try {
      await this.#starting
    } catch (error) {
      this.#listeners.delete(listener)
      this.#starting = undefined
      throw error
    }
  }

  leave(listener: Listener): void {
    this.#listeners.delete(listener)
    this.#bell.resolve()
  }

  async #start(): Promise<void> {
    this.#position = await this.log.position()
    void this.#run()
  }

  async #run(): Promise<void> {
    const stop = this.#isAlone ? () => {} : this.log.wake(() => this.#bell.resolve())
    const timer = setInterval(() => {
      this.#bell.resolve()
      for (const listener of [...this.#listeners]) listener.tick()
    }, TICK_MS)
    while (this.#listeners.size > 0) {
      await this.#bell.promise
      this.#bell = Promise.withResolvers()
      if (this.#listeners.size > 0) await this.#readOn()
    }
    stop()
    clearInterval(timer)
    this.#starting = undefined
  }

  async #readOn(): Promise<void> {
    try {
      // Between parts, the lists send what they have.
      while (await this.#readPart()) await nextTurn()
    } catch (error) {
      // It is read again soon: nothing is lost.
      if (this.#outages.due(error) === undefined) return
      this.#host.logger.error('live lists are interrupted', { error: causeOf(error) })
    }
  }

  /** Whether there may be more. */
  async #readPart(): Promise<boolean> {
    const read = await this.log.read(this.#position, { limit: PART, models: this.#models() })
    if ('gone' in read) {
      this.#position = await this.log.position()
      for (const listener of [...this.#listeners]) listener.missed()
      return false
    }
    this.#position = read.position
    for (const change of read.changes) {
      for (const listener of [...this.#listeners]) listener.take(change)
    }
    return read.changes.length === PART
  }

  /** All models that are logged: one that is followed later is among them already. */
  #models(): readonly string[] {
    return [...this.#host.known()].flatMap(({ name, changes }) => (changes ? [name] : []))
  }
}

const hubs = new WeakMap<Host, Hub>()

/**
 * What live lists of `host` listen to. On Workers each has its own, because what one request has begun there ends with it,
 * and may not respond to another.
 */
export function hubOf(host: Host): Hub {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } }
  if (navigator?.userAgent === 'Cloudflare-Workers') return new Hub(host, true)
  const hub = hubs.get(host) ?? new Hub(host, false)
  hubs.set(host, hub)
  return hub
}
