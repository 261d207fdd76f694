/**
 * `npm run bench:bridge`: what it costs to turn node:http's request into a Request, and a Response back.
 *
 * Every bridge and bare node:http do the same works, each in a fresh process a round, the order turning round by
 * round; the ratios are to bare node:http of the same round.
 *
 * @module
 */

import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { checkWrk, load } from '../load.ts'
import { startServer } from '../server.ts'
import { median } from '../table.ts'
import { works } from './works.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2)
const CONNECTIONS = [16, 1]
const BARE = 'bare'
const NAMES = [
  BARE,
  'srvx',
  'srvx FastResponse',
  '@hono/node-server',
  '@hono/node-server, globals replaced',
]

interface Seen {
  readonly bridge: string
  readonly work: string
  readonly connections: number
  readonly round: number
  readonly requestsPerSecond: number
  readonly p99Ms: number
  readonly cpuMicroseconds: number
}

async function main(): Promise<void> {
  checkWrk()
  const names = process.argv.length > 2 ? [BARE, ...process.argv.slice(2)] : NAMES
  const seen: Seen[] = []
  const load = loadavg()[0]
  for (let round = 0; round < ROUNDS; round += 1) {
    const at = round % names.length
    for (const name of [...names.slice(at), ...names.slice(0, at)]) {
      seen.push(...(await oneRound(name, round)))
    }
    console.error(`round ${round + 1} of ${ROUNDS}`)
  }
  console.log(table(names, seen))
  if (process.argv.length === 2) save(seen, load)
}

async function oneRound(bridge: string, round: number): Promise<Seen[]> {
  const server = await startServer('./bridge/bridges.ts', [bridge])
  const seen: Seen[] = []
  try {
    for (const [work, requests] of Object.entries(works)) {
      await load(server.base, requests, 16, 1)
      for (const connections of CONNECTIONS) {
        const before = server.cpuSeconds()
        const { requestsPerSecond, p99Ms, errors } = await load(
          server.base,
          requests,
          connections,
          SECONDS,
        )
        if (errors > 0) throw new Error(`${bridge}, ${work}: ${errors} errors`)
        const cpuMicroseconds =
          ((server.cpuSeconds() - before) / (requestsPerSecond * SECONDS)) * 1e6
        seen.push({ bridge, work, connections, round, requestsPerSecond, p99Ms, cpuMicroseconds })
      }
    }
  } finally {
    await server.stop()
  }
  return seen
}

/** Markdown: requests a second as a ratio to bare node:http, and CPU a request in microseconds. */
function table(names: readonly string[], seen: readonly Seen[]): string {
  const columns = Object.keys(works).flatMap((work) =>
    CONNECTIONS.map((connections) => ({ work, connections })),
  )
  const head = columns.map(({ work, connections }) => `${work} c=${connections}`)
  const rows = names.map((bridge) => {
    const cells = columns.map(({ work, connections }) => {
      const of = (name: string) =>
        seen.filter(
          (one) => one.bridge === name && one.work === work && one.connections === connections,
        )
      const ours = of(bridge)
      const limit = of(BARE)
      const cpu = median(ours.map((one) => one.cpuMicroseconds)).toFixed(0)
      if (bridge === BARE)
        return `${median(limit.map((one) => one.requestsPerSecond)).toFixed(0)}/s (${cpu} µs)`
      const ratios = ours.map(
        (one, at) => one.requestsPerSecond / (limit[at]?.requestsPerSecond ?? Number.NaN),
      )
      return `${median(ratios).toFixed(2)} (${cpu} µs)`
    })
    return `| ${bridge} | ${cells.join(' | ')} |`
  })
  return [
    `| bridge | ${head.join(' | ')} |`,
    `|---|${head.map(() => '---:|').join('')}`,
    ...rows,
  ].join('\n')
}

function save(seen: readonly Seen[], load: number | undefined): void {
  const machine = {
    cores: cpus().length,
    model: cpus()[0]?.model.trim(),
    node: process.version,
    load,
  }
  const file = fileURLToPath(new URL('./results.json', import.meta.url))
  writeFileSync(
    file,
    `${JSON.stringify({ machine, rounds: ROUNDS, seconds: SECONDS, seen }, null, 1)}\n`,
  )
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
