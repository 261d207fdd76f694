/** Bounded password hashing: few computations at once, a bounded and fair queue in front of them, then 503. */

import { unavailable } from '../../http/errors/outages.ts'
import { startedOnce } from '../../ports/values/once.ts'

/** The client and account that a password is hashed for: a flood cannot choose these freely. */
export interface Asker {
  /** Who sends the request, by the `client` option. Requests without one share their turns. */
  readonly client?: string | undefined
  /** The account as typed, whether it exists or not. */
  readonly account?: string | undefined
  /** Whether the client has shown before that it belongs to the account. Called only if requests have to wait. */
  readonly isKnown?: () => boolean | Promise<boolean>
}

/** A request reads and writes too: while it does, another one hashes. */
const TURNS_PER_SLOT = 2

/** The hashing of one app: admits requests that will hash, and runs computations. */
export class Hashing {
  readonly #start: () => Promise<void>
  readonly #turns: FairQueue = new FairQueue()
  readonly #computing: FairQueue = new FairQueue()
  #isOpen = false

  /** `slots` returns how many computations may run at once; it is called once, unless it fails. Default: the runtime's. */
  constructor(slots?: () => number | Promise<number>) {
    this.#start = startedOnce(async () => {
      const count = await (slots ?? (await import('#scrypt')).slots)()
      this.#computing.open(count)
      this.#turns.open(count * TURNS_PER_SLOT)
      this.#isOpen = true
    })
  }

  /**
   * Runs a request that will hash, when it is its turn. Throws a 503 if too many are waiting already, or if its turn
   * does not come in time: before anything is read, or counted against an account. Once nothing more will be hashed,
   * the request may pass its turn on early.
   */
  async admit<T>(request: (endTurn: EndTurn) => Promise<T>, asker: Asker): Promise<T> {
    if (!this.#isOpen) await this.#start()
    const end = await this.#turns.take(asker)
    if (!end) throw unavailable()
    try {
      return await request(end)
    } finally {
      end()
    }
  }

  async run<T>(computation: () => T | Promise<T>): Promise<T> {
    if (!this.#isOpen) await this.#start()
    const end = await this.#computing.take({})
    if (!end) throw unavailable()
    try {
      return await computation()
    } finally {
      end()
    }
  }
}

/** Ends a turn. Calling it twice is harmless. */
export type EndTurn = () => void

/** Per line. A waiting request costs some KiB; a flood of some hundred connections fits in. */
const MAX_WAITING = 512
/** More waiting requests than this mean an overload. */
const OVERLOAD = 32
/** After that, clients and proxies have given up on the request. */
const MAX_WAIT_MS = 20_000

/**
 * A fair queue of turns: the waiting clients take turns, and within a client its accounts do.
 *
 * A client that sends more gets no more turns. A flood from many clients, or for many names, would still make everyone
 * wait for all of it, so every other turn goes to clients that have shown before that they belong to the account: they
 * wait in a line of their own. In an overload of unknown clients, every other of their turns goes to the latest arrival
 * and the others to the earliest, so that no one waits for ever. When all places of a line are taken, the client with
 * the most places gives one up.
 *
 * Measured with 300 strangers who ask again as soon as they are answered: someone on a new device waits for one turn, from
 * an address of their own or from the flood's. In a line of first come, first served, with at most 16 places a client, it
 * is 16 turns if the flood has one address, 299 if it has 300, and none ever comes from the flood's own address.
 */
export class FairQueue {
  readonly #known = new Line()
  readonly #strangers = new Line()
  readonly #maxWaitMs: number
  /** The turns that have not ended, in the order in which they began, with their times. */
  readonly #turns = new Map<EndTurn, number>()
  #free = 0
  #takesNewest = false
  #knownIsNext = true

  constructor(maxWaitMs: number = MAX_WAIT_MS) {
    this.#maxWaitMs = maxWaitMs
  }

  open(turns: number): void {
    this.#free += turns
    this.#hand()
  }

  /**
   * Resolves with the function that ends the turn, when the turn has come; with undefined if there is no place left, or
   * the turn has not come in time. `isKnown` is called only if the request must wait.
   */
  async take({ client = '', account = '', isKnown }: Asker): Promise<EndTurn | undefined> {
    // Workers end a request silently, and its turn would never end.
    for (const [end, since] of this.#turns) {
      if (since > Date.now() - this.#maxWaitMs) break
      end()
    }
    // Turns are handed on as they end, so a free one means that nobody waits.
    if (this.#free > 0) return this.#begin()
    const line = (await isKnown?.()) ? this.#known : this.#strangers
    // All others may have been served during the await: then no one would pass the turn on.
    if (this.#free > 0) return this.#begin()
    const places = { client: line.place(client), account: line.place(client, account) }
    if (line.waiting.length >= MAX_WAITING && !line.giveUpFor(places)) return undefined
    return new Promise((resolve) => {
      const settle = (turn: EndTurn | undefined) => {
        clearTimeout(timer)
        resolve(turn)
      }
      const one: Waiting = { ...places, until: Date.now() + this.#maxWaitMs, settle }
      const timer = setTimeout(() => {
        line.remove(one)
        resolve(undefined)
      }, this.#maxWaitMs)
      line.add(one)
    })
  }

  #begin(): EndTurn {
    this.#free -= 1
    const end = () => {
      if (!this.#turns.delete(end)) return
      this.#free += 1
      this.#hand()
    }
    this.#turns.set(end, Date.now())
    return end
  }

  #hand(): void {
    while (this.#free > 0 && this.#known.waiting.length + this.#strangers.waiting.length > 0) {
      const next = this.#knownIsNext
        ? (this.#known.next(false) ?? this.#nextStranger())
        : (this.#nextStranger() ?? this.#known.next(false))
      this.#knownIsNext = !this.#knownIsNext
      next?.settle(next.until < Date.now() ? undefined : this.#begin())
    }
  }

  #nextStranger(): Waiting | undefined {
    this.#takesNewest = this.#strangers.waiting.length > OVERLOAD && !this.#takesNewest
    return this.#strangers.next(this.#takesNewest)
  }
}

/** A waiting request; `settle` gives it the turn, or none. */
interface Waiting extends Places {
  /** When it gives up. One that was ended does not, and would take a turn with it. */
  readonly until: number
  settle(end: EndTurn | undefined): void
}

/** The place of a client, or of one of its accounts, in the order of turns. */
interface Place {
  readonly key: string
  count: number
  /** The number of its arrival, or of its last turn. */
  since: number
  hadTurn: boolean
}

type Places = Readonly<Record<'client' | 'account', Place>>

/** One line of waiting requests: a turn takes far longer than a look at all of them. */
class Line {
  readonly waiting: Waiting[] = []
  readonly #places = new Map<string, Place>()
  #now = 0

  /** The place of a client, or of an account of it; it counts once a request is added. */
  place(...names: readonly string[]): Place {
    const key = JSON.stringify(names)
    return this.#places.get(key) ?? { key, count: 0, since: 0, hadTurn: false }
  }

  add(one: Waiting): void {
    this.waiting.push(one)
    this.#now += 1
    for (const place of [one.client, one.account]) {
      if (place.count === 0) Object.assign(place, { since: this.#now, hadTurn: false })
      place.count += 1
      this.#places.set(place.key, place)
    }
  }

  remove(one: Waiting): void {
    const at = this.waiting.indexOf(one)
    if (at < 0) return
    this.waiting.splice(at, 1)
    for (const place of [one.client, one.account]) {
      place.count -= 1
      if (place.count === 0) this.#places.delete(place.key)
    }
  }

  /** Removes and returns the request whose turn it is; with `newest` one of the latest client without a turn so far. */
  next(newest: boolean): Waiting | undefined {
    const order = (a: Place, b: Place) => {
      if (!newest || (a.hadTurn && b.hadTurn)) return a.since - b.since
      return +a.hadTurn - +b.hadTurn || b.since - a.since
    }
    const isBefore = (a: Waiting, b: Waiting) =>
      (order(a.client, b.client) || order(a.account, b.account)) < 0
    const [first, ...others] = this.waiting
    if (!first) return undefined
    const one = others.reduce((best, each) => (isBefore(each, best) ? each : best), first)
    this.#now += 1
    for (const place of [one.client, one.account]) {
      Object.assign(place, { since: this.#now, hadTurn: true })
    }
    this.remove(one)
    return one
  }

  /**
   * Refuses a waiting request in favour of another one; returns whether it did. Within a client, an account may take the
   * place of one that has more.
   */
  giveUpFor({ client, account }: Places): boolean {
    const most = lastOf('client', this.waiting)?.client ?? client
    const from = most.count > client.count + 1 ? most : client
    const ofFrom = this.waiting.filter((one) => one.client === from)
    const last = lastOf('account', ofFrom)
    if (!last || (from === client && last.account.count <= account.count + 1)) return false
    this.remove(last)
    last.settle(undefined)
    return true
  }
}

/** The last request of the client, or account, that has the most of them. */
function lastOf(whose: keyof Places, among: readonly Waiting[]): Waiting | undefined {
  return among.reduce<Waiting | undefined>(
    (best, each) => (best && best[whose].count > each[whose].count ? best : each),
    undefined,
  )
}
