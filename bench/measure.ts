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
      throwOut(error)
    }
  }
  return measure.connections.map(unknownSample)
}

/** Says why a measurement counts for nothing. */
export function throwOut(error: unknown): void {
  const { message, cause } = error as Error
  console.error(`thrown out: ${message}${cause ? `, ${cause}` : ''}`)
}

/** Stands for a sample that was thrown out. */
export function unknownSample(connections: number): Sample {
  return {
    connections,
    requestsPerSecond: Number.NaN,
    p50Ms: Number.NaN,
    p99Ms: Number.NaN,
    errors: Number.NaN,
    cpuMicroseconds: Number.NaN,
    memoryMiB: Number.NaN,
  }
}

/** A server's code is compiled while it is asked; the more there is of it, the longer that takes. */
const WARM_UP_SECONDS = 2

async function oneRound(
  server: Contender,
  work: Work,
  database: Database,
  { seconds, connections }: Measure,
): Promise<Sample[]> {
  const warm = await warmServer(server, work, database, seconds)
  try {
    const samples: Sample[] = []
    for (const count of connections) samples.push(await warm.sample(count))
    return samples
  } finally {
    await warm.stop()
  }
}

/** A server that answers rightly and has been loaded for a while. */
export interface WarmServer {
  /** One load. Throws where a request fails or a wrong answer is given before or after it. */
  sample(connections: number): Promise<Sample>
  /** Ends it, and takes back what it wrote. */
  stop(): Promise<void>
}

/** Starts a server whose samples take `seconds`, or longer if the work asks for that. */
export async function warmServer(
  server: Contender,
  work: Work,
  database: Database,
  seconds: number,
): Promise<WarmServer> {
  const place = database.place(server.owner, work.writes ?? false)
  const running = await startProgram(await server.command(place))
  const [{ base }, { size }] = [running, database.asked]
  const duration = Math.max(seconds, work.seconds ?? 0)
  const stop = async () => {
    await running.stop()
    if (work.writes) await database.tidy()
  }
  try {
    const requests = await requestsFor(server, work, base)
    const check = () => checkAnswers(server, work, requests, { base, size })
    await check()
    await load(base, requests, work.seconds ? 1 : 16, WARM_UP_SECONDS)
    const sample = async (connections: number): Promise<Sample> => {
      // Its answers come after those that the load before left behind.
      await check()
      const before = running.cpuSeconds()
      const seen = await load(base, requests, connections, duration)
      const cpu = running.cpuSeconds() - before
      if (seen.errors > 0) throw new Error(`${server.name}, ${work.name}: ${seen.errors} errors`)
      if (seen.requestsPerSecond === 0) {
        throw new Error(`${server.name}, ${work.name}: no answer in ${duration} s`)
      }
      await check()
      return {
        ...seen,
        connections,
        cpuMicroseconds: (cpu / (seen.requestsPerSecond * duration)) * 1e6,
        memoryMiB: running.memoryMiB(),
      }
    }
    return { sample, stop }
  } catch (error) {
    await stop()
    throw error
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
