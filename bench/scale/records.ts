/**
 * 10 million records.
 *
 * @module
 */

import { existsSync, statSync } from 'node:fs'
import type { Database } from '../records/database.ts'
import { withStore } from '../records/databases.ts'
import type { Sample } from '../sample.ts'
import { type Contender, contenders } from '../servers.ts'
import { median } from '../table.ts'
import { warmServer } from '../warm.ts'
import type { Work } from '../work.ts'
import { works } from '../works.ts'
import { count, type Figure, type Scale } from './part.ts'

const RECORDS = 10_000_000
const WORKS = {
  read: 'read by id',
  list: 'filtered list of 50',
  'cursor-first': 'first page by cursor',
  'cursor-page': 'last page by cursor',
  search: 'search for one record',
  create: 'create',
}
const CONNECTIONS = 16
const ROUNDS = 3
const SECONDS = 2

/** What requests take with so many records. */
export async function records({ factor, store }: Scale): Promise<Figure[]> {
  const size = RECORDS * factor
  const figures: Figure[] = []
  await withStore(store, async (databases) => {
    const database = await databases.database(size, ['fieldgate'])
    const place = database.place('fieldgate', false)
    if (existsSync(place)) {
      const bytes = statSync(place).size
      figures.push({ what: 'the file', figure: `${count(bytes / 2 ** 20)} MiB` })
    }
    const [server] = contenders[store]
    const all = works(database)
    for (const [name, what] of Object.entries(WORKS)) {
      const work = all.find((each) => each.name === name)
      if (!server || !work) continue
      figures.push({ what, figure: await measured(server, work, database) })
    }
    await database.close()
  })
  return figures.map(({ what, figure }) => ({ what: `${count(size)} records: ${what}`, figure }))
}

/** The medians of some rounds of `work`. */
export async function measured(server: Contender, work: Work, database: Database): Promise<string> {
  const { sample, stop } = await warmServer(server, work, database, SECONDS)
  const samples: Sample[] = []
  try {
    while (samples.length < ROUNDS) samples.push(await sample(CONNECTIONS))
  } finally {
    await stop()
  }
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick))
  return [
    `${count(of((sample) => sample.requestsPerSecond))} requests/s`,
    `CPU ${of((sample) => sample.cpuMicroseconds).toFixed(0)} µs`,
    `p50 ${of((sample) => sample.p50Ms).toFixed(1)} ms`,
    `p99 ${of((sample) => sample.p99Ms).toFixed(1)} ms`,
    `${of((sample) => sample.memoryMiB).toFixed(0)} MiB`,
  ].join(', ')
}
