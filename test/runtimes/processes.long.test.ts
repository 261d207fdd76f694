/** `serve(app, { processes })`, as real processes that are killed. */

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runs } from '../runs.ts'
import { RUNTIMES } from './commands.ts'
import type { Given } from './processes-fixture.ts'
import { launch, rejected, type Shared, start } from './server.ts'

const FIXTURE = 'processes-fixture.ts'

async function folder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'fieldgate-processes-'))
}

/** A request on a connection of its own, which any process may get. */
async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, headers: { ...init.headers, Connection: 'close' } })
}

const pidAt = async (url: string) => Number(await (await ask(`${url}/notes/pid`)).text())

/** The processes that serve, once there are `count` beside `gone`. */
async function workersAt(
  url: string,
  count: number,
  gone: readonly number[] = [],
): Promise<number[]> {
  const found = new Set<number>()
  while (found.size < count) {
    const pid = await pidAt(url).catch(() => undefined)
    if (pid !== undefined && !gone.includes(pid)) found.add(pid)
  }
  return [...found]
}

function create(url: string, label: string, at = 'notes'): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' }
  return ask(`${url}/${at}`, { method: 'POST', headers, body: JSON.stringify({ label }) })
}

async function totalAt(url: string, at = 'notes'): Promise<number> {
  const response = await ask(`${url}/${at}?page=1`)
  return ((await response.json()) as { pagination: { totalRecords: number } }).pagination
    .totalRecords
}

/** Creates notes until `stop` says so; returns those that were acknowledged. */
async function creating(url: string, name: string, stop: () => boolean): Promise<string[]> {
  const acknowledged: string[] = []
  for (let number = 0; !stop(); number += 1) {
    const label = `${name}-${number}`
    const response = await create(url, label).catch(() => undefined)
    if (response?.status === 201) acknowledged.push(label)
  }
  return acknowledged
}

function storedIn(path: string): string[] {
  const db = new DatabaseSync(path)
  const rows = db.prepare(`SELECT doc ->> 'label' AS label FROM notes`).all()
  db.close()
  return rows.map(({ label }) => String(label))
}

async function isGone(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

describe.each(Object.keys(RUNTIMES))('several processes on %s', (runtime) => {
  let served: Shared
  let home: string
  beforeAll(async () => {
    home = await folder()
    served = await launch(runtime, { path: join(home, 'notes.db') }, FIXTURE)
  })
  afterAll(async () => {
    await served.stop()
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  })

  it('serve on one port; what follows serve happens once', async () => {
    const workers = await workersAt(served.url, 2)
    const first = Number(served.lines.find((line) => line.startsWith('pid '))?.slice(4))
    expect(workers).not.toContain(first)
    expect(served.lines.filter((line) => line.startsWith('url '))).toHaveLength(1)
  })

  it('show what any of them has written, in lists, counts and cached responses', async () => {
    const { url } = served
    for (let number = 1; number <= 20; number += 1) {
      expect((await create(url, `note ${number}`)).status).toBe(201)
      const totals = [1, 2, 3, 4].flatMap(() => [totalAt(url), totalAt(url, 'cached')])
      expect(await Promise.all(totals)).toEqual(Array(8).fill(number))
    }
    expect((await create(url, 'note 7')).status).toBe(409)
    const found = await ask(`${url}/notes?s=note&page=1`)
    expect(await found.json()).toMatchObject({ pagination: { totalRecords: 20 } })
  })

  it('finish what is in flight on SIGTERM, and end with exit code 0', async () => {
    const { url, lines, signal, ended } = served
    const workers = await workersAt(url, 2)
    const inFlight = [1, 2, 3, 4].map(async () => (await ask(`${url}/notes/slow?ms=500`)).text())
    const waiting = () => lines.filter((line) => line === 'waiting').length
    await expect.poll(waiting).toBe(4)
    signal('SIGTERM')
    expect(await Promise.all(inFlight)).toEqual(Array(4).fill('finished'))
    expect(await ended()).toBe(0)
    for (const pid of workers) expect(await isGone(pid)).toBe(true)
  })

  it('go on when one is killed, and end with the first one; no confirmed write is lost', async () => {
    const path = join(home, 'killed.db')
    const before = await start(runtime, { path }, FIXTURE)
    let workers = await workersAt(before.url, 2)
    let isOver = false
    const creators = Array.from({ length: 8 }, (_, at) =>
      creating(before.url, `by ${at}`, () => isOver),
    )
    for (let round = 0; round < runs(1); round += 1) {
      const [victim = 0] = workers
      while ((await totalAt(before.url)) < 20 * (round + 1));
      process.kill(victim, 'SIGKILL')
      workers = await workersAt(before.url, 2, [victim])
    }
    before.signal('SIGKILL')
    isOver = true
    const acknowledged = (await Promise.all(creators)).flat()
    for (const pid of workers) await expect.poll(() => isGone(pid)).toBe(true)
    const stored = storedIn(path)
    expect(new Set(stored).size).toBe(stored.length)
    expect(acknowledged.filter((label) => !stored.includes(label))).toEqual([])
    const after = await start(runtime, { path }, FIXTURE)
    expect(await totalAt(after.url)).toBe(stored.length)
  })
})

// What follows is the same code on each runtime, over what the tests above have shown.
describe('several processes on node', () => {
  const runtime = 'node'
  let served: Shared
  let home: string
  beforeAll(async () => {
    home = await folder()
    served = await launch(runtime, { path: join(home, 'notes.db'), graceMs: 500 }, FIXTURE)
    await workersAt(served.url, 2)
  })
  afterAll(async () => {
    await served.stop()
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  })

  it.each(['notes', 'bare'])('limit the rate together (%s)', async (at) => {
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async () => (await ask(`${served.url}/${at}/limited`)).status),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(30)
  })

  it('count requests together for /metrics', async () => {
    const { url } = served
    await Promise.all(Array.from({ length: 30 }, async () => (await create(url, '')).text()))
    const counted = async () => {
      const text = await (await ask(`${url}/metrics`)).text()
      return Number(/_count\{method="POST",route="\/notes",status="409"\} (\d+)/.exec(text)?.[1])
    }
    // All but one of them: the label is unique.
    await expect.poll(counted).toBe(29)
  })

  it('end with exit code 1 when the time ran out', async () => {
    const { url, said, signal, ended } = served
    const inFlight = ask(`${url}/notes/slow?ms=60000`).catch(() => 'cut')
    await said('waiting')
    signal('SIGTERM')
    expect(await ended()).toBe(1)
    expect(await inFlight).toBe('cut')
  })

  it('say once why they do not start', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const path = join(home, 'none.db')
    const why = (given: Given) => rejected(runtime, given, FIXTURE)
    const cases = [{ path, port }, { path, ownSecret: true }, {}, { path, processes: 0 }]
    expect(await Promise.all(cases.map(why))).toEqual([
      'EADDRINUSE',
      expect.stringMatching(/^TypeError: createApp: 'secret' differs between the processes/),
      expect.stringMatching(/^TypeError: sqliteStore: each process would have a database/),
      `TypeError: serve: 'processes' must be a whole number of processes, at least 1`,
    ])
    taken.close()
  })
})
