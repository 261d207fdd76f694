/**
 * `npm run bench [-- <work> …]`: fieldgate beside the limit and its peers, each in a fresh process a round, in turns.
 *
 * @module
 */

import { buildServers, installPeers } from './build.ts'
import { checkWrk } from './load.ts'
import { measureRound, orderOf, type Sample } from './measure.ts'
import type { Database } from './records/database.ts'
import { withStore } from './records/databases.ts'
import { machineLine, saveResults } from './results.ts'
import { type Contender, contenders, LIMIT, type StoreName } from './servers.ts'
import { readSettings, type Settings } from './settings.ts'
import { header, lineOf, type Row } from './table.ts'
import { type Work, works } from './works.ts'

async function main(): Promise<void> {
  const settings = readSettings(process.argv.slice(2))
  checkWrk()
  buildServers()
  if (settings.stores.includes('mongodb')) installPeers()
  for (const store of settings.stores) {
    console.log(`${store}, ${settings.size} records: preparing`)
    await withStore(store, async (databases) => {
      const database = await databases.database(settings.size, ['fieldgate', 'peers', 'pocketbase'])
      await runStore(store, database, settings)
    })
  }
}

async function runStore(store: StoreName, database: Database, settings: Settings): Promise<void> {
  console.log(
    `${machineLine()}; medians of ${settings.rounds} rounds of ${settings.seconds} s; ratio = to the limit of the same round\n`,
  )
  console.log(header())
  const rows: Row[] = []
  for (const work of chosen(works(database), settings.works)) {
    const measured = await runWork(
      work,
      serversOf(store, work, database, settings),
      database,
      settings,
    )
    for (const row of measured) console.log(lineOf(row))
    rows.push(...measured)
  }
  await database.close()
  console.log(`\n${machineLine()}\n`)
  // A part would pass for the whole.
  if (settings.works.length + settings.servers.length === 0) saveResults(store, settings, rows)
}

async function runWork(
  work: Work,
  servers: readonly Contender[],
  database: Database,
  settings: Settings,
): Promise<Row[]> {
  const samples = new Map<string, Sample[]>()
  for (let round = 0; round < settings.rounds; round += 1) {
    for (const server of orderOf(servers, round)) {
      const seen = await measureRound(server, work, database, settings)
      samples.set(server.name, [...(samples.get(server.name) ?? []), ...seen])
    }
  }
  return settings.connections.flatMap((connections) => {
    const of = (server: string) =>
      (samples.get(server) ?? []).filter((sample) => sample.connections === connections)
    return servers.map(({ name }) => ({
      work: work.name,
      connections,
      server: name,
      samples: of(name),
      limit: of(LIMIT),
    }))
  })
}

function chosen(all: readonly Work[], names: readonly string[]): readonly Work[] {
  const unknown = names.filter((name) => !all.some((work) => work.name === name))
  if (unknown.length > 0) {
    throw new Error(`no work is named ${unknown.join()}: ${all.map(({ name }) => name).join(', ')}`)
  }
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name))
}

function serversOf(
  store: StoreName,
  work: Work,
  { owners }: Database,
  { servers }: Settings,
): Contender[] {
  const takesPart = ({ name, kind }: Contender) =>
    (kind === 'own' || work.with.includes(kind)) && (servers.length === 0 || servers.includes(name))
  return contenders[store].filter(
    (server) => owners.includes(server.owner) && (server.name === LIMIT || takesPart(server)),
  )
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
