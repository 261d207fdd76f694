/**
 * Leases: of all processes, one at a time does a piece of work. It is won by one conditional write, and kept by writes as
 * long as the process lives. What the work leaves for the next holder is written under the same condition, so that a
 * process that has lost its lease changes nothing.
 */

import { ownId, ownSchema } from '../model/own-records.ts'
import { CONSUMERS } from '../ports/store/changes.ts'
import { all, is, withId } from '../ports/store/filter.ts'
import type { Fields } from '../ports/store/records.ts'
import type { Collection, CollectionSchema, WriteStep } from '../ports/store/store.ts'
import type { Host } from '../records/engine/host.ts'
import { type Pace, partOf } from './loop.ts'

/** How long a lease holds without a sign of life, in milliseconds. The clocks of processes may differ by some of it. */
export const LEASE_MS = 20_000
const BEAT_MS = 5000

/** The collection of what is done by one process at a time, and of how far it is. */
export const workSchema: CollectionSchema = ownSchema(CONSUMERS, {
  name: 'string',
  // Empty if no process has it.
  owner: 'string',
  // Until when the owner has it; without an owner, when it may be taken.
  until: 'date',
  // Of jobs: the schedule, the last tick that is done, the tick that runs, how often it was started, its error.
  ...{ schedule: 'string', done: 'date', tick: 'date', attempt: 'integer', error: 'string' },
  // Of consumers: the position up to which everything is done or held, and of which models, see `Known` in `changes/consumer.ts`.
  ...{ position: 'string', models: 'string' },
})

export function idOf(...name: readonly string[]): string {
  return ownId(JSON.stringify(name))
}

export interface Lease {
  /** Aborts when the lease is lost, or the signal of its pace aborts. */
  readonly signal: AbortSignal
  /** Whether another process may have the work. */
  readonly isLost: boolean
  /** Whether it is still this process's: asks, once another one may have taken it, as while this process stood still. */
  holds(): Promise<boolean>
  /** Writes what the next holder finds. Resolves to false if the lease is lost. */
  keep(set: Fields): Promise<boolean>
  /** Takes steps as one write, on stores that can; resolves to false if the lease is lost, or a step fails. */
  write(steps: readonly WriteStep[]): Promise<boolean>
  /** Gives the work back, with what the next holder finds. */
  end(set: Fields): Promise<void>
}

/** Takes the work whose record `found` was read; undefined if another process was faster. */
export async function takeLease(
  { database, now }: Pick<Host, 'database' | 'now'>,
  records: Collection,
  { _id, owner: before, until: lastUntil }: Fields,
  set: Fields,
  pace: Pace,
): Promise<Lease | undefined> {
  const owner = crypto.randomUUID()
  const until = () => new Date(now() + LEASE_MS)
  const id = withId(String(_id))
  let held = { until: until(), from: performance.now() }
  const isSilent = () => performance.now() > held.from + LEASE_MS
  // The clock of before stands still while a machine sleeps; this one may be set.
  const isOver = () => isSilent() || now() > held.until.getTime()
  const take = { set: { ...set, owner, until: held.until } }
  const expect = { owner: before, until: lastUntil }
  if (!(await records.update(id, take, { expect })) || isOver()) return undefined
  const [ending, release] = partOf(pace.signal)
  let isLost = false
  const lose = () => {
    isLost = true
    ending.abort(new Error('another process has taken over'))
  }
  const put = async (more: Fields): Promise<boolean> => {
    const next = { until: until(), from: performance.now() }
    const kept = await records.update(
      id,
      { set: { until: next.until, ...more } },
      { expect: { owner } },
    )
    if (kept) held = next
    else lose()
    return kept !== null
  }
  const keep = async (more: Fields) => !isLost && put(more)
  const rest = pace.every(BEAT_MS, () => {
    keep({}).catch(() => isSilent() && lose())
  })
  /** Resolves after a pause: a loop has time for as long as the end of a job's run is not noted. */
  const mayRetry = async (more: Fields): Promise<boolean> => {
    if (isSilent()) return 'error' in more && pace.sleep(now() + RETRY_MS)
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    return true
  }
  return {
    signal: ending.signal,
    get isLost() {
      return isLost
    },
    holds: async () => (isOver() ? keep({}) : !isLost),
    keep,
    async write(steps) {
      if (isLost || !database.write) return false
      const mine = all([id, is('owner', owner)])
      const require = { in: workSchema, require: mine, exists: true } as const
      const outcome = await database.write([require, ...steps])
      if ('results' in outcome) return true
      if (outcome.failed === 0) lose()
      return false
    },
    async end(more) {
      rest()
      release()
      const last = { owner: '', until: new Date(now()), ...more }
      // What was done must be known, or it is done again: unless another process has taken over, it can still be written.
      for (;;) {
        try {
          return void (await put(last))
        } catch (error) {
          if (!(await mayRetry(more))) throw error
        }
      }
    },
  }
}

/** The pause before what could not be written is written again, in milliseconds. */
const RETRY_MS = 1000

/** The pause after the `attempt`-th failure, in milliseconds: from 1 s to 1 h, which comes after the eleventh. */
export function pauseAfter(attempt: number): number {
  return Math.min(3_600_000, Math.round(1000 * 2.27 ** (attempt - 1)))
}
