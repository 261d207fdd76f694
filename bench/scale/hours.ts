/**
 * An hour of mixed load.
 *
 * @module
 */

import { throwOut } from '../measure.ts'
import type { Database } from '../records/database.ts'
import { withStore } from '../records/databases.ts'
import type { Sample } from '../sample.ts'
import { contenders } from '../servers.ts'
import { median } from '../table.ts'
import { warmServer } from '../warm.ts'
import { get, type Work } from '../work.ts'
import { works } from '../works.ts'
import { count, type Figure, type Scale } from './part.ts'

const SECONDS = 3600
const RECORDS = 200_000
const CONNECTIONS = 16
/** The hour is loaded in so many pieces, each over new connections; memory is looked at after each. */
const PIECES = 60
/** Of the reads; every twentieth request is a create. */
const MIXTURE = ['read', 'list', 'read', 'cursor-page', 'search', 'list-totals', 'hot', 'read']
const CREATES = 20

/** Whether memory grows, or requests become slower. */
export async function hours({ factor, store }: Scale): Promise<Figure[]> {
  const seconds = Math.max(1, Math.round((SECONDS * factor) / PIECES))
  const samples: Sample[] = []
  let failures = 0
  await withStore(store, async (databases) => {
    const database = await databases.database(RECORDS, ['fieldgate'])
    const [server] = contenders[store]
    if (!server) return
    const warm = await warmServer(server, mixed(database), database, seconds)
    try {
      for (let left = PIECES; left > 0; left -= 1) {
        try {
          samples.push(await warm.sample(CONNECTIONS))
        } catch (error) {
          throwOut(error)
          failures += 1
        }
      }
    } finally {
      await warm.stop()
    }
    await database.close()
  })
  const requests = samples.reduce((sum, sample) => sum + sample.requestsPerSecond * seconds, 0)
  const what = `${count((seconds * PIECES) / 60)} minutes of mixed load`
  const tenth = Math.ceil(PIECES / 10)
  return [
    {
      what,
      figure: `${count(requests)} requests, ${failures} of ${PIECES} pieces with an error; memory ${count(Math.max(...samples.map(({ memoryMiB }) => memoryMiB)))} MiB at most`,
    },
    { what: `${what}: the first tenth`, figure: pieceOf(samples.slice(0, tenth)) },
    { what: `${what}: the last tenth`, figure: pieceOf(samples.slice(-tenth)) },
  ]
}

function pieceOf(samples: readonly Sample[]): string {
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick))
  return `${count(of((sample) => sample.memoryMiB))} MiB, ${count(of((sample) => sample.ownMemoryMiB))} without mapped files, CPU ${count(of((sample) => sample.cpuMicroseconds))} µs, p99 ${of((sample) => sample.p99Ms).toFixed(1)} ms`
}

/** The kinds of reads in turn, so that each piece has all of them. */
function mixed(database: Database): Work {
  const all = works(database)
  const pathsOf = (name: string) => all.find((work) => work.name === name)?.requests.paths ?? []
  const kinds = MIXTURE.map(pathsOf)
  const turns = database.asked.ids.map((_, turn) =>
    kinds.map((paths) => paths[turn % paths.length] ?? ''),
  )
  const create = all.find(({ name }) => name === 'create')?.requests
  return {
    name: 'hours',
    requests: {
      ...get(...turns.flat()),
      ...(create && { every: { nth: CREATES, is: create } }),
    },
    with: [],
    writes: true,
  }
}
