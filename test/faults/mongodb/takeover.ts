/**
 * The trial of a failover: writers insert through the store while the primary is killed.
 *
 * @module
 */

import { MongoClient } from 'mongodb'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import type { Member, ReplicaSet } from '../../services/replica-set.ts'
import { notes } from './notes.ts'

/** What a trial saw. */
export interface Trial {
  /** The ids of the writes that were acknowledged. */
  readonly acknowledged: ReadonlySet<string>
  /** Writes answered with `StoreUnavailable`; they may or may not be stored. */
  readonly refused: number
  /** From the kill to the first write acknowledged that began after it. */
  readonly secondsWithoutPrimary: number
}

/** The server's parameter without which `takeover` may not stop replication. */
export const testCommands = 'enableTestCommands=true'

const WRITERS = 16
const WRITES_BEFORE = 500
const WRITES_AFTER = 500

/**
 * Kills the primary with `kill -9` amid the writes, while it holds some that no other member has, and starts it again
 * when writes go on. A store that took the primary's word alone would lose those.
 */
export async function takeover(set: ReplicaSet): Promise<Trial> {
  const store = mongoStore({ url: set.url, database: 'takeover' })
  const collection = store.collection(notes)
  const acknowledged = new Set<string>()
  let refused = 0
  let killedAt = Number.POSITIVE_INFINITY
  let backAt = 0
  let done = false

  async function keepWriting(): Promise<void> {
    while (!done) {
      const _id = crypto.randomUUID()
      const startedAt = performance.now()
      try {
        await collection.insert({ _id, n: acknowledged.size })
        acknowledged.add(_id)
        if (startedAt > killedAt) backAt ||= performance.now()
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
        refused += 1
      }
    }
  }

  const before = await collection.estimate()
  const primary = await set.primary()
  const others = set.members.filter((member) => member !== primary)
  const writing = Promise.all(Array.from({ length: WRITERS }, keepWriting))
  // A writer that fails ends the trial.
  const reached = (holds: () => boolean) => Promise.race([writing, until(holds)])
  await reached(() => acknowledged.size > WRITES_BEFORE)
  await replicate(others, 'off')
  await untilItHolds(primary, () => before + acknowledged.size + WRITERS / 2)
  killedAt = performance.now()
  primary.signal('SIGKILL')
  await replicate(others, 'on')
  await reached(() => backAt > 0)
  const enough = acknowledged.size + WRITES_AFTER
  await reached(() => acknowledged.size > enough)
  done = true
  await writing
  await store.close()
  await primary.restart()
  return { acknowledged, refused, secondsWithoutPrimary: (backAt - killedAt) / 1000 }
}

/** How many of `ids` are not stored. */
export async function missing(set: ReplicaSet, ids: ReadonlySet<string>): Promise<number> {
  const store = mongoStore({ url: set.url, database: 'takeover' })
  const records = await store.collection(notes).find({
    filter: everything,
    sort: [],
    limit: 1_000_000,
    select: { include: ['_id'] },
  })
  await store.close()
  const found = new Set(records.map(({ _id }) => String(_id)))
  return ids.difference(found).size
}

/** Lets members take over what the primary writes, or not. */
async function replicate(members: readonly Member[], mode: 'on' | 'off'): Promise<void> {
  const failPoint = {
    configureFailPoint: 'stopReplProducer',
    mode: mode === 'on' ? 'off' : 'alwaysOn',
  }
  await Promise.all(members.map((member) => member.command(failPoint)))
}

/** Waits until a member holds more records than `enough`, whether or not others have them. */
async function untilItHolds(member: Member, enough: () => number): Promise<void> {
  const client = new MongoClient(`mongodb://127.0.0.1:${member.port}/?directConnection=true`)
  const stored = client.db('takeover').collection(notes.name)
  while ((await stored.estimatedDocumentCount()) < enough()) await pause()
  await client.close()
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause()
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5))
}
