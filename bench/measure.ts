/**
 * One round: a fresh server, checked, warmed and loaded; with a burden, without it first.
 *
 * @module
 */

import type { Database } from './records/database.ts'
import { type Sample, unknownSample } from './sample.ts'
import { type Contender, LIMIT } from './servers.ts'
import { warmServer } from './warm.ts'
import type { Work } from './work.ts'

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

async function oneRound(
  server: Contender,
  work: Work,
  database: Database,
  measure: Measure,
): Promise<Sample[]> {
  if (!work.burden) return samplesOf(server, work, database, measure)
  const { burden: _, ...plain } = work
  const without = await samplesOf(server, plain, database, measure)
  const samples = await samplesOf(server, work, database, measure)
  return samples.map((sample, at) => {
    const { p50Ms, cpuMicroseconds } = without[at] ?? unknownSample(sample.connections)
    return { ...sample, unburdened: { p50Ms, cpuMicroseconds } }
  })
}

async function samplesOf(
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

/** The servers of a round in order: the limit in the middle, and every second round the other way about. */
export function orderOf(servers: readonly Contender[], round: number): Contender[] {
  const limit = servers.filter(({ name }) => name === LIMIT)
  const others = servers.filter(({ name }) => name !== LIMIT)
  const turned = round % 2 === 0 ? others : others.toReversed()
  const middle = round % 2 === 0 ? Math.floor(turned.length / 2) : Math.ceil(turned.length / 2)
  return [...turned.slice(0, middle), ...limit, ...turned.slice(middle)]
}
