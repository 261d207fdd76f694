/**
 * Whether a cache can be reached: deadlines, one warning per 30 seconds, and no queue in front of a cache that hangs.
 *
 * @module
 */

/** What came of asking a cache that did not answer in time, or failed. */
export const unreachable: unique symbol = Symbol('unreachable')

/** The result of work with a cache. */
export type Reached<T> = T | typeof unreachable

/** Warns at most once in 30 seconds. */
export type Warn = (problem: unknown) => void

const late: unique symbol = Symbol('late')

/** The way to one cache. */
export class Availability {
  readonly #warn: Warn
  readonly #isLocal: boolean
  #failing = false
  #trying = false

  /** A local cache has no way to be slow on; a deadline for it would cost more than the rest of a hit. */
  constructor(warn: Warn, isLocal = false) {
    this.#warn = warn
    this.#isLocal = isLocal
  }

  /** Whether the last attempt has failed. */
  get isFailing(): boolean {
    return this.#failing
  }

  /**
   * Does `work` with the cache. While the last attempt has failed, one attempt at a time finds out whether the
   * cache is back; the others need not wait for its deadline.
   */
  async ask<T>(work: () => Promise<T>, timeoutMs: number): Promise<Reached<T>> {
    const trial = this.#failing
    if (trial && this.#trying) return unreachable
    if (trial) this.#trying = true
    try {
      const result = await (this.#isLocal ? work() : within(work(), timeoutMs))
      if (result === late) throw new TooSlow(`no answer within ${timeoutMs} ms`)
      this.#failing = false
      return result
    } catch (error) {
      this.#failing = true
      this.#warn(error)
      return unreachable
    } finally {
      if (trial) this.#trying = false
    }
  }
}

/** What `work` gives, unless it takes longer. What it does later is nobody's concern, a rejection neither. */
export function within<T>(work: Promise<T>, ms: number): Promise<T | typeof late> {
  // By hand, without a race of promises: every hit of a cache that others share comes through here.
  return new Promise((resolve, reject) => {
    let timer = setTimeout(() => {
      // A busy process sees its timers before the replies that have come meanwhile, so these are let in first:
      // under load the cache is needed most.
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

/** Turns problems into one warning per 30 seconds of the app's clock. */
export function warner(warn: (problem: string) => void, now: () => number): Warn {
  const pause = 30_000
  let last = Number.NEGATIVE_INFINITY
  return (problem) => {
    // A clock that was set back must not silence the warning.
    if (Math.abs(now() - last) < pause) return
    last = now()
    warn(described(problem))
  }
}

class TooSlow extends Error {}

/** What went wrong. Clients quote whole commands in their messages: keys and records stay out of the log. */
function described(problem: unknown): string {
  if (problem instanceof TooSlow) return problem.message
  const { name, code, message } = (problem ?? {}) as Record<string, unknown>
  const reply = /^[A-Z]+\b/.exec(String(message))?.[0]
  return [name, code, reply].filter((part) => typeof part === 'string').join(' ') || 'it failed'
}
