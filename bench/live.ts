/**
 * `npm run bench:live [-- --store sqlite --streams 500 --writes 200]`: how long a write takes to reach the clients that follow
 * its list, in the process that wrote it and in another one.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Place } from '../test/log/proof/world.ts'
import { FROM_SOURCE } from '../test/runtimes/commands.ts'
import { mongo } from '../test/services/mongo.ts'
import { postgres } from '../test/services/postgres.ts'
import { freePorts } from '../test/services/server.ts'
import { machineLine } from './results.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite,postgres,mongodb' },
    streams: { type: 'string', default: '500' },
    writes: { type: 'string', default: '200' },
    /** Between two writes, in milliseconds. */
    pause: { type: 'string', default: '100' },
  },
})
const [streams, writes] = [Number(values.streams), Number(values.writes)]
const SERVER = fileURLToPath(new URL('../test/log/proof/server.ts', import.meta.url))
const OPENING = 50

/** When what was received, by the number that a write has set; one list for each stream. */
type Received = Map<number, number>

function startServer(place: Place, port: number): ChildProcess {
  const given = [JSON.stringify(place), '1', '0', String(port)]
  return spawn(process.execPath, [FROM_SOURCE, '--no-warnings', SERVER, ...given], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

/** Follows the boards at a port; resolves when the list has come. */
async function follow(port: number): Promise<{ received: Received; response: IncomingMessage }> {
  const headers = { accept: 'text/event-stream' }
  const request = get({ host: '127.0.0.1', port, path: '/boards', headers, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const received: Received = new Map()
  const begun = Promise.withResolvers<void>()
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const now = performance.now()
    if (chunk.includes('event: records')) begun.resolve()
    for (const [, count] of chunk.matchAll(/event: set\ndata: .*?"count":(\d+)/g)) {
      received.set(Number(count), now)
    }
  })
  response.on('error', () => {})
  await begun.promise
  return { received, response }
}

async function send(port: number, method: string, path: string, body: object) {
  const headers = { 'content-type': 'application/json' }
  const url = `http://127.0.0.1:${port}${path}`
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as { data: { _id: string } }
}

/** Writes at one port, and follows at another one. */
async function measure(writing: number, following: number): Promise<Record<string, string>> {
  const { data } = await send(writing, 'POST', '/boards', { name: 'bench' })
  const open: Awaited<ReturnType<typeof follow>>[] = []
  while (open.length < streams) {
    const next = Array.from({ length: Math.min(OPENING, streams - open.length) }, () =>
      follow(following),
    )
    open.push(...(await Promise.all(next)))
  }
  const times: { readonly sent: number; readonly answered: number }[] = []
  for (let count = 1; count <= writes; count += 1) {
    const sent = performance.now()
    await send(writing, 'PATCH', `/boards/${data._id}`, { count })
    times.push({ sent, answered: performance.now() })
    await delay(Number(values.pause))
  }
  while (open.some(({ received }) => !received.has(writes))) await delay(50)
  for (const { response } of open) response.destroy()
  const since = (from: 'sent' | 'answered') =>
    open
      .flatMap(({ received }) =>
        times.map((time, at) => (received.get(at + 1) ?? Infinity) - time[from]),
      )
      .toSorted((a, b) => a - b)
  const at = (sorted: number[], share: number) =>
    Math.max(0, sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0)
  const [sent, answered] = [since('sent'), since('answered')]
  return {
    'from the request': `p50 ${at(sent, 0.5)} ms, p99 ${at(sent, 0.99)} ms`,
    'from the response': `p50 ${at(answered, 0.5)} ms, p99 ${at(answered, 0.99)} ms`,
  }
}

async function placeFor(store: string): Promise<{ place: Place; end(): unknown }> {
  if (store === 'postgres') {
    const { url, stop } = await postgres()
    return { place: { postgres: url, schema: `bench_${crypto.randomUUID()}` }, end: stop }
  }
  if (store === 'mongodb') {
    const { url, stop } = await mongo()
    return { place: { mongodb: url, database: `bench-${crypto.randomUUID()}` }, end: stop }
  }
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-live-'))
  return {
    place: { sqlite: join(folder, 'live.db') },
    end: () => rmSync(folder, { recursive: true }),
  }
}

console.log(
  `${machineLine()}, load ${loadavg()[0]?.toFixed(1)}; ${streams} streams, ${writes} writes`,
)
for (const store of values.store.split(',')) {
  const { place, end } = await placeFor(store)
  const [one = 0, other = 0] = await freePorts(2)
  const children: ChildProcess[] = []
  for (const port of [one, other]) {
    const child = startServer(place, port)
    children.push(child)
    if (child.stdout) await once(child.stdout, 'data')
  }
  for (const [where, port] of [
    ['the same process', one],
    ['another process', other],
  ] as const) {
    console.log(
      store,
      where,
      JSON.stringify(await measure(one, port)),
      `load ${loadavg()[0]?.toFixed(1)}`,
    )
  }
  for (const child of children) child.kill()
  await end()
}
process.exit(0)
