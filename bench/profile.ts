/**
 * `npm run bench:profile -- <work>`: where fieldgate's processor time goes, line by line.
 *
 * @module
 */

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { checkWrk, load } from './load.ts'
import type { Database } from './records/database.ts'
import { withStore } from './records/databases.ts'
import { FROM_SOURCE, startProgram } from './server.ts'
import { readSettings, type Settings } from './settings.ts'
import type { Work } from './work.ts'
import { works } from './works.ts'

/** How many lines are printed. */
const TOP = 30

const root = new URL('../', import.meta.url).href
const folder = fileURLToPath(new URL('../.cache/bench/profiles/', import.meta.url))
// The sources themselves, so that the profile names their lines.
const server = fileURLToPath(new URL('./fieldgate/node.ts', import.meta.url))

async function main(): Promise<void> {
  const settings = readSettings(process.argv.slice(2))
  checkWrk()
  mkdirSync(folder, { recursive: true })
  for (const store of settings.stores) {
    await withStore(store, async (databases) => {
      const database = await databases.database(settings.size, ['fieldgate'])
      for (const work of works(database)) {
        const name = `${store}-${work.name}.cpuprofile`
        if (settings.works.includes(work.name)) await profile(name, work, database, settings)
      }
      await database.close()
    })
  }
}

async function profile(
  name: string,
  work: Work,
  database: Database,
  { connections, seconds }: Settings,
): Promise<void> {
  // One file for each thread, whose number is in the name: that of the event loop is 0.
  const threads = `${folder}threads/`
  rmSync(threads, { recursive: true, force: true })
  const flags = [FROM_SOURCE, '--no-warnings', '--cpu-prof', `--cpu-prof-dir=${threads}`]
  const place = database.place('fieldgate', work.writes ?? false)
  const running = await startProgram([process.execPath, ...flags, server, place])
  const headers = await work.headers?.(running.base)
  const requests = headers ? { ...work.requests, headers } : work.requests
  await load(running.base, requests, 16, 1)
  const count = connections.at(-1) ?? 16
  const from = now()
  const seen = await load(running.base, requests, count, Math.max(5, seconds))
  const to = now()
  await running.stop('SIGTERM')
  await database.tidy()
  const eventLoop = readdirSync(threads).find((file) => file.split('.').at(-3) === '0')
  if (!eventLoop) throw new Error('the server left no profile')
  renameSync(threads + eventLoop, folder + name)
  console.log(
    `\n${name}: ${seen.requestsPerSecond.toFixed(0)} req/s at c=${count}, profiled; ${seen.errors} errors; in ${folder}`,
  )
  const content = JSON.parse(readFileSync(folder + name, 'utf8')) as Profile
  for (const line of topLines(content, from, to)) console.log(line)
}

/** The clock of profiles: microseconds of the system's monotonic one. */
function now(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

interface Profile {
  readonly startTime: number
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: {
      readonly functionName: string
      readonly url: string
      readonly lineNumber: number
    }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Functions by their own time between the two moments, as shares of the time that was not idle. */
function topLines(
  { startTime, nodes, samples, timeDeltas }: Profile,
  from: number,
  to: number,
): string[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const spent = new Map<string, number>()
  let at = startTime
  let busy = 0
  for (const [index, id] of samples.entries()) {
    const delta = timeDeltas[index] ?? 0
    at += delta
    const name = names.get(id) ?? ''
    if (at < from || at > to || name === '(idle)') continue
    busy += delta
    spent.set(name, (spent.get(name) ?? 0) + delta)
  }
  const sorted = [...spent].sort(([, a], [, b]) => b - a)
  const lines = sorted.map(
    ([name, time]) => `${((time / busy) * 100).toFixed(1).padStart(5)} %  ${name}`,
  )
  return [`busy ${((busy / (to - from)) * 100).toFixed(0)} % of the time`, ...lines.slice(0, TOP)]
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const place = url.replace(root, '').replace(/^.*node_modules\//, '')
  return place === '' ? functionName : `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
