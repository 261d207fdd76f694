/**
 * `npm run bench:aggregates [-- --size 1000000 --rounds 15]`: groups on SQLite, by requests to an app beside the statement that one would write by
 * hand for them, on the same file in turns.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import * as z from 'zod'
import { sqliteStore } from '../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel } from '../src/index.ts'
import { machineLine } from './results.ts'

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '15' },
  },
})
const [size, rounds] = [Number(values.size), Number(values.rounds)]

const City = defineModel('City', {
  fields: { name: z.string(), country: z.string(), population: z.int(), foundedAt: z.date() },
  indexes: [['country', 'population'], ['foundedAt']],
})

const [country, population, foundedAt] = ['country', 'population', 'foundedAt'].map(
  (field) => `json_extract(doc, '$."${field}"')`,
)

/** What is asked for: its body, and the statement. */
const WORKS: Readonly<Record<string, readonly [body: object, sql: string]>> = {
  'count by an indexed field': [
    { aggregate: { count: true }, by: ['country'] },
    `SELECT ${country} AS country, count(*) AS count FROM cities GROUP BY 1 ORDER BY 1`,
  ],
  'count and sum by an indexed field': [
    { aggregate: { count: true, sum: ['population'] }, by: ['country'] },
    `SELECT ${country} AS country, count(*) AS count, sum(${population}) AS sum FROM cities GROUP BY 1 ORDER BY 1`,
  ],
  'greatest by an indexed field': [
    { aggregate: { max: ['population'] }, by: ['country'] },
    `SELECT ${country} AS country, max(${population}) AS max FROM cities GROUP BY 1 ORDER BY 1`,
  ],
  'count by month': [
    { aggregate: { count: true }, by: ['foundedAt:month'] },
    `SELECT substr(${foundedAt}, 1, 7) AS month, count(*) AS count FROM cities GROUP BY 1 ORDER BY 1`,
  ],
  'sum within a filter': [
    { aggregate: { sum: ['population'] }, filter: { country: 'country 7' } },
    `SELECT sum(${population}) AS sum FROM cities WHERE ${country} = 'country 7'`,
  ],
}

const folder = mkdtempSync(join(tmpdir(), 'fieldgate-aggregates-'))
const path = join(folder, 'cities.db')
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const app = createApp({ store: sqliteStore({ path }), logger })
app.mount(
  '/cities',
  createRouter({
    model: City,
    middlewares: [],
    filterableFields: ['country'],
    aggregates: { by: ['country', 'foundedAt:month'], of: ['population'] },
    maxLimit: 1000,
  }),
)
await app.ready()
const db = new DatabaseSync(path)
db.exec(`INSERT INTO cities (_id, doc)
  WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${size})
  SELECT printf('%024x', n), json_object('_id', printf('%024x', n), 'name', 'city ' || n, 'country', 'country ' || (n * 7919 % 200),
    'population', n * 31 % 1000003, 'foundedAt', strftime('%Y-%m-%dT00:00:00.000Z', 1700000000 + n % 40000000, 'unixepoch')) FROM numbers`)

const medianOf = (all: readonly number[]) => all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0

/** How many milliseconds `work` takes, and how many of processor time, on all threads. */
async function timed(work: () => unknown): Promise<readonly [ms: number, cpu: number]> {
  const [began, before] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  return [performance.now() - began, (user + system) / 1000]
}

console.log(`${machineLine()}; ${size} records, medians of ${rounds} rounds`)
for (const [name, [body, sql]] of Object.entries(WORKS)) {
  const statement = db.prepare(sql)
  const ask = async () => {
    const headers = { 'Content-Type': 'application/json' }
    const request = { method: 'QUERY', headers, body: JSON.stringify(body) }
    const response = await app.handle(new Request('http://localhost/cities', request))
    if (response.status !== 200) throw new Error(await response.text())
    await response.json()
  }
  // The first says where it is run from then on.
  await ask()
  const samples: { ours: number; byHand: number; ratio: number; cpu: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    const [ours, ourCpu] = await timed(ask)
    const [byHand, itsCpu] = await timed(() => statement.all())
    samples.push({ ours, byHand, ratio: ours / byHand, cpu: ourCpu / itsCpu })
  }
  const median = (key: keyof (typeof samples)[number], digits: number) =>
    medianOf(samples.map((sample) => sample[key])).toFixed(digits)
  console.log(
    `${name}: ${median('ours', 1)} ms, by hand ${median('byHand', 1)} ms, ratio ${median('ratio', 2)}, of CPU ${median('cpu', 2)}`,
  )
}
db.close()
await app.close()
rmSync(folder, { recursive: true })
