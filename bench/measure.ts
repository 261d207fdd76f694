/**
 * One round: a fresh server, checked, warmed and loaded.
 *
 * @module
 */

import { checkAnswers } from './answers.ts'
import { type Load, load, type Requests } from './load.ts'
import type { Database } from './records/database.ts'
import { startProgram } from './server.ts'
import { type Contender, LIMIT } from './servers.ts'
import type { Work } from './works.ts'

/** What a server did in one round at one number of connections. */
export interface Sample extends Load {
  readonly connections: number
  /** Processor time of the server for each request. */
  readonly cpuMicroseconds: number
  /** Resident memory after the load. */
  readonly memoryMiB: number
}

/** How a round is measured. */
export interface Measure {
  readonly seconds: number
  readonly connections: readonly number[]
}

/** Attempts of a round that ends with an error or a wrong answer. */
const ATTEMPTS = 3

/**
 * The samples of one round. One with an error is thrown out and repeated; of a server that fails each time nothing is
 * known (NaN).
 */
export async function measureRound(
  server: Contender,
  work: Work,
  database: Database,
  measure: Measure,
): Promise<Sample[]> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      return await oneRound(server, work, database, measure)
    } catch (error) {
      const { message, cause } = error as Error
      console.error(`thrown out: ${message}${cause ? `, ${cause}` : ''}`)
    }
  }
  return measure.connections.map((connections) => ({ ...UNKNOWN, connections }))
}

/** A server's code is compiled while it is asked; the more there is of it, the longer that takes. */
const WARM_UP_SECONDS = 2

const UNKNOWN: Omit<Sample, 'connections'> = {
  requestsPerSecond: Number.NaN,
  p50Ms: Number.NaN,
  p99Ms: Number.NaN,
  errors: Number.NaN,
  cpuMicroseconds: Number.NaN,
  memoryMiB: Number.NaN,
}

async function oneRound(
  server: Contender,
  work: Work,
  database: Database,
  { seconds, connections }: Measure,
): Promise<Sample[]> {
  const place = database.place(server.owner, work.writes ?? false)
  const running = await startProgram(await server.command(place))
  const [{ base }, { size }] = [running, database.asked]
  try {
    const requests = await requestsFor(server, work, base)
    const check = () => checkAnswers(server, work, requests, { base, size })
    await check()
    await load(base, requests, work.seconds ? 1 : 16, WARM_UP_SECONDS)
    const duration = Math.max(seconds, work.seconds ?? 0)
    const samples: Sample[] = []
    for (const count of connections) {
      // Its answers come after those that the load before left behind.
      await check()
      const before = running.cpuSeconds()
      const seen = await load(base, requests, count, duration)
      const cpu = running.cpuSeconds() - before
      if (seen.errors > 0) throw new Error(`${server.name}, ${work.name}: ${seen.errors} errors`)
      if (seen.requestsPerSecond === 0) {
        throw new Error(`${server.name}, ${work.name}: no answer in ${duration} s`)
      }
      samples.push({
        ...seen,
        connections: count,
        cpuMicroseconds: (cpu / (seen.requestsPerSecond * duration)) * 1e6,
        memoryMiB: running.memoryMiB(),
      })
    }
    await check()
    return samples
  } finally {
    await running.stop()
    if (work.writes) await database.tidy()
  }
}

async function requestsFor(server: Contender, work: Work, base: string): Promise<Requests> {
  const plain = server.owner === 'fieldgate' ? work.requests : (work.ofPeers ?? work.requests)
  if (server.dialect) return server.dialect.asked(plain)
  const headers = await work.headers?.(base)
  return headers ? { ...plain, headers } : plain
}

/** The servers of a round in order: the limit in the middle, and every second round the other way about. */
export function orderOf(servers: readonly Contender[], round: number): Contender[] {
  const limit = servers.filter(({ name }) => name === LIMIT)
  const others = servers.filter(({ name }) => name !== LIMIT)
  const turned = round % 2 === 0 ? others : others.toReversed()
  const middle = round % 2 === 0 ? Math.floor(turned.length / 2) : Math.ceil(turned.length / 2)
  return [...turned.slice(0, middle), ...limit, ...turned.slice(middle)]
}
