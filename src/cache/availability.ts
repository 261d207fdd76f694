/** Whether a cache can be reached: deadlines, one warning per 30 seconds, and no queue before one that hangs. */

/** The result if the cache failed or did not respond in time. */
export const unreachable: unique symbol = Symbol('unreachable')

export type Reached<T> = T | typeof unreachable

/** Warns at most once in 30 seconds. */
export type Warn = (problem: unknown) => void

const late: unique symbol = Symbol('late')

export class Availability {
  readonly #warn: Warn
  readonly #isLocal: boolean
  isFailing = false
  /** Until when an attempt is under way: on Workers one may end with its request, silently. */
  #tryingUntil = 0

  /** A local cache has no connection that could be slow; a deadline would cost more than the rest of a hit. */
  constructor(warn: Warn, isLocal = false) {
    this.#warn = warn
    this.#isLocal = isLocal
  }

  /** Does `work`. After a failure, one attempt at a time finds out whether the cache is back; no other waits for it. */
  async ask<T>(work: () => Promise<T>, timeoutMs: number): Promise<Reached<T>> {
    const trial = this.isFailing
    if (trial && performance.now() < this.#tryingUntil) return unreachable
    if (trial) this.#tryingUntil = performance.now() + timeoutMs
    try {
      const result = await this.#inTime(work, timeoutMs)
      this.isFailing = false
      return result
    } catch (error) {
      this.isFailing = true
      this.#warn(error)
      return unreachable
    } finally {
      if (trial) this.#tryingUntil = 0
    }
  }

  /** Offers the cache what it may refuse, such as a large value. Whether it takes that says nothing of the rest. */
  async offer(work: () => Promise<unknown>, timeoutMs: number, warn: Warn): Promise<void> {
    if (!this.isFailing) await this.#inTime(work, timeoutMs).catch(warn)
  }

  async #inTime<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
    const result = await (this.#isLocal ? work() : within(work(), timeoutMs))
    if (result === late) throw new TooSlow(`no response within ${timeoutMs} ms`)
    return result
  }
}

/** The result of `work`, unless it takes longer than `ms`. Anything after that is ignored, even a rejection. */
export function within<T>(work: Promise<T>, ms: number): Promise<T | typeof late> {
  // Without `Promise.race`: every hit of a shared cache comes through here.
  return new Promise((resolve, reject) => {
    let timer = setTimeout(() => {
      // A busy process runs its timers before it reads the replies that have arrived meanwhile: let these in first.
      timer = setTimeout(() => resolve(late), 0)
    }, ms)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/** Turns problems into one warning per 30 seconds, by the app's clock. */
export function warner(warn: (problem: string) => void, now: () => number): Warn {
  const pause = 30_000
  let last = Number.NEGATIVE_INFINITY
  return (problem) => {
    // A clock that was set back must not suppress the warning.
    if (Math.abs(now() - last) < pause) return
    last = now()
    warn(describe(problem))
  }
}

class TooSlow extends Error {}

/** Describes the problem. Clients quote whole commands in their messages; keys and records must stay out of the log. */
function describe(problem: unknown): string {
  if (problem instanceof TooSlow) return problem.message
  const { name, code, message } = (problem ?? {}) as Record<string, unknown>
  const reply = /^[A-Z]+\b/.exec(String(message))?.[0]
  return [name, code, reply].filter((part) => typeof part === 'string').join(' ') || 'it failed'
}
