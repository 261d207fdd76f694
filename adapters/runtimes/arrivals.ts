/**
 * The requests that have arrived and are not begun: an overload is seen as soon as it begins.
 *
 * SQLite answers on the thread that takes requests. If each were begun where it arrives, a turn of the event loop would take as
 * long as all of them together, and libuv accepts one connection a turn: most clients would wait where nobody sees them.
 * So a turn begins requests for a few milliseconds; the others wait here, first come first served, and the loop
 * looks for what has arrived meanwhile.
 *
 * @module
 */

/** For so long a turn of the event loop begins requests, in milliseconds. */
const SLICE_MS = 2
/** The most that it begins. */
const STEPS = 64
/** For so long only connections are accepted, while there are new ones. */
const ACCEPT_MS = 8
/** Who would wait longer is refused: there are more requests than can be answered in time, and no burst. */
const PATIENCE_MS = 2000
/** For so long it is counted how many are begun, before the wait of the next one is told from it. */
const COUNTED_MS = 250

interface Waiting {
  readonly at: number
  begin(): void
}

/** The requests of one server, until they are begun. */
export class Arrivals {
  readonly #waiting: Waiting[] = []
  /** Whether the end of this turn is looked after. */
  #isTurning = false
  #sliceEnds = 0
  #hasNewConnections = false
  #acceptsUntil = 0
  readonly #patienceMs: number
  /** How many of those that wait have been begun since `#countedFrom`. */
  #begun = 0
  #countedFrom = 0
  /** How many can wait without the last of them waiting for too long, at the rate that was counted last. */
  #room = Number.POSITIVE_INFINITY

  /** New requests are refused while they would wait for longer than `patienceMs` milliseconds. */
  constructor(patienceMs: number = PATIENCE_MS) {
    this.#patienceMs = patienceMs
  }

  /** A request has arrived. Gives whether it is to be refused, at once or when its turn has come. */
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

  /** A connection has been accepted: there may be more. */
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
    // One each, so that what a request does at once is done before the next one begins.
    for (let step = 0; step < STEPS; step += 1) setImmediate(() => this.#beginNext())
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

  /** Learns how many requests can wait. A rate is not kept once nobody waits: the next ones may be other requests. */
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
