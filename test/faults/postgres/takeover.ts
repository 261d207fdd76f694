/**
 * The trial of a failover: writers insert through the store while the primary is killed and its synchronous standby is
 * promoted.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { startPair } from '../../services/postgres.ts'
import { notes } from '../mongodb/notes.ts'
import { until } from './until.ts'

/** What a trial saw. */
export interface Trial {
  /** How many writes were acknowledged. */
  readonly acknowledged: number
  /** How many of them are not stored. */
  readonly lost: number
  /** Writes answered with `StoreUnavailable`; they may or may not be stored. */
  readonly refused: number
  /** From the promotion to the first write acknowledged that began after it. */
  readonly secondsToServe: number
}

const WRITERS = 16
const WRITES_BEFORE = 500
const WRITES_AFTER = 500

/** Starts a pair, kills its primary with `kill -9` amid the writes, and promotes the standby a moment later. */
export async function takeover(): Promise<Trial> {
  const pair = await startPair()
  const store = postgresStore({ url: pair.url })
  const collection = store.collection(notes)
  await store.prepare([notes])
  const acknowledged = new Set<string>()
  let refused = 0
  let promotedAt = Number.POSITIVE_INFINITY
  let backAt = 0
  let done = false

  async function keepWriting(): Promise<void> {
    while (!done) {
      const _id = crypto.randomUUID()
      const startedAt = performance.now()
      try {
        await collection.insert({ _id, n: acknowledged.size })
        acknowledged.add(_id)
        if (startedAt > promotedAt) backAt ||= performance.now()
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
        refused += 1
        await delay(10)
      }
    }
  }

  try {
    const writing = Promise.all(Array.from({ length: WRITERS }, keepWriting))
    // A writer that fails ends the trial.
    const reached = (holds: () => boolean) => Promise.race([writing, until(holds)])
    await reached(() => acknowledged.size > WRITES_BEFORE)
    pair.primary.signal('SIGKILL')
    await reached(() => refused > WRITERS)
    await pair.promote()
    promotedAt = performance.now()
    await reached(() => backAt > 0)
    const enough = acknowledged.size + WRITES_AFTER
    await reached(() => acknowledged.size > enough)
    done = true
    await writing
    const lost = await missing(store, acknowledged)
    const secondsToServe = (backAt - promotedAt) / 1000
    return { acknowledged: acknowledged.size, lost, refused, secondsToServe }
  } finally {
    done = true
    await store.close()
    await pair.stop()
  }
}

type PostgresStore = ReturnType<typeof postgresStore>

/** How many of `ids` are not stored. */
async function missing(store: PostgresStore, ids: ReadonlySet<string>): Promise<number> {
  const found = await store.collection(notes).count({ op: 'in', field: '_id', values: [...ids] })
  return ids.size - found
}
