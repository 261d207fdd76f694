/**
 * An open loop of requests: they are sent at a fixed rate, whether or not earlier ones were answered, as users do who do
 * not know of each other. `npm run faults -- overload` starts a server on `--runtime`; `--url` takes a server that runs,
 * and `--pid` its process for its memory.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { RUNTIMES } from '../../runtimes/commands.ts'
import { median, part, type Report } from '../report.ts'

/** How one request ended: its status, or the code of its error; milliseconds since it was due. */
interface Ending {
  readonly status: string
  readonly ms: number
}

interface Target {
  readonly url: string
  /** 0 where it is not known. */
  readonly pid: number
  stop(): Promise<void>
}

/** Some milliseconds of work, that no cache saves. */
const PATH = '/books?s=book&pageSize=500'
/** What is promised: so long 99 of 100 refusals take, and so long it takes until latency is normal again. */
const REFUSED_WITHIN_MS = 100
const NORMAL_WITHIN_S = 5
/** How much more memory the server may have than before, in megabytes. */
const MOST_MEMORY_MB = 150
/** With more requests under way than this it is the client that is measured. */
const MOST_UNDER_WAY = 15_000

/** `npm run faults -- overload`. */
export const overload = part({
  about: 'more requests a second than the server can answer',
  options: { runtime: 'node', url: '', pid: 0, path: PATH, rate: 0, seconds: 8 },
  async run({ runtime, url, pid, path, rate, seconds }): Promise<Report> {
    const target = url ? { url, pid, stop: async () => {} } : await startServer(runtime)
    const agent = new Agent({ keepAlive: true })
    const ask = (due = performance.now()) => ending(`${target.url}${path}`, agent, due)
    try {
      const { normalMs, capacity } = await measureNormal(ask)
      const perSecond = rate || Math.round(capacity * 4)
      const before = await memoryOf(target)
      let most = before
      const watch = setInterval(async () => {
        most = Math.max(most, await memoryOf(target))
      }, 100)
      const sent = await openLoop(ask, perSecond, seconds).finally(() => clearInterval(watch))
      const secondsToNormal = await untilNormal(ask, normalMs)
      const endings = await Promise.all(sent)
      const after = await memoryOf(target)
      const rows = rowsOf(endings)
      console.log(
        `capacity ${Math.round(capacity)}/s, sent ${perSecond}/s for ${seconds} s; memory ${before} MB before, ${most} at most, ${after} after; latency normal again (${normalMs.toFixed(0)} ms) ${secondsToNormal.toFixed(1)} s after the last was sent`,
      )
      return {
        rows,
        holds:
          rows.every(({ status }) => status === '200' || status === '503') &&
          rows.every((row) => row.status !== '503' || row['p99 ms'] <= REFUSED_WITHIN_MS) &&
          most < before + MOST_MEMORY_MB &&
          secondsToNormal < NORMAL_WITHIN_S,
      }
    } finally {
      agent.destroy()
      await target.stop()
    }
  },
})

/** The server of this folder, on a free port. */
async function startServer(runtime: string): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-faults-'))
  const [command = '', ...args] = RUNTIMES[runtime] ?? []
  const script = fileURLToPath(new URL('server.ts', import.meta.url))
  const server = spawn(command, [...args, script, join(folder, 'books.db')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(server, 'exit')
  const [line] = await Promise.race([once(createInterface(server.stdout), 'line'), gone])
  const [pid, url] = String(line).split(' ')
  if (url === undefined) throw new Error(`the server did not start: ${line}`)
  return {
    url,
    pid: Number(pid),
    async stop() {
      // The runtime may have been started by a program of its package.
      process.kill(Number(pid), 'SIGKILL')
      await gone
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A request that was due at `due`. */
function ending(url: string, agent: Agent, due: number): Promise<Ending> {
  return new Promise((resolve) => {
    const end = (status: string) => resolve({ status, ms: performance.now() - due })
    const request = get(url, { agent }, (response) => {
      response.resume().on('end', () => end(String(response.statusCode)))
      response.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'error'))
    })
    request.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'error'))
  })
}

/** What 16 clients get that each wait for their response: requests a second, and the latency of one client alone. */
async function measureNormal(
  ask: () => Promise<Ending>,
): Promise<{ normalMs: number; capacity: number }> {
  const clients = async (count: number, ms: number) => {
    const endings: Ending[] = []
    const until = performance.now() + ms
    const client = async () => {
      while (performance.now() < until) endings.push(await ask())
    }
    await Promise.all(Array.from({ length: count }, client))
    return endings
  }
  await clients(16, 2000)
  const { length } = await clients(16, 3000)
  const alone = await clients(1, 1000)
  return { capacity: length / 3, normalMs: median(alone.map(({ ms }) => ms)) }
}

/** Sends all requests; resolves when the last is sent, to how each will end. */
async function openLoop(
  ask: (due: number) => Promise<Ending>,
  perSecond: number,
  seconds: number,
): Promise<Promise<Ending>[]> {
  const sent: Promise<Ending>[] = []
  let ended = 0
  const startedAt = performance.now()
  while (sent.length < perSecond * seconds) {
    const due = ((performance.now() - startedAt) / 1000) * perSecond
    while (sent.length < Math.min(due, perSecond * seconds)) {
      const request = ask(startedAt + (sent.length / perSecond) * 1000)
      sent.push(request)
      void request.then(() => {
        ended += 1
      })
    }
    if (sent.length - ended > MOST_UNDER_WAY) {
      throw new Error(`more than ${MOST_UNDER_WAY} requests are under way: give a lower --rate`)
    }
    await delay(5)
  }
  return sent
}

/** Seconds until three requests in a row take no longer than twice the normal time, and 10 ms. */
async function untilNormal(ask: () => Promise<Ending>, normalMs: number): Promise<number> {
  const startedAt = performance.now()
  for (let inRow = 0; inRow < 3; ) {
    const { ms, status } = await ask()
    inRow = status === '200' && ms < 2 * normalMs + 10 ? inRow + 1 : 0
  }
  return (performance.now() - startedAt) / 1000
}

/** Megabytes of memory of the server's process; 0 where it is not known. */
async function memoryOf({ pid }: Target): Promise<number> {
  if (pid === 0) return 0
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round((Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6)
}

function rowsOf(endings: readonly Ending[]) {
  const byStatus = Map.groupBy(endings, ({ status }) => status)
  return [...byStatus].map(([status, ended]) => {
    const times = ended.map(({ ms }) => ms)
    return {
      status,
      count: ended.length,
      'p50 ms': Math.round(median(times)),
      'p99 ms': Math.round(median(times, 0.99)),
    }
  })
}
