/**
 * A fair queue: turns go round the clients that wait, and within a client round its accounts.
 *
 * A client that sends more has no more turns for it. A flood that has many clients, or many names, would still make
 * everybody wait for all of it; so every other turn goes to those who have shown before that they belong to the account
 * that they ask for: they stand in a line of their own. In an overload of strangers every other of their turns goes to
 * whoever came last, and the others to who came first, so that nobody waits for ever. When all places of a line are
 * taken, who has the most of them gives one up.
 *
 * @module
 */

import { type Rounds, rounds } from './rounds.ts'

/** Turns to take. */
export interface FairQueue {
  /** Says how many turns there are at once. */
  open(turns: number): void
  /**
   * Settles with what ends the turn when it has come; with undefined when there is no place left, or the turn has not
   * come in time. `isKnown`, which says whether the client belongs to the account, is asked only where one must wait.
   */
  take(
    client: string,
    account: string,
    isKnown?: () => boolean | Promise<boolean>,
  ): Promise<EndTurn | undefined>
}

/** Ends a turn. Calling it twice is harmless. */
export type EndTurn = () => void

/** In each line. Waiting requests cost some KiB each; a flood of some hundred connections fits in. */
const PLACES = 512
/** More than that wait only in an overload. */
const FEW = 32
/** Milliseconds. Whoever waits longer has been given up by clients and proxies. */
const LONGEST_WAIT_MS = 20_000

/** A request that waits; `settle` gives it the turn, or none. */
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
      // All others may have been served while the question was answered: nobody would hand the turn on.
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

/** Those who wait. */
interface Line {
  length(): number
  add(one: Waiting): void
  remove(one: Waiting): void
  /** Takes out whose turn it is. */
  next(newest: boolean): Waiting | undefined
  /** Refuses one of those who wait in favour of a request of `client` for `account`; whether it did. */
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
      // Within a client: an account may take a place of one that has more.
      const isFair = from !== own || list.length > (own?.accounts.get(account)?.length ?? 0) + 1
      const last = list.at(-1)
      if (!last || !isFair) return false
      remove(last)
      last.settle(undefined)
      return true
    },
  }
}
