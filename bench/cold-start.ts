/**
 * Cold starts: milliseconds from the start of a process to its first answer, and its memory then.
 *
 * @module
 */

import { orderOf } from './measure.ts'
import type { Database } from './records/database.ts'
import { startProgram } from './server.ts'
import { type Contender, LIMIT } from './servers.ts'
import { median } from './table.ts'

/** The name of this work, which is no load. */
export const COLD_START = 'cold-start'

/** The starts of one server. */
export interface ColdStart {
  readonly server: string
  readonly milliseconds: readonly number[]
  readonly memoryMiB: readonly number[]
}

/** Starts each server `rounds` times, in turns. */
export async function coldStarts(
  servers: readonly Contender[],
  database: Database,
  rounds: number,
): Promise<ColdStart[]> {
  const starts = new Map<string, { milliseconds: number[]; memoryMiB: number[] }>()
  // The first round brings the programs from the disk.
  for (let round = 0; round <= rounds; round += 1) {
    for (const server of orderOf(servers, round)) {
      const { milliseconds, memoryMiB } = await firstAnswer(server, database)
      if (round === 0) continue
      const seen = starts.get(server.name) ?? { milliseconds: [], memoryMiB: [] }
      seen.milliseconds.push(milliseconds)
      seen.memoryMiB.push(memoryMiB)
      starts.set(server.name, seen)
    }
  }
  return servers.map(({ name }) => ({
    server: name,
    ...(starts.get(name) ?? { milliseconds: [], memoryMiB: [] }),
  }))
}

/** One start of a server: the time until its first answer, the processor's too, and its memory then. */
export async function firstAnswer(
  server: Contender,
  { asked, place }: Database,
): Promise<{ milliseconds: number; cpuSeconds: number; memoryMiB: number }> {
  const command = await server.command(place(server.owner, false))
  const requests = { method: 'GET', paths: [`/products/${asked.ids[0]}`] }
  const [path = ''] = (server.dialect?.asked(requests) ?? requests).paths
  const begun = performance.now()
  const running = await startProgram(command)
  try {
    const response = await fetch(running.base + path)
    await response.text()
    if (!response.ok) throw new Error(`${server.name} starts with a ${response.status}`)
    const milliseconds = performance.now() - begun
    return {
      milliseconds,
      cpuSeconds: running.cpuSeconds(),
      memoryMiB: running.memoryMiB(),
    }
  } finally {
    await running.stop()
  }
}

/** The table's lines. */
export function coldStartLines(starts: readonly ColdStart[]): string[] {
  const limit = starts.find(({ server }) => server === LIMIT)?.milliseconds ?? []
  return [
    `cold start         ${'server'.padEnd(19)} first answer, ms    ratio   MiB`,
    ...starts.map(({ server, milliseconds, memoryMiB }) => {
      const ratio = median(milliseconds.map((own, round) => own / (limit[round] ?? Number.NaN)))
      const cells = [
        median(milliseconds).toFixed(0).padStart(16),
        ratio.toFixed(2).padStart(8),
        median(memoryMiB).toFixed(0).padStart(5),
      ]
      return `${' '.repeat(18)} ${server.padEnd(19)} ${cells.join(' ')}`
    }),
  ]
}
