/**
 * The calls that wait for the database.
 *
 * @module
 */

/** One that waits. */
interface Call {
  /** When it began. */
  readonly since: number
  /** Ends it before the database does. */
  end(reason: Error): void
}

/** The calls under way. When the first of them has waited for a while, somebody looks whether that makes sense. */
export class Calls {
  /** In the order in which they began. */
  readonly #underWay = new Set<Call>()
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

  /** The result of `work`, unless `end` comes first. */
  noted<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const call: Call = { since: performance.now(), end: reject }
      this.#underWay.add(call)
      this.#timer ??= this.#wake(this.#patienceMs)
      const ended = () => this.#ended(call)
      work().then(resolve, reject).then(ended, ended)
    })
  }

  /** Rejects every call under way with `reason`. */
  end(reason: Error): void {
    for (const call of this.#underWay) call.end(reason)
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

  #ended(call: Call): void {
    this.#underWay.delete(call)
    if (this.#underWay.size === 0) this.#empty?.()
  }

  #wake(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => void this.#check(), ms)
  }

  async #check(): Promise<void> {
    const [first] = this.#underWay
    const left = first && first.since + this.#patienceMs - performance.now()
    if (left !== undefined && left <= 0) await this.#look()
    const isIdle = this.#underWay.size === 0
    this.#timer = isIdle
      ? undefined
      : this.#wake(left !== undefined && left > 0 ? left : this.#patienceMs)
  }
}
