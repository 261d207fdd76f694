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
const ACCEPT_MS = 2
/** What waits longer shows that there are more requests than can be answered in time, and no burst. */
const PATIENCE_MS = 2000

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

  /** New requests are refused while the first that waits has done so for `patienceMs` milliseconds. */
  constructor(patienceMs: number = PATIENCE_MS) {
    this.#patienceMs = patienceMs
  }

  /** A request has arrived. Gives whether it is to be refused, at once or when its turn has come. */
  arrive(): boolean | Promise<boolean> {
    const now = performance.now()
    const [first] = this.#waiting
    if (first && now - first.at > this.#patienceMs) return true
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
    if (this.#waiting.length === 0) return
    const now = performance.now()
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
    if (now < this.#sliceEnds) this.#waiting.shift()?.begin()
  }
}
