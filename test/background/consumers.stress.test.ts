import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { consume, runBackground } from '../../src/background/changes/index.ts'
import { createApp, type Store } from '../../src/index.ts'
import { runs } from '../runs.ts'
import { withService } from '../services/shared.ts'
import { freshD1 } from '../stores/d1/databases.ts'
import { freshDatabases } from '../stores/mongodb/databases.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { apps } from './apps.ts'
import { Counter, counters, countUp } from './counters.ts'
import { endLease, processesOf } from './processes.ts'

/** Opens a database of its own each time it is called, and returns what opens it again. */
type Databases = () => () => Store

/** What a consumer of three processes gets that write, fail and close, as the counts of each counter. */
async function consumedOn(open: Databases): Promise<string[]> {
  const it = apps('2026-11-26T12:00:00Z', open())
  const seen = new Map<string, number[]>()
  let tries = 0
  const all = Array.from({ length: 3 }, () => {
    const app = counters(it.app({ now: Date.now }))
    consume(app, 'notes', {
      models: [Counter],
      concurrency: 3,
      handle({ after }, { signal }) {
        tries += 1
        // What fails while its process closes is left to the next, with what others of its batch have done already.
        if (tries % 9 === 0 && !signal.aborted) throw new Error('now and then')
        const { _id = '', count = -1 } = after ?? {}
        seen.set(_id, [...(seen.get(_id) ?? []), count])
      },
    })
    return app
  })
  await Promise.all(all.map((app) => app.ready()))
  const running = await Promise.all(all.map((app) => runBackground(app)))
  const writing = Promise.all(all.map((app) => countUp(app, COUNTERS, 3)))
  await expect.poll(() => seen.size, PATIENT).toBeGreaterThan(5)
  // Whoever has the lease may be among them.
  await Promise.all(running.slice(0, 2).map((one) => one.close()))
  const ids = (await writing).flat()
  const isDone = () => ids.every((id) => (seen.get(id) ?? []).includes(3))
  await expect.poll(isDone, PATIENT).toBe(true)
  await running[2]?.close()
  expect(seen.size).toBe(3 * COUNTERS)
  return [...seen.values()].map(String)
}

const COUNTERS = 4
const PATIENT = { timeout: 240_000, interval: 100 }
const stores = new Map<string, Databases>()

const d1 = await freshD1(1)
stores.set('D1', () => {
  const binding = d1()
  return () => d1Store(binding)
})
await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  stores.set('PostgreSQL', () => {
    const schema = fresh()
    return () => postgresStore({ url, schema })
  })
})
await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  stores.set('MongoDB', () => {
    const database = fresh()
    return () => mongoStore({ url, database })
  })
})

// All stores beside each other, because most of it is waiting: for pauses between tries, and for others who have the lease.
it('a consumer on each store gets each change once and in order over three processes that write, fail and close', async () => {
  const consumed = await Promise.all(
    [...stores].map(async ([store, open]) => [store, await consumedOn(open)] as const),
  )
  for (const [store, counts] of consumed) {
    expect([store, new Set(counts)]).toEqual([store, new Set(['0,1,2,3'])])
  }
}, 600_000)

it('a consumer leaves nothing out while processes that write and consume are killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-consumers-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [path, notes] = [join(folder, 'counters.db'), join(folder, 'notes.txt')]
  const processes = processesOf(new URL('consuming.ts', import.meta.url), path, notes)
  const lines = () =>
    (existsSync(notes) ? readFileSync(notes, 'utf8') : '')
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ') as [string, string, string, string])
  await processes.start()
  await processes.start()
  for (let kill = 0; kill < runs(2); kill += 1) {
    const before = lines().length
    await expect.poll(() => lines().length, PATIENT).toBeGreaterThan(before + 10)
    // The one that has the lease.
    await processes.kill(Number(lines().at(-1)?.[3]))
    await endLease(path)
    await processes.start()
  }
  const app = counters(createApp({ store: sqliteStore({ path }) }))
  onTestFinished(() => app.close())
  const records = () => app.store.collection(Counter).find()
  const left = async () => {
    const known = new Set(lines().map(([id, count]) => `${id} ${count}`))
    const all = await records()
    return all.flatMap(({ _id, count }) =>
      Array.from({ length: count + 1 }, (_, at) => `${_id} ${at}`).filter((one) => !known.has(one)),
    )
  }
  await expect.poll(async () => (await left()).length, PATIENT).toBe(0)
  // None without a record, and in order for each: what comes again was there before.
  const counts = new Map((await records()).map(({ _id, count }) => [_id, count]))
  const most = new Map<string, number>()
  for (const [id, count] of lines()) {
    expect(Number(count)).toBeLessThanOrEqual(counts.get(id) ?? -1)
    expect(Number(count)).toBeLessThanOrEqual((most.get(id) ?? -1) + 1)
    most.set(id, Math.max(most.get(id) ?? -1, Number(count)))
  }
  const all = lines()
  const changes = new Set(all.map(([, , id]) => id)).size
  console.log(`${changes} changes, ${all.length - changes} of them handled twice`)
}, 600_000)
