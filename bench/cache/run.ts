/**
 * `npm run bench:cache`: what a read through the cache costs, beside a constant answer of the same Node adapter and
 * beside the app without a cache.
 *
 * Each server is a fresh process a round, the order turning round by round; ratios are to the limit of the same
 * round. `REDIS_URL` names a Valkey to use; else one is started.
 *
 * @module
 */

import { cpus, loadavg } from 'node:os'
import { valkey } from '../../test/services/valkey.ts'
import { checkWrk, type Load, load, type Requests } from '../load.ts'
import { type Server, startServer } from '../server.ts'
import { median } from '../table.ts'
import { memoryBound } from './memory.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2)
const CONNECTIONS = 16
/** More than any server answers in a round, so that none is asked for twice. */
const COLD = 100_000
const CROWD = 200
const COLD_KEYS = 5

const KINDS = ['constant', 'none', 'memory', 'valkey'] as const
type Kind = (typeof KINDS)[number]

/** The works, and what each is compared with. */
const WORKS = {
  'hot record': 'constant',
  'hot list of 50': 'constant',
  'not modified': 'constant',
  'cold record': 'none',
} as const satisfies Record<string, Kind>
type Work = keyof typeof WORKS

interface Sample extends Load {
  readonly kind: Kind
  readonly work: Work
  readonly round: number
  readonly cpuMicroseconds: number
  readonly memoryMiB: number
}

async function main(): Promise<void> {
  checkWrk()
  const own = process.env.REDIS_URL ? undefined : await valkey()
  const url = process.env.REDIS_URL ?? own?.url ?? ''
  try {
    const samples: Sample[] = []
    const before = loadavg()[0]?.toFixed(2)
    for (let round = 0; round < ROUNDS; round += 1) {
      const at = round % KINDS.length
      for (const kind of [...KINDS.slice(at), ...KINDS.slice(0, at)]) {
        samples.push(...(await oneRound(kind, round, url)))
      }
      console.error(`round ${round + 1} of ${ROUNDS}`)
    }
    console.log(
      `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}, load ${before} before and ` +
        `${loadavg()[0]?.toFixed(2)} after; ${ROUNDS} rounds of ${SECONDS} s, c=${CONNECTIONS}, medians\n`,
    )
    console.log(table(samples))
    for (const kind of ['none', 'memory', 'valkey'] as const) console.log(await crowd(kind, url))
    console.log(`\n${await memoryBound()}`)
  } finally {
    // A server of our own does not keep the process alive, not even until it has stopped.
    const alive = setInterval(() => {}, 1000)
    await own?.stop()
    clearInterval(alive)
  }
}

async function oneRound(kind: Kind, round: number, url: string): Promise<Sample[]> {
  const server = await startServer('./cache/server.ts', [kind, url])
  try {
    const samples: Sample[] = []
    const asked = await requestsOf(server)
    await load(server.base, asked['hot record'], CONNECTIONS, 2)
    for (const work of Object.keys(WORKS) as Work[]) {
      const requests = asked[work]
      // The cold ones must stay cold.
      if (work !== 'cold record') await load(server.base, requests, CONNECTIONS, 1)
      const before = server.cpuSeconds()
      const seen = await load(server.base, requests, CONNECTIONS, SECONDS)
      if (seen.errors > 0) throw new Error(`${kind}, ${work}: ${seen.errors} errors`)
      const cpuMicroseconds =
        ((server.cpuSeconds() - before) / (seen.requestsPerSecond * SECONDS)) * 1e6
      samples.push({ ...seen, kind, work, round, cpuMicroseconds, memoryMiB: server.memoryMiB() })
    }
    return samples
  } finally {
    await server.stop()
  }
}

async function requestsOf({ base }: Server): Promise<Record<Work, Requests>> {
  const get = (...paths: string[]): Requests => ({ method: 'GET', paths })
  const list = await fetch(`${base}/books`)
  const { data } = (await list.json()) as { data: { _id: string }[] }
  const paths = data.map(({ _id }) => `/books/${_id}`)
  const [path = ''] = paths
  const etag = (await fetch(base + path)).headers.get('etag') ?? '"none"'
  const cold = Array.from({ length: COLD }, (_, at) => `${path}?cold=${at}`)
  return {
    'hot record': get(...paths),
    'hot list of 50': get('/books'),
    'not modified': { ...get(path), headers: { 'If-None-Match': etag } },
    'cold record': get(...cold),
  }
}

/** How often the database is asked when many ask for the same at once, and how long the last one waits. */
async function crowd(kind: Kind, url: string): Promise<string> {
  const server = await startServer('./cache/server.ts', [kind, url])
  try {
    const reads = async () => Number(await (await fetch(`${server.base}/books/reads`)).text())
    const ask = (path: string) => fetch(server.base + path).then((answer) => answer.text())
    await ask('/books?cold=first')
    const seen: number[] = []
    const waits: number[] = []
    for (let key = 0; key < COLD_KEYS; key += 1) {
      const before = await reads()
      const start = performance.now()
      await Promise.all(Array.from({ length: CROWD }, () => ask(`/books?cold=${key}`)))
      waits.push(performance.now() - start)
      seen.push((await reads()) - before)
    }
    return `${CROWD} requests of a cold key at once, ${kind}: ${seen.join(', ')} questions to the store, ${median(waits).toFixed(0)} ms`
  } finally {
    await server.stop()
  }
}

function table(samples: readonly Sample[]): string {
  const rows = (Object.keys(WORKS) as Work[]).flatMap((work) =>
    KINDS.map((kind) => row(samples, work, kind)),
  )
  const head = ['work', 'server', 'req/s', 'ratio', 'p50 ms', 'p99 ms', 'CPU µs', 'MiB']
  return [`| ${head.join(' | ')} |`, '|---|---|---:|---:|---:|---:|---:|---:|', ...rows].join('\n')
}

function row(samples: readonly Sample[], work: Work, kind: Kind): string {
  const of = (name: Kind) => samples.filter((one) => one.work === work && one.kind === name)
  const [ours, limit] = [of(kind), of(WORKS[work])]
  const middle = (pick: (sample: Sample) => number) => median(ours.map(pick))
  const ratios = ours.map(
    (one, at) => one.requestsPerSecond / (limit[at]?.requestsPerSecond ?? Number.NaN),
  )
  const cells = [
    work,
    kind,
    middle((one) => one.requestsPerSecond).toFixed(0),
    median(ratios).toFixed(2),
    middle((one) => one.p50Ms).toFixed(2),
    middle((one) => one.p99Ms).toFixed(2),
    middle((one) => one.cpuMicroseconds).toFixed(0),
    middle((one) => one.memoryMiB).toFixed(0),
  ]
  return `| ${cells.join(' | ')} |`
}

await main().catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
