/**
 * `npm run bench [-- <work> …]`: fieldgate beside the limit and its peers, each in a fresh process a round, in turns; with
 * `--against <commit>` beside another commit.
 *
 * @module
 */

import { isAsFast } from './against/run.ts'
import { buildServers, installPeers } from './build.ts'
import { COLD_START, type ColdStart, coldStartLines, coldStarts } from './cold-start.ts'
import { checkWrk } from './load.ts'
import { measureRound, orderOf } from './measure.ts'
import { type Database, OWNERS } from './records/database.ts'
import { withStore } from './records/databases.ts'
import { machineLine, saveResults } from './results.ts'
import type { Sample } from './sample.ts'
import { type Contender, contenders, LIMIT, type StoreName } from './servers.ts'
import { readSettings, type Settings } from './settings.ts'
import { header, lineOf, type Row } from './table.ts'
import { DATABASES, type Work } from './work.ts'
import { chosen, works } from './works.ts'

async function main(): Promise<void> {
  const settings = readSettings(process.argv.slice(2))
  checkWrk()
  if (settings.against !== undefined) {
    process.exit((await isAsFast(settings.against, settings)) ? 0 : 1)
  }
  await buildServers()
  if (settings.stores.some((store) => store !== 'd1')) installPeers()
  for (const store of settings.stores) {
    console.log(`${store}, ${settings.size} records: preparing`)
    await withStore(store, async (databases) => {
      const database = await databases.database(settings.size, OWNERS)
      await runStore(store, database, settings)
    })
  }
}

async function runStore(store: StoreName, database: Database, settings: Settings): Promise<void> {
  console.log(
    `${machineLine()}; medians of ${settings.rounds} rounds of ${settings.seconds} s; ratio = to the limit of the same round\n`,
  )
  const rows: Row[] = []
  const all = works(database)
  const names = chosen([...all.map(({ name }) => name), COLD_START], settings.works)
  const loads = all.filter(
    ({ name, stores = DATABASES }) => names.includes(name) && stores.includes(store),
  )
  if (loads.length > 0) console.log(header())
  for (const work of loads) {
    const measured = await runWork(
      work,
      serversOf(store, work, database, settings),
      database,
      settings,
    )
    for (const row of measured) console.log(lineOf(row))
    rows.push(...measured)
  }
  const isTimed = names.includes(COLD_START) && DATABASES.includes(store)
  const starts = isTimed ? await startAll(store, database, settings) : []
  await database.close()
  console.log(`\n${machineLine()}\n`)
  // A part would pass for the whole.
  if (settings.works.length + settings.servers.length === 0) {
    saveResults(store, settings, rows, starts)
  }
}

async function runWork(
  work: Work,
  servers: readonly Contender[],
  database: Database,
  settings: Settings,
): Promise<Row[]> {
  const samples = new Map<string, Sample[]>()
  const { connections = settings.connections } = work
  for (let round = 0; round < settings.rounds; round += 1) {
    for (const server of orderOf(servers, round)) {
      const seen = await measureRound(server, work, database, { ...settings, connections })
      samples.set(server.name, [...(samples.get(server.name) ?? []), ...seen])
    }
  }
  return connections.flatMap((count) => {
    const of = (server: string) =>
      (samples.get(server) ?? []).filter((sample) => sample.connections === count)
    return servers.map(({ name }) => ({
      work: work.name,
      connections: count,
      server: name,
      samples: of(name),
      limit: of(LIMIT),
    }))
  })
}

async function startAll(
  store: StoreName,
  database: Database,
  settings: Settings,
): Promise<ColdStart[]> {
  const start = { name: COLD_START, with: ['peers', 'runtimes'] } as const
  const servers = serversOf(store, start, database, settings)
  const starts = await coldStarts(servers, database, settings.rounds + 2)
  console.log(`\n${coldStartLines(starts).join('\n')}`)
  return starts
}

function serversOf(
  store: StoreName,
  work: Pick<Work, 'name' | 'with'>,
  { owners }: Database,
  { servers }: Settings,
): Contender[] {
  const takesPart = ({ name, kind, works }: Contender) =>
    (kind === 'own' || work.with.includes(kind)) &&
    (works?.includes(work.name) ?? true) &&
    (servers.length === 0 || servers.includes(name))
  return contenders[store].filter(
    (server) => owners.includes(server.owner) && (server.name === LIMIT || takesPart(server)),
  )
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
