/**
 * `npm run bench [-- <work> …]`: fieldgate beside the limit, each in a fresh process a round, in turns.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { prepareData } from './data.ts'
import { checkWrk, type Load, load } from './load.ts'
import { startServer } from './server.ts'
import { sameAnswers, type Work, works } from './works.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3)
const CONNECTIONS = [1, 16]

const servers = {
  fieldgate: './fieldgate.ts',
  bare: './peers/bare/sqlite.ts',
} as const
type ServerName = keyof typeof servers

interface Round extends Load {
  readonly server: ServerName
  readonly connections: number
  readonly cpuMicroseconds: number
  readonly memoryMiB: number
}

async function main(): Promise<void> {
  checkWrk()
  const data = await prepareData()
  const wanted = process.argv.slice(2)
  const chosen = works(data).filter((work) => wanted.length === 0 || wanted.includes(work.name))
  if (chosen.length === 0) throw new Error(`no work is named ${wanted.join(' or ')}`)
  console.log(
    `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}, load ${loadavg()[0]?.toFixed(2)}; ` +
      `${ROUNDS} rounds of ${SECONDS} s, medians; ratio = fieldgate / bare node:http + node:sqlite of the same round\n`,
  )
  console.log(header())
  const results: Record<string, readonly Round[]> = {}
  for (const work of chosen) {
    const rounds: Round[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const order: ServerName[] = round % 2 === 0 ? ['bare', 'fieldgate'] : ['fieldgate', 'bare']
      for (const server of order) rounds.push(...(await oneRound(server, work, data)))
    }
    results[work.name] = rounds
    for (const connections of CONNECTIONS) console.log(row(work, rounds, connections))
  }
  save(results)
}

async function oneRound(
  name: ServerName,
  work: Work,
  data: Awaited<ReturnType<typeof prepareData>>,
): Promise<Round[]> {
  const server = await startServer(servers[name], [data.copyFor(name)])
  const { requests } = work
  try {
    await sameAnswers(work, server.base)
    await load(server.base, requests, 16, 1)
    const rounds: Round[] = []
    for (const connections of CONNECTIONS) {
      const before = server.cpuSeconds()
      const seen = await load(server.base, requests, connections, SECONDS)
      if (seen.errors > 0) throw new Error(`${name}, ${work.name}: ${seen.errors} errors`)
      const cpu = server.cpuSeconds() - before
      rounds.push({
        ...seen,
        server: name,
        connections,
        cpuMicroseconds: (cpu / (seen.requestsPerSecond * SECONDS)) * 1e6,
        memoryMiB: server.memoryMiB(),
      })
    }
    return rounds
  } finally {
    await server.stop()
  }
}

const WIDTHS = [30, 4, 9, 9, 7, 15, 15, 15, 13]

function header(): string {
  return line([
    'work',
    'c',
    'ours/s',
    'limit/s',
    'ratio',
    'p50 ms (limit)',
    'p99 ms (limit)',
    'CPU µs (limit)',
    'MiB (limit)',
  ])
}

function row(work: Work, rounds: readonly Round[], connections: number): string {
  const of = (server: ServerName) =>
    rounds.filter((round) => round.server === server && round.connections === connections)
  const ours = of('fieldgate')
  const limit = of('bare')
  const middle = (list: readonly Round[], pick: (round: Round) => number) => median(list.map(pick))
  const ratio = median(
    ours.map((round, at) => round.requestsPerSecond / (limit[at]?.requestsPerSecond ?? Number.NaN)),
  )
  const pair = (pick: (round: Round) => number, digits: number) =>
    `${middle(ours, pick).toFixed(digits)} (${middle(limit, pick).toFixed(digits)})`
  return line([
    work.name,
    String(connections),
    middle(ours, (round) => round.requestsPerSecond).toFixed(0),
    middle(limit, (round) => round.requestsPerSecond).toFixed(0),
    ratio.toFixed(2),
    pair((round) => round.p50Ms, 2),
    pair((round) => round.p99Ms, 2),
    pair((round) => round.cpuMicroseconds, 0),
    pair((round) => round.memoryMiB, 0),
  ])
}

function line(cells: readonly string[]): string {
  return cells
    .map((cell, at) => (at === 0 ? cell.padEnd(WIDTHS[at] ?? 0) : cell.padStart(WIDTHS[at] ?? 0)))
    .join(' ')
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function save(results: Readonly<Record<string, readonly Round[]>>): void {
  const folder = fileURLToPath(new URL('./results/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  const machine = { cores: cpus().length, model: cpus()[0]?.model, node: process.version }
  writeFileSync(
    `${folder}sqlite.json`,
    `${JSON.stringify({ machine, rounds: ROUNDS, seconds: SECONDS, results }, null, 1)}\n`,
  )
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
