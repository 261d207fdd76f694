import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { jobs, runDue } from '../../src/background/jobs/index.ts'
import type { Store } from '../../src/index.ts'
import { runs } from '../runs.ts'
import { withService } from '../services/shared.ts'
import { freshD1 } from '../stores/d1/databases.ts'
import { freshDatabases } from '../stores/mongodb/databases.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { apps } from './apps.ts'
import { endLease, processesOf } from './processes.ts'

/** How often a process is killed in the middle of a run. */
const KILLS = runs(2)

/** `open` opens a database of its own each time it is called, and returns what opens it again. */
function jobsOn(store: string, open: () => () => Store): void {
  describe(`jobs on ${store}`, () => {
    it('run once for each time over four processes, and again when a process dies', async () => {
      const it = apps('2026-11-26T02:59:00Z', open())
      const ran: string[] = []
      let isDying = false
      const all = Array.from({ length: 4 }, () => {
        const app = it.app()
        jobs(app, {
          nightly: {
            schedule: '0 3 * * *',
            run: ({ at, attempt }) => {
              ran.push(`${at.toISOString().slice(0, 10)} ${attempt}`)
              return isDying ? new Promise(() => {}) : undefined
            },
          },
        })
        return app
      })
      await Promise.all(all.map((app) => app.ready()))
      const everyone = () => Promise.all(all.map((app) => runDue(app)))
      it.clock.at += 60_000
      await everyone()
      it.clock.at += 24 * 3_600_000
      isDying = true
      void everyone()
      await expect.poll(() => ran.length, { timeout: 60_000 }).toBe(2)
      isDying = false
      it.clock.at += 10_000
      await everyone()
      it.clock.at += 11_000
      await everyone()
      expect(ran).toEqual(['2026-11-26 1', '2026-11-27 1', '2026-11-27 2'])
    })
  })
}

const d1 = await freshD1(1)
jobsOn('D1', () => {
  const binding = d1()
  return () => d1Store(binding)
})
await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  jobsOn('PostgreSQL', () => {
    const schema = fresh()
    return () => postgresStore({ url, schema })
  })
})
await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  jobsOn('MongoDB', () => {
    const database = fresh()
    return () => mongoStore({ url, database })
  })
})

it('a job of each second begins once for each run that ends, while processes are killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-jobs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [database, notes] = [join(folder, 'jobs.db'), join(folder, 'notes.txt')]
  const processes = processesOf(new URL('ticking.ts', import.meta.url), database, notes)
  for (let at = 0; at < 3; at += 1) await processes.start()
  const lines = () =>
    (existsSync(notes) ? readFileSync(notes, 'utf8') : '')
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
  const killedTicks: string[] = []
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = lines().length
    await expect
      .poll(() => lines().length, { timeout: 240_000, interval: 20 })
      .toBeGreaterThan(before + 2)
    // In the middle of a run: the one who has begun last.
    await expect.poll(() => lines().at(-1)?.[0], { timeout: 240_000, interval: 5 }).toBe('begin')
    const [, tick = '', pid = ''] = lines().at(-1) ?? []
    await processes.kill(Number(pid))
    await endLease(database, new Date(Number(tick)))
    killedTicks.push(tick)
    await processes.start()
  }
  const ended = (tick: string) => lines().some(([what, at]) => what === 'end' && at === tick)
  const last = lines().length
  await expect.poll(() => lines().length, { timeout: 240_000 }).toBeGreaterThan(last + 4)
  const times = (what: string) =>
    lines()
      .filter(([is]) => is === what)
      .map(([, at]) => Number(at))
  const ends = times('end')
  // Each time ends once, and they follow each other: no two processes run at once.
  expect(new Set(ends).size).toBe(ends.length)
  expect(ends).toEqual([...ends].sort((one, other) => one - other))
  const begins = times('begin')
  const begunTwice = begins.filter((at, index) => begins.indexOf(at) !== index)
  for (const at of begunTwice) expect(killedTicks).toContain(String(at))
  console.log(
    `${ends.length} runs, ${killedTicks.length} killed, of which ${killedTicks.filter(ended).length} ended late`,
  )
}, 600_000)
