/** Calls that wait for the database: how long reads end early, and how many run at once, so that others find a connection. */

import { StoreTimeout } from '../../../../src/ports/store/store-errors.ts'

/** Ends one read. */
export class Ending {
  #cancel = (): void => {}
  #isOver = false

  /** The statement has been sent; `cancel` asks the server to end it. */
  readonly sent = (cancel: () => void): void => {
    this.#cancel = cancel
    if (this.#isOver) cancel()
  }

  /** The result of `run`, which is not called once the read is over. */
  unlessOver<T>(run: () => Promise<T>): Promise<T> {
    return this.#isOver ? Promise.reject(tooLong()) : run()
  }

  /** The result of `reading`, unless the signal aborts or `ms` milliseconds are over first. */
  async of<T>(reading: Promise<T>, signal: AbortSignal | undefined, ms?: number): Promise<T> {
    if (!signal && ms === undefined) return reading
    const { promise: over, reject } = Promise.withResolvers<never>()
    const end = (reason: unknown) => {
      reject(reason)
      this.#isOver = true
      // It rejects too, when the server has ended it.
      reading.catch(() => {})
      this.#cancel()
    }
    const abort = () => end(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    const timer = ms === undefined ? undefined : setTimeout(() => end(tooLong()), ms)
    try {
      return await Promise.race([reading, over])
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
}

export function tooLong(): StoreTimeout {
  return new StoreTimeout('the read took too long')
}

/** A number of places. Calls beyond it wait, in their order. */
export class Share {
  #free: number
  readonly #waiting = new Set<PromiseWithResolvers<void>>()

  /** `most` is the number of calls that run at the same time. */
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

  async #place(signal: AbortSignal | undefined): Promise<void> {
    const place = Promise.withResolvers<void>()
    const abort = () => {
      this.#waiting.delete(place)
      place.reject(signal?.reason)
    }
    this.#waiting.add(place)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      await place.promise
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** The calls under way. When the first of them has waited for a while, somebody looks whether that makes sense. */
export class Calls {
  /** In the order in which they began. */
  readonly #underWay = new Set<{ readonly since: number }>()
  readonly #patienceMs: number
  readonly #look: () => Promise<unknown>
  /** One for all calls: a timer for each would cost as much as the rest of this. */
  #timer: ReturnType<typeof setTimeout> | undefined
  #empty: (() => void) | undefined

  /** Calls `look` when a call has waited for `patienceMs` milliseconds, and every `patienceMs` from then on. */
  constructor(patienceMs: number, look: () => Promise<unknown>) {
    this.#patienceMs = patienceMs
    this.#look = look
  }

  async noted<T>(work: () => Promise<T>): Promise<T> {
    const call = { since: performance.now() }
    this.#underWay.add(call)
    this.#timer ??= this.#wake(this.#patienceMs)
    try {
      return await work()
    } finally {
      this.#underWay.delete(call)
      if (this.#underWay.size === 0) this.#empty?.()
    }
  }

  /** Waits for every call under way. */
  async ended(): Promise<void> {
    if (this.#underWay.size > 0) {
      await new Promise<void>((resolve) => {
        this.#empty = resolve
      })
    }
    clearTimeout(this.#timer)
  }

  #wake(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => void this.#check(), ms)
  }

  async #check(): Promise<void> {
    const [first] = this.#underWay
    const left = first ? first.since + this.#patienceMs - performance.now() : 0
    if (first && left <= 0) await this.#look()
    const isIdle = this.#underWay.size === 0
    this.#timer = isIdle ? undefined : this.#wake(left > 0 ? left : this.#patienceMs)
  }
}
