/**
 * `npm run bench:processes`: what a second process brings, to fieldgate and to the limit.
 *
 * The four servers run all the time and are loaded in turns, so that a busy moment meets all of them alike.
 *
 * @module
 */

import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildServers, built, installPeers } from './build.ts'
import { checkWrk, type Load, load } from './load.ts'
import type { Database, Owner } from './records/database.ts'
import { withStore } from './records/databases.ts'
import { machineLine } from './results.ts'
import { startProgram } from './server.ts'
import type { StoreName } from './servers.ts'
import { readSettings, type Settings } from './settings.ts'
import { median } from './table.ts'
import type { Work } from './work.ts'
import { chosen, works } from './works.ts'

/** The works that are measured unless others are named. */
const WORKS = ['read', 'list', 'create']
const PROCESSES = '2'
/** Each of two processes compiles its own code, so both need many requests before they are fast. */
const WARM_UP = 20_000
const MOST_WARM_UP_SECONDS = 60

interface Contestant {
  readonly name: string
  readonly owner: Owner
  command(place: string): readonly string[]
}

interface Sample extends Load {
  readonly cpuMicroseconds: number
}

const node = [process.execPath, '--no-warnings']

function contestants(store: StoreName): Contestant[] {
  const limit = built(`peers/bare/${store}`)
  const own = built('fieldgate/node')
  return [
    { name: 'limit, 1', owner: 'peers', command: (place) => [...node, limit, place] },
    {
      name: `limit, ${PROCESSES}`,
      owner: 'peers',
      command: (place) => [...node, built('peers/cluster'), PROCESSES, limit, place],
    },
    { name: 'fieldgate, 1', owner: 'fieldgate', command: (place) => [...node, own, place] },
    {
      name: `fieldgate, ${PROCESSES}`,
      owner: 'fieldgate',
      command: (place) => [...node, own, place, PROCESSES],
    },
  ]
}

async function main(): Promise<void> {
  const settings = readSettings(process.argv.slice(2))
  checkWrk()
  await buildServers()
  if (settings.stores.includes('mongodb')) installPeers()
  for (const store of settings.stores) {
    console.log(`${store}, ${settings.size} records: preparing`)
    await withStore(store, async ({ database }) => {
      const records = await database(settings.size, ['fieldgate', 'peers'])
      const all = works(records)
      const names = chosen(
        all.map(({ name }) => name),
        settings.works.length > 0 ? settings.works : WORKS,
      )
      for (const work of all.filter(({ name }) => names.includes(name))) {
        for (const connections of settings.connections) {
          await measure(store, work, records, { ...settings, connections: [connections] })
        }
      }
      await records.close()
    })
  }
}

interface Running {
  readonly name: string
  readonly samples: Sample[]
  sample(): Promise<Sample>
  stop(): Promise<void>
}

async function measure(
  store: StoreName,
  work: Work,
  records: Database,
  { rounds, seconds, connections: [connections = 16] }: Settings,
): Promise<void> {
  console.log(`\n${store}, ${work.name}, ${connections} connections; ${machineLine()}`)
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-bench-processes-'))
  const running: Running[] = []
  try {
    for (const [at, contestant] of contestants(store).entries()) {
      const place = records.place(contestant.owner, false)
      const own = work.writes ? copied(place, join(folder, `${at}.db`)) : place
      running.push(await warmServer(contestant, own, work, { connections, seconds }))
    }
    for (let round = 0; round < rounds; round += 1) {
      const turns = round % 2 === 0 ? running : running.toReversed()
      for (const one of turns) one.samples.push(await one.sample())
    }
    show(running)
  } finally {
    for (const one of running) await one.stop()
    rmSync(folder, { recursive: true, force: true })
    if (work.writes) await records.tidy()
  }
}

async function warmServer(
  { name, owner, command }: Contestant,
  place: string,
  work: Work,
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<Running> {
  const server = await startProgram(command(place))
  const requests = (owner === 'peers' && work.ofPeers) || work.requests
  const ask = (time: number) => load(server.base, requests, connections, time)
  await warm(ask)
  const sample = async (): Promise<Sample> => {
    const before = server.cpuSeconds()
    const seen = await ask(seconds)
    const spent = server.cpuSeconds() - before
    return { ...seen, cpuMicroseconds: (spent * 1e6) / (seen.requestsPerSecond * seconds) }
  }
  return { name, samples: [], sample, stop: () => server.stop() }
}

function show(all: readonly Running[]): void {
  for (const { name, samples } of all) console.log(lineOf(name, samples))
  const [limit, limits, own, owns] = all.map(({ samples }) => samples)
  const [ofLimit, ofOwn] = [gain(limit, limits), gain(own, owns)]
  const [gains, part] = [[ofLimit, ofOwn].map((times) => times.toFixed(2)), ofOwn / ofLimit]
  console.log(
    `two processes bring the limit ${gains[0]} ×, fieldgate ${gains[1]} ×: ${part.toFixed(2)} of it; load ${loadavg()[0]?.toFixed(1)}`,
  )
}

async function warm(ask: (seconds: number) => Promise<Load>): Promise<void> {
  let [asked, spent] = [0, 0]
  while (asked < WARM_UP && spent < MOST_WARM_UP_SECONDS) {
    asked += (await ask(2)).requestsPerSecond * 2
    spent += 2
  }
}

/** A copy of a file; a place that is none remains as it is. */
function copied(from: string, to: string): string {
  if (!existsSync(from)) return from
  for (const end of ['', '-wal']) if (existsSync(from + end)) copyFileSync(from + end, to + end)
  return to
}

function lineOf(name: string, samples: readonly Sample[]): string {
  const of = (pick: (sample: Sample) => number) => {
    const values = samples.map(pick)
    const [least, most] = [Math.min(...values), Math.max(...values)]
    return `${median(values).toFixed(0)} (${least.toFixed(0)}–${most.toFixed(0)})`
  }
  const errors = samples.reduce((sum, sample) => sum + sample.errors, 0)
  const figures = [
    `${of((sample) => sample.requestsPerSecond)} req/s`,
    `CPU ${of((sample) => sample.cpuMicroseconds)} µs`,
    `p50 ${median(samples.map(({ p50Ms }) => p50Ms)).toFixed(2)} ms`,
    `p99 ${median(samples.map(({ p99Ms }) => p99Ms)).toFixed(2)} ms`,
  ]
  return `${name.padEnd(13)} ${figures.join('  ')}${errors > 0 ? `  ${errors} errors` : ''}`
}

/** The median of the rounds' ratios. */
function gain(one: readonly Sample[] = [], two: readonly Sample[] = []): number {
  return median(
    two.map(
      ({ requestsPerSecond }, round) => requestsPerSecond / (one[round]?.requestsPerSecond ?? NaN),
    ),
  )
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
