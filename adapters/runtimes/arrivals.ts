/**
 * Queues the requests that have arrived but not started, so that an overload is noticed as soon as it begins.
 *
 * SQLite runs on the thread that accepts requests. If each request started on arrival, a turn of the event loop would
 * take as long as all of them together. libuv accepts one connection per turn, so most clients would wait unseen.
 * Therefore a turn starts requests for only a few milliseconds; the others wait here, first come first served, while
 * the loop checks for new arrivals.
 */

// Not the global one, which tests of users replace by one that stands still.
import { setImmediate } from 'node:timers'

/** How long one turn of the event loop starts requests, in milliseconds. */
const SLICE_MS = 2
/** The most requests that one turn starts. */
const MAX_STARTS_PER_TURN = 64
/** How long only connections are accepted, while there are new ones, in milliseconds. */
const ACCEPT_MS = 8
/** A request that would wait longer is refused: this is an overload, not a burst. */
const MAX_WAIT_MS = 2000
/** How long starts are counted before the next request's wait is estimated from them. */
const COUNTED_MS = 250

export class Arrivals {
  readonly #waiting: { readonly at: number; begin(): void }[] = []
  /** Whether the end of this turn is already scheduled. */
  #isTurning = false
  #sliceEnds = 0
  #hasNewConnections = false
  #acceptsUntil = 0
  readonly #patienceMs: number
  /** How many waiting requests have started since `#countedFrom`. */
  #begun = 0
  #countedFrom = 0
  /** How many can wait without the last one waiting too long, at the last measured rate. */
  #room = Number.POSITIVE_INFINITY

  /** New requests are refused if they would wait longer than `patienceMs` milliseconds. */
  constructor(patienceMs: number = MAX_WAIT_MS) {
    this.#patienceMs = patienceMs
  }

  /** Call this when a request arrives. Returns whether to refuse it, at once or when its turn has come. */
  arrive(): boolean | Promise<boolean> {
    const now = performance.now()
    const [first] = this.#waiting
    if (first && (now - first.at > this.#patienceMs || this.#waiting.length >= this.#room)) {
      return true
    }
    if (!this.#isTurning) {
      this.#sliceEnds = now + SLICE_MS
      this.#endThisTurn()
    }
    if (!first && now < this.#sliceEnds) return false
    return new Promise((resolve) => {
      this.#waiting.push({ at: now, begin: () => resolve(false) })
    })
  }

  /** Call this when a connection has been accepted: there may be more. */
  connected(): void {
    this.#hasNewConnections = true
  }

  #endThisTurn(): void {
    this.#isTurning = true
    setImmediate(() => this.#turnEnded())
  }

  #turnEnded(): void {
    this.#isTurning = false
    const now = performance.now()
    this.#count(now)
    if (this.#waiting.length === 0) return
    if (this.#hasNewConnections && now < this.#acceptsUntil) {
      this.#hasNewConnections = false
      this.#endThisTurn()
      return
    }
    this.#acceptsUntil = now + SLICE_MS + ACCEPT_MS
    this.#sliceEnds = 0
    // One callback each, so that what a request does at once is done before the next one starts.
    for (let step = 0; step < MAX_STARTS_PER_TURN; step += 1) setImmediate(() => this.#beginNext())
    this.#endThisTurn()
  }

  #beginNext(): void {
    const now = performance.now()
    if (this.#sliceEnds === 0) this.#sliceEnds = now + SLICE_MS
    const next = now < this.#sliceEnds ? this.#waiting.shift() : undefined
    if (next === undefined) return
    this.#begun += 1
    next.begin()
  }

  /** Learns how many requests can wait, and forgets it when none does: the next ones may be of another kind. */
  #count(now: number): void {
    if (this.#waiting.length === 0) {
      this.#countedFrom = 0
      this.#room = Number.POSITIVE_INFINITY
      return
    }
    if (this.#countedFrom > 0) {
      const countedMs = now - this.#countedFrom
      if (countedMs < COUNTED_MS) return
      this.#room = (this.#begun / countedMs) * this.#patienceMs
    }
    this.#countedFrom = now
    this.#begun = 0
  }
}
