/**
 * `npm run bench:growth [-- <work> …]`: what a hundred times as many records cost.
 *
 * @module
 */

import { buildServers } from './build.ts'
import { checkWrk } from './load.ts'
import { throwOut } from './measure.ts'
import type { Database } from './records/database.ts'
import { withStore } from './records/databases.ts'
import { machineLine, saveResults } from './results.ts'
import { type Sample, unknownSample } from './sample.ts'
import { contenders, type StoreName } from './servers.ts'
import { readSettings, type Settings } from './settings.ts'
import { header, lineOf, type Row } from './table.ts'
import { type WarmServer, warmServer } from './warm.ts'
import { get, type Work } from './work.ts'
import { chosen, works } from './works.ts'

const LARGEST = 1_000_000
const SHARED = ['read', 'list', 'cursor-first', 'cursor-page', 'search', 'create']

/** Those that the limit and the peers are not asked for. */
const OWN: readonly Work[] = [
  { name: 'list-20', requests: get('/feed/products?pageSize=20'), with: [] },
  { name: 'sort', requests: get('/products?sort=-price'), with: [] },
]

async function main(): Promise<void> {
  const settings = readSettings(process.argv.slice(2), LARGEST)
  const sizes = [100, 10, 1].map((part) => settings.size / part)
  checkWrk()
  await buildServers()
  for (const store of settings.stores) {
    console.log(`${store}, ${sizes.join(', ')} records: preparing`)
    await withStore(store, async ({ database }) => {
      const databases: Database[] = []
      for (const size of sizes) databases.push(await database(size, ['fieldgate']))
      await grow(store, databases, settings)
      for (const each of databases) await each.close()
    })
  }
}

async function grow(
  store: StoreName,
  databases: readonly Database[],
  settings: Settings,
): Promise<void> {
  console.log(
    `${machineLine()}; medians of ${settings.rounds} rounds of ${settings.seconds} s; ratio = to ${settings.size / 100} records in the same round\n`,
  )
  console.log(header('records'))
  const rows: Row[] = []
  const all = [...SHARED, ...OWN.map(({ name }) => name)]
  for (const name of chosen(all, settings.works)) {
    for (const row of await growWork(name, store, databases, settings)) {
      console.log(lineOf(row))
      rows.push(row)
    }
  }
  console.log(`\n${machineLine()}\n`)
  // A part would pass for the whole.
  if (settings.works.length === 0) saveResults(`growth-${store}`, settings, rows)
}

/** All sizes have a server at the same time and are loaded in turns, so that a busy moment meets them alike. */
async function growWork(
  name: string,
  store: StoreName,
  databases: readonly Database[],
  settings: Settings,
): Promise<Row[]> {
  const sizes: { warm: WarmServer; size: number; samples: Sample[] }[] = []
  try {
    for (const database of databases) {
      sizes.push({
        warm: await warmFor(name, store, database, settings),
        size: database.asked.size,
        samples: [],
      })
    }
    for (let round = 0; round < settings.rounds; round += 1) {
      for (const { warm, samples } of round % 2 === 0 ? sizes : sizes.toReversed()) {
        for (const connections of settings.connections) {
          samples.push(await sampleOf(warm, connections))
        }
      }
    }
  } finally {
    for (const { warm } of sizes) await warm.stop()
  }
  return settings.connections.flatMap((connections) => {
    const rows = sizes.map(({ size, samples }) => ({
      work: name,
      connections,
      server: String(size),
      samples: samples.filter((sample) => sample.connections === connections),
    }))
    return rows.map((row) => ({ ...row, limit: rows[0]?.samples ?? [] }))
  })
}

function warmFor(
  name: string,
  store: StoreName,
  database: Database,
  { seconds }: Settings,
): Promise<WarmServer> {
  const [server] = contenders[store]
  const work = [...works(database), ...OWN].find((each) => each.name === name)
  if (!server || !work) throw new Error(`no work is named ${name}`)
  return warmServer(server, work, database, seconds)
}

async function sampleOf(warm: WarmServer, connections: number): Promise<Sample> {
  try {
    return await warm.sample(connections)
  } catch (error) {
    throwOut(error)
    return unknownSample(connections)
  }
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
