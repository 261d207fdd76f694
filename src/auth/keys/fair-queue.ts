/**
 * A fair queue: the waiting clients take turns, and within a client its accounts do.
 *
 * A client that sends more gets no more turns. A flood from many clients, or for many names, would still make everyone
 * wait for all of it, so every other turn goes to clients that have shown before that they belong to the account: they
 * wait in a line of their own. In an overload of unknown clients, every other of their turns goes to the latest arrival
 * and the others to the earliest, so that no one waits for ever. When all places of a line are taken, the client with
 * the most places gives one up.
 *
 * @module
 */

import { type Rounds, rounds } from './rounds.ts'

/** A queue of turns. */
export interface FairQueue {
  /** Sets how many turns there are at once. */
  open(turns: number): void
  /**
   * Resolves with the function that ends the turn, when the turn has come; with undefined if there is no place left, or
   * the turn has not come in time. `isKnown` says whether the client belongs to the account; it is called only if the
   * request must wait.
   */
  take(
    client: string,
    account: string,
    isKnown?: () => boolean | Promise<boolean>,
  ): Promise<EndTurn | undefined>
}

/** Ends a turn. Calling it twice is harmless. */
export type EndTurn = () => void

/** Per line. A waiting request costs some KiB; a flood of some hundred connections fits in. */
const PLACES = 512
/** More waiting requests than this mean an overload. */
const FEW = 32
/** Milliseconds. After that, clients and proxies have given up on the request. */
const LONGEST_WAIT_MS = 20_000

/** A waiting request; `settle` gives it the turn, or none. */
interface Waiting {
  readonly client: string
  readonly account: string
  settle(end: EndTurn | undefined): void
}

/** The requests of one client by account. */
interface Client {
  readonly accounts: Rounds<Waiting[]>
  count: number
}

/** A queue without turns yet. */
export function fairQueue(longestWaitMs: number = LONGEST_WAIT_MS): FairQueue {
  const known = waitingLine()
  const strangers = waitingLine()
  let free = 0
  let newest = false
  let knownIsNext = true

  const begin = (): EndTurn => {
    let ended = false
    free -= 1
    return () => {
      if (ended) return
      ended = true
      free += 1
      hand()
    }
  }

  const isFree = () => free > 0 && known.length() + strangers.length() === 0

  const nextStranger = () => {
    newest = strangers.length() > FEW && !newest
    return strangers.next(newest)
  }

  const hand = (): void => {
    while (free > 0) {
      const next = knownIsNext
        ? (known.next(false) ?? nextStranger())
        : (nextStranger() ?? known.next(false))
      if (!next) return
      knownIsNext = !knownIsNext
      next.settle(begin())
    }
  }

  return {
    open(turns) {
      free += turns
      hand()
    },
    async take(client, account, isKnown = () => false) {
      if (isFree()) return begin()
      const line = (await isKnown()) ? known : strangers
      // All others may have been served during the await: then no one would pass the turn on.
      if (isFree()) return begin()
      if (line.length() >= PLACES && !line.giveUp(client, account)) return undefined
      return new Promise((resolve) => {
        const settle = (turn: EndTurn | undefined) => {
          clearTimeout(timer)
          resolve(turn)
        }
        const one: Waiting = { client, account, settle }
        const timer = setTimeout(() => {
          line.remove(one)
          resolve(undefined)
        }, longestWaitMs)
        line.add(one)
      })
    },
  }
}

/** One line of waiting requests. */
interface Line {
  length(): number
  add(one: Waiting): void
  remove(one: Waiting): void
  /** Removes and returns the request whose turn it is. */
  next(newest: boolean): Waiting | undefined
  /** Refuses a waiting request in favour of one of `client` for `account`; returns whether it did. */
  giveUp(client: string, account: string): boolean
}

function waitingLine(): Line {
  const clients = rounds<Client>()
  let length = 0

  const remove = (one: Waiting): void => {
    const client = clients.get(one.client)
    const list = client?.accounts.get(one.account)
    const at = list?.indexOf(one) ?? -1
    if (!client || !list || at < 0) return
    list.splice(at, 1)
    client.count -= 1
    length -= 1
    if (list.length === 0) client.accounts.remove(one.account)
    if (client.count === 0) clients.remove(one.client)
  }

  return {
    length: () => length,
    remove,
    add(one) {
      const client = clients.get(one.client) ?? { accounts: rounds<Waiting[]>(), count: 0 }
      if (client.count === 0) clients.add(one.client, client)
      const list = client.accounts.get(one.account)
      if (list) list.push(one)
      else client.accounts.add(one.account, [one])
      client.count += 1
      length += 1
    },
    next(newest) {
      const [, client] = clients.next(newest) ?? []
      const [, list] = client?.accounts.next(newest) ?? []
      const one = list?.[0]
      if (!client || !one) return undefined
      remove(one)
      client.accounts.served(one.account)
      clients.served(one.client)
      return one
    },
    giveUp(name, account) {
      const own = clients.get(name)
      const [, most] = clients.largest(({ count }) => count) ?? []
      const from = most && most.count > (own?.count ?? 0) + 1 ? most : own
      const [, list = []] = from?.accounts.largest(({ length }) => length) ?? []
      // Within a client, an account may take the place of one that has more.
      const isFair = from !== own || list.length > (own?.accounts.get(account)?.length ?? 0) + 1
      const last = list.at(-1)
      if (!last || !isFair) return false
      remove(last)
      last.settle(undefined)
      return true
    },
  }
}
