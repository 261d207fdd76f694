/**
 * 3,000 models with their routes.
 *
 * @module
 */

import { firstAnswer } from '../cold-start.ts'
import type { Database } from '../records/database.ts'
import { withStore } from '../records/databases.ts'
import { type Contender, contenders } from '../servers.ts'
import { works } from '../works.ts'
import { count, type Figure, type Scale } from './part.ts'
import { measured } from './records.ts'

const MODELS = 3000
const RECORDS = 10_000

/** What a start takes, and a read from the model that was mounted last. */
export async function models({ factor, store }: Scale): Promise<Figure[]> {
  const figures: Figure[] = []
  await withStore(store, async (databases) => {
    const database = await databases.database(RECORDS, ['fieldgate'])
    const [server] = contenders[store]
    if (!server) return
    for (const models of [1, Math.max(2, Math.round(MODELS * factor))]) {
      figures.push(...(await withModels(models, server, database)))
      await database.tidy()
    }
    await database.close()
  })
  return figures
}

async function withModels(
  models: number,
  server: Contender,
  database: Database,
): Promise<Figure[]> {
  const what = `${count(models)} ${models === 1 ? 'model' : 'models'}`
  const place = database.place('fieldgate', true)
  const kept = { ...database, place: () => place, tidy: async () => undefined }
  const own: Contender = {
    ...server,
    command: async (at) => ['env', `BENCH_MODELS=${models}`, ...(await server.command(at))],
  }
  const figures: Figure[] = []
  for (const start of ['first start, which makes tables', 'later start']) {
    const { milliseconds, cpuSeconds, memoryMiB } = await firstAnswer(own, kept)
    const figure = `first response after ${count(milliseconds)} ms, CPU ${count(cpuSeconds * 1000)} ms, ${count(memoryMiB)} MiB`
    figures.push({ what: `${what}: ${start}`, figure })
  }
  const [read] = works(database)
  if (!read) return figures
  const figure = await measured(own, read, kept)
  return [...figures, { what: `${what}: read from the last one`, figure }]
}
