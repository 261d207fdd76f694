/** Bounded password hashing: few computations at once, a bounded and fair queue in front of them, then 503. */

import { unavailable } from '../../http/outages.ts'
import { type EndTurn, fairQueue } from './fair-queue.ts'

/** The client and account that a password is hashed for: a flood cannot choose these freely. */
export interface Asker {
  /** Who sends the request, by the `client` option. Requests without one share their turns. */
  readonly client?: string | undefined
  /** The account as typed, whether it exists or not. */
  readonly account?: string | undefined
  /** Whether the client has shown before that it belongs to the account. Called only if requests have to wait. */
  readonly isKnown?: () => boolean | Promise<boolean>
}

/** Admits requests that will hash, and runs computations. */
export interface Hashing {
  /**
   * Runs a request that will hash, when it is its turn. Throws a 503 if too many are waiting already, or if its turn
   * does not come in time: before anything is read, or counted against an account. Once nothing more will be hashed,
   * the request may pass its turn on early.
   */
  admit<T>(request: (endTurn: EndTurn) => Promise<T>, asker: Asker): Promise<T>
  /** Runs one computation, when it is its turn. */
  run<T>(computation: () => T | Promise<T>): Promise<T>
}

/** A request reads and writes too: while it does, another one hashes. */
const TURNS_PER_SLOT = 2

/** The hashing of one app. `slots` returns how many computations may run at once; it is called once. */
export function boundedHashing(slots: () => number | Promise<number> = slotsHere): Hashing {
  let free: number | undefined
  let starting: Promise<number> | undefined
  const waiting: (() => void)[] = []
  const turns = fairQueue()

  const start = async (): Promise<void> => {
    if (free !== undefined) return
    starting ??= Promise.resolve(slots())
    const count = await starting
    if (free !== undefined) return
    free = count
    turns.open(count * TURNS_PER_SLOT)
  }

  return {
    async admit(request, asker) {
      await start()
      const end = await turns.take(asker.client ?? '', asker.account ?? '', asker.isKnown)
      if (!end) throw unavailable()
      try {
        return await request(end)
      } finally {
        end()
      }
    },
    async run(computation) {
      await start()
      if (free) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await computation()
      } finally {
        // A waiting computation takes over the slot.
        const next = waiting.shift()
        if (next) next()
        else free = (free ?? 0) + 1
      }
    },
  }
}

/** The number of threads depends on the runtime, so it comes from the package's conditional import. */
async function slotsHere(): Promise<number> {
  const { slots } = await import('#scrypt')
  return slots()
}
