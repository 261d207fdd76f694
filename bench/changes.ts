/**
 * `npm run bench:changes [-- --writes 2000 --rounds 5 --only MongoDB]`: what the log of changes adds to a write, on SQLite, PostgreSQL and
 * MongoDB. Eight writers at a time; models with and without `changes` in turns, the median of all rounds.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import * as z from 'zod'
import { mongoStore } from '../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../adapters/stores/postgres/index.ts'
import { sqliteStore } from '../adapters/stores/sqlite/node.ts'
import { createApp, defineModel, type Store } from '../src/index.ts'
import { mongo } from '../test/services/mongo.ts'
import { postgres } from '../test/services/postgres.ts'
import { machineLine } from './results.ts'

const { values } = parseArgs({
  options: {
    writes: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
})
const [writes, rounds] = [Number(values.writes), Number(values.rounds)]
const WRITERS = 8

const fields = { title: z.string(), done: z.boolean(), text: z.string() }
const MODELS = {
  without: defineModel('PlainTask', { fields, timestamps: true }),
  with: defineModel('LoggedTask', { fields, timestamps: true, changes: true }),
} as const

/** The wall time and the processor time of this process for one insert and one update, in microseconds. */
interface Cost {
  readonly wall: number
  readonly processor: number
}

async function costOf(store: Store): Promise<Record<keyof typeof MODELS, Cost>> {
  const app = createApp({ store, env: {} })
  const costs = { without: [] as Cost[], with: [] as Cost[] }
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ['without', 'with'] as const) {
      const tasks = app.store.collection(MODELS[name])
      await app.ready()
      const pair = async () => {
        const { _id } = await tasks.insert({ title: 'a', done: false, text: 'x'.repeat(300) })
        await tasks.update(_id, { done: true })
      }
      await pair()
      const [from, used] = [performance.now(), process.cpuUsage()]
      const writer = async () => {
        for (let at = 0; at < writes / WRITERS; at += 1) await pair()
      }
      await Promise.all(Array.from({ length: WRITERS }, writer))
      const { user, system } = process.cpuUsage(used)
      const wall = ((performance.now() - from) * 1000) / writes
      costs[name].push({ wall, processor: (user + system) / writes })
    }
  }
  await app.close()
  return { without: median(costs.without), with: median(costs.with) }
}

function median(costs: readonly Cost[]): Cost {
  const middle = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1] ?? 0
  return {
    wall: middle(costs.map(({ wall }) => wall)),
    processor: middle(costs.map(({ processor }) => processor)),
  }
}

const folder = mkdtempSync(join(tmpdir(), 'fieldgate-bench-'))
const [sql, documents] = [await postgres(), await mongo()]
const STORES: Readonly<Record<string, () => Store>> = {
  'SQLite, in a file': () => sqliteStore({ path: join(folder, 'bench.db') }),
  PostgreSQL: () => postgresStore({ url: sql.url, schema: `bench_${Date.now()}` }),
  MongoDB: () => mongoStore({ url: documents.url, database: `bench-${Date.now()}` }),
}
console.log(machineLine())
console.log('| store | an insert and an update | with the log | processor time | with the log |')
console.log('|---|---|---|---|---|')
for (const [name, open] of Object.entries(STORES)) {
  if (!name.startsWith(values.only)) continue
  const cost = await costOf(open())
  const cells = [cost.without.wall, cost.with.wall, cost.without.processor, cost.with.processor]
  console.log(`| ${name} | ${cells.map((one) => `${Math.round(one)} µs`).join(' | ')} |`)
}
rmSync(folder, { recursive: true })
await Promise.all([sql.stop(), documents.stop()])
