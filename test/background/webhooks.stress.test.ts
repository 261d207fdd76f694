import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { webhooks } from '../../src/background/webhooks/index.ts'
import { createApp } from '../../src/index.ts'
import { runs, seeded } from '../runs.ts'
import { counters, countUp } from './counters.ts'
import { endLease, processesOf } from './processes.ts'
import { receiver } from './receiver.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
/** With FIELDGATE_RUNS=50 there are 4,000 webhooks. */
const COUNTERS = runs(20)
const CHANGES = 3
const TOTAL = COUNTERS * (CHANGES + 1)
const FAILS = 0.3
/** How often the same webhook fails at most: the pauses after that add up to three seconds. */
const MOST_FAILURES = 2
const KILLS = 2

it(`${TOTAL} webhooks arrive from senders that are killed at a receiver that fails and restarts`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldgate-hooks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'hooks.db')
  let number = seeded.seed ?? 1
  const random = () => {
    number = (number * 48_271) % 2_147_483_647
    return number / 2_147_483_647
  }
  const done = new Map<string, number[]>()
  const failures = new Map<string, number>()
  let [sent, arrived] = [0, 0]
  const own = await receiver(SECRET, ({ id, body }) => {
    sent += 1
    const failed = failures.get(id) ?? 0
    if (failed < MOST_FAILURES && random() < FAILS) {
      failures.set(id, failed + 1)
      return 500
    }
    const { _id, count } = body.data as { readonly _id: string; readonly count: number }
    const counts = done.get(_id) ?? []
    done.set(_id, counts)
    if (counts.includes(count)) return 200
    counts.push(count)
    arrived += 1
    return 200
  })
  onTestFinished(() => own.stop())
  const senders = processesOf(new URL('sender.ts', import.meta.url), path, own.url, SECRET)
  await senders.start()
  await senders.start()
  const app = counters(createApp({ store: sqliteStore({ path }) }))
  onTestFinished(() => app.close())
  // It only tells here how far the senders are.
  webhooks(app, { endpoints: [{ url: own.url, secret: SECRET }], allowPrivate: true })
  const from = performance.now()
  const writing = countUp(app, COUNTERS, CHANGES)
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await expect
      .poll(() => arrived, { timeout: 300_000, interval: 50 })
      .toBeGreaterThan((kill * TOTAL) / (2 * KILLS))
    // The older one, which has the lease more often than not.
    await senders.kill()
    await endLease(path)
    await senders.start()
    await own.stop()
    await new Promise((resolve) => setTimeout(resolve, 500))
    await own.start()
  }
  const ids = await writing
  await expect
    .poll(async () => ({ arrived, ...(await app.background[0]?.status()) }), {
      timeout: 600_000,
      interval: 200,
    })
    .toMatchObject({ arrived: TOTAL, aside: 0 })
  // Each at least once, in order for each record, and none without a record.
  expect(done.size).toBe(COUNTERS)
  const expected = Array.from({ length: CHANGES + 1 }, (_, at) => at)
  expect(ids.filter((id) => done.get(id)?.join() !== expected.join())).toEqual([])
  expect(own.invalid.count).toBe(0)
  const seconds = Math.round((performance.now() - from) / 1000)
  console.log(
    `${arrived} webhooks in ${seconds} s; ${sent} were sent, of which ${[...failures.values()].reduce((sum, one) => sum + one, 0)} failed`,
  )
}, 1_200_000)
