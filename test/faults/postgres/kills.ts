/**
 * The trial of ended connections: writers and readers use a store while its connections are ended again and again.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import connectTo from 'postgres'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { notes } from '../mongodb/notes.ts'
import { part } from '../report.ts'
import { until } from './until.ts'

/** What a trial saw. */
export interface Trial {
  readonly acknowledged: number
  /** How many acknowledged writes are not stored. */
  readonly lost: number
  /** Calls that ended with `StoreUnavailable`. */
  readonly refused: number
  /** The longest that a call took, in seconds. */
  readonly slowest: number
}

const CALLERS = 12
/** How many calls succeed between two kills. */
const CALLS_BETWEEN = 40

/** Ends all connections of a store in the schema `schema` at `url` `kills` times, under single writes, transactions and limited reads. */
export async function killed(url: string, schema: string, kills: number): Promise<Trial> {
  const address = new URL(url)
  const application = `kills-${crypto.randomUUID()}`
  address.searchParams.set('application_name', application)
  const store = postgresStore({ url: address.href, schema })
  const admin = connectTo(url, { max: 1 })
  const collection = store.collection(notes)
  await store.prepare([notes])
  const acknowledged = new Set<string>()
  let [succeeded, refused, slowest] = [0, 0, 0]
  let done = false

  const insert = () => ({ _id: crypto.randomUUID(), n: succeeded })
  const calls: readonly (() => Promise<unknown>)[] = [
    async () => {
      const record = insert()
      await collection.insert(record)
      acknowledged.add(record._id)
    },
    async () => {
      const [one, other] = [insert(), insert()]
      await store.write?.([
        { insert: one, in: notes },
        { insert: other, in: notes },
      ])
      acknowledged.add(one._id).add(other._id)
    },
    () => collection.count({ op: 'eq', field: 'n', value: 1 }, { timeLimitMs: 10_000 }),
  ]

  async function keepCalling(call: () => Promise<unknown>): Promise<void> {
    while (!done) {
      const startedAt = performance.now()
      try {
        await call()
        succeeded += 1
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
        refused += 1
        await delay(5)
      }
      slowest = Math.max(slowest, (performance.now() - startedAt) / 1000)
    }
  }

  try {
    const callers = Array.from({ length: CALLERS }, (_, index) => calls[index % calls.length])
    const calling = Promise.all(callers.map((call) => call && keepCalling(call)))
    for (let kill = 0; kill < kills; kill += 1) {
      const enough = succeeded + CALLS_BETWEEN
      // A caller that fails ends the trial.
      await Promise.race([calling, until(() => succeeded > enough)])
      await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${application}`
    }
    const enough = succeeded + CALLS_BETWEEN
    await Promise.race([calling, until(() => succeeded > enough)])
    done = true
    await Promise.race([calling, until(() => false)])
    const found = await collection.count({ op: 'in', field: '_id', values: [...acknowledged] })
    return { acknowledged: acknowledged.size, lost: acknowledged.size - found, refused, slowest }
  } finally {
    done = true
    await store.close()
    await admin.end()
  }
}

/** `npm run faults -- postgres-kills`: many kills, on a server of its own. */
export const postgresKills = part({
  about: 'ends all connections to PostgreSQL under writes, transactions and limited reads',
  options: { kills: 200 },
  async run({ kills }) {
    const { startPostgres } = await import('../../services/postgres.ts')
    const server = await startPostgres()
    try {
      const trial = await killed(server.url, 'public', kills)
      const { lost, slowest, ...counts } = trial
      const rows = [{ kills, ...counts, lost, 's at most': slowest.toFixed(2) }]
      return { rows, holds: lost === 0 && slowest < SOON }
    } finally {
      await server.stop()
    }
  },
})

/** In which time every call ends, in seconds. */
const SOON = 6
