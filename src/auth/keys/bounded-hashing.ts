/**
 * Bounded password hashing: few computations at once, a bounded and fair queue before them, then 503.
 *
 * @module
 */

import { unavailable } from '../../http/outages.ts'
import { fairQueue } from './fair-queue.ts'

/** Who asks for a password to be hashed; what floods cannot share out at will. */
export interface Asker {
  /** Who sends the request, as the `client` option says. All without one share their turns. */
  readonly client?: string | undefined
  /** The account as it was typed, whether there is one or not. */
  readonly account?: string | undefined
  /** Whether the client has shown before that it belongs to the account. Asked only where requests have to wait. */
  readonly isKnown?: () => boolean | Promise<boolean>
}

/** A request's turn. */
export interface Turn {
  /** Gives the turn to the next request: nothing more will be hashed. Calling it twice is harmless. */
  end(): void
}

/** Lets requests in that will hash, and computations run. */
export interface Hashing {
  /**
   * Runs a request that will hash, when it is its turn. Throws 503 when too many wait already, or when its turn does
   * not come in time: before anything was read, or counted against an account.
   */
  admit<T>(request: (turn: Turn) => Promise<T>, asker?: Asker): Promise<T>
  /** Runs one computation, when it is its turn. */
  run<T>(computation: () => T | Promise<T>): Promise<T>
}

/** A request reads and writes too: while one does, another one hashes. */
const TURNS_PER_SLOT = 2

/**
 * The hashing of one app. `slots` gives how many computations may run at once; it is asked once.
 */
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
    async admit(request, asker = {}) {
      await start()
      const end = await turns.take(asker.client ?? '', asker.account ?? '', asker.isKnown)
      if (!end) throw unavailable()
      try {
        return await request({ end })
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

/** Threads are the runtime's, so their number comes from the package's own conditional import. */
async function slotsHere(): Promise<number> {
  const { slots } = await import('#scrypt')
  return slots()
}
