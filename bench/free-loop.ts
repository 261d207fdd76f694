/**
 * `npm run bench:free-loop`: what reads by id take while others ask for what no index serves.
 *
 * @module
 */

import { buildServers } from './build.ts'
import { checkWrk, type Load, load } from './load.ts'
import type { Database } from './records/database.ts'
import { withStore } from './records/databases.ts'
import { machineLine } from './results.ts'
import { startProgram } from './server.ts'
import { contenders } from './servers.ts'
import { readSettings, type Settings } from './settings.ts'

const SIZE = 1_000_000

/** How many clients ask for what takes long, each again as soon as it is answered. */
const CLIENTS = 2

/** What they ask for, by what it is. */
const shapes = ({ asked }: Database): Readonly<Record<string, string>> => ({
  'the last page': `/products?page=${asked.lastPage}&pageSize=50`,
  'two letters': '/products?s=zq',
})

async function main(): Promise<void> {
  const settings = readSettings(process.argv.slice(2), SIZE)
  checkWrk()
  await buildServers()
  await withStore('sqlite', async ({ database }) => {
    console.log(`${settings.size} records: preparing`)
    const records = await database(settings.size, ['fieldgate'])
    console.log(
      `${machineLine()}\n\n${line('others ask for', 'p50 ms', 'p99 ms', 'reads/s', 'others/s')}`,
    )
    for (let round = 0; round < settings.rounds; round += 1) await measure(records, settings)
    await records.close()
    console.log(`\n${machineLine()}`)
  })
}

/** One round: reads by id alone, then beside each kind of the others. */
async function measure(database: Database, { seconds }: Settings): Promise<void> {
  const [server] = contenders.sqlite
  if (!server) throw new Error('there is no server')
  const running = await startProgram(await server.command(database.place('fieldgate', false)))
  try {
    const { base } = running
    const reads = { method: 'GET', paths: database.asked.ids.map((id) => `/products/${id}`) }
    const read = () => load(base, reads, 1, seconds)
    await read()
    show('nothing', await read(), 0)
    for (const [name, path] of Object.entries(shapes(database))) {
      const { load, answers } = await beside(base + path, read)
      show(name, load, answers / seconds)
    }
  } finally {
    await running.stop()
  }
}

/** What `read` gives while the clients ask for `url`, and how often they were answered. */
async function beside(
  url: string,
  read: () => Promise<Load>,
): Promise<{ load: Load; answers: number }> {
  let [isOver, answers] = [false, 0]
  const ask = async (): Promise<void> => {
    const response = await fetch(url)
    if (!response.ok) throw new Error(`${url}: ${response.status}`)
    await response.arrayBuffer()
  }
  const client = async (): Promise<void> => {
    while (!isOver) {
      await ask()
      answers += 1
    }
  }
  await ask()
  const clients = Array.from({ length: CLIENTS }, client)
  const measured = await read()
  isOver = true
  const before = answers
  await Promise.all(clients)
  return { load: measured, answers: before }
}

function show(name: string, { p50Ms, p99Ms, requestsPerSecond }: Load, others: number): void {
  const numbers = [p50Ms, p99Ms, requestsPerSecond, others].map((number) => number.toFixed(2))
  console.log(line(name, ...numbers))
}

function line(name: string, ...cells: readonly string[]): string {
  return name.padEnd(16) + cells.map((cell) => cell.padStart(10)).join('')
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
