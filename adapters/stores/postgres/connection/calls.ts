/** Calls that wait for the database: how many run at once, and how long they have waited. */

import { unlessAborted } from '../../unless-aborted.ts'

/** A number of places. Calls beyond it wait, in their order. */
export class Share {
  #free: number
  readonly #waiting = new Set<PromiseWithResolvers<void>>()

  constructor(most: number) {
    this.#free = most
  }

  /** The result of `work`, once there is a place. Rejects with the signal's reason if that aborts first. */
  async use<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#place(signal)
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (!next) this.#free += 1
      else this.#waiting.delete(next)
      next?.resolve()
    }
  }

  /** Ends the calls that wait for a place. */
  lose(reason: unknown): void {
    for (const { reject } of this.#waiting) reject(reason)
    this.#waiting.clear()
  }

  #place(signal: AbortSignal | undefined): Promise<void> {
    const place = Promise.withResolvers<void>()
    this.#waiting.add(place)
    return unlessAborted(place.promise, signal, () => this.#waiting.delete(place))
  }
}

/** How long a call may wait for the database before it is asked whether it still answers, in milliseconds. */
export const PATIENCE_MS = 2500

/** The calls under way. When the first of them has waited for a while, somebody looks whether that makes sense. */
export class Calls {
  /** Since when each is, in the order in which they began. */
  readonly #underWay = new Map<Promise<unknown>, number>()
  readonly #look: () => Promise<unknown>
  /** One for all calls: a timer for each would cost as much as the rest of this. */
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Calls `look` when a call has waited for `PATIENCE_MS`, and every `PATIENCE_MS` from then on. */
  constructor(look: () => Promise<unknown>) {
    this.#look = look
  }

  async noted<T>(work: () => Promise<T>): Promise<T> {
    const call = work()
    this.#underWay.set(call, performance.now())
    this.#timer ??= this.#wake(PATIENCE_MS)
    try {
      return await call
    } finally {
      this.#underWay.delete(call)
    }
  }

  async ended(): Promise<void> {
    await Promise.allSettled(this.#underWay.keys())
    clearTimeout(this.#timer)
  }

  #wake(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => void this.#check(), ms)
  }

  async #check(): Promise<void> {
    const [since = Number.POSITIVE_INFINITY] = this.#underWay.values()
    const left = since + PATIENCE_MS - performance.now()
    if (left <= 0) await this.#look()
    const isIdle = this.#underWay.size === 0
    this.#timer = isIdle ? undefined : this.#wake(left > 0 ? left : PATIENCE_MS)
  }
}
