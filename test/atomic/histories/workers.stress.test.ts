import { expect, it, onTestFinished } from 'vitest'
import { type D1Binding, d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { workerOf } from '../../faults/atomic/worker-of.ts'
import { runs } from '../../runs.ts'
import { historyOver, over, within } from './run.ts'
import { worldOn } from './world.ts'

it.each(['d1', 'durable'] as const)(
  '%s: some order of all calls explains what each of them saw',
  { timeout: 600_000 },
  async (server) => {
    const miniflare = await workerOf(server, new URL(`servers/${server}.ts`, import.meta.url))
    onTestFinished(() => miniflare.dispose())
    const ways = [over((await miniflare.ready).origin, 0.02)]
    if (server === 'd1') {
      // Another process over the same database.
      const binding = (await miniflare.getD1Database('DB')) as unknown as D1Binding
      const app = worldOn(d1Store(binding))
      onTestFinished(() => app.close())
      ways.push(within(app))
    }
    const size = { clients: 8, ms: runs(3) * 1000, isRough: true }
    const { faults, counts } = await historyOver(ways, size)
    console.info(server, counts)
    expect(faults.slice(0, 20)).toEqual([])
    expect(counts['step 200']).toBeGreaterThan(0)
  },
)
