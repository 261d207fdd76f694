/**
 * Writers in two processes, of which one is killed again and again, and readers in a third one.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runs } from '../runs.ts'
import { FROM_SOURCE } from '../runtimes/commands.ts'
import { withService } from '../services/shared.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { fileOfTest } from './proof/file.ts'
import { appAt, faultsOf, follow, type Place, startOf } from './proof/world.ts'

const child = fileURLToPath(new URL('./proof/writer.ts', import.meta.url))
/** How often a process is killed. */
const KILLS = runs(3)
/** How much the process writes that is not killed: four writers, so many rounds each. */
const ROUNDS = runs(150)

function start(place: Place, seed: number, rounds: number) {
  const given = [JSON.stringify(place), String(seed), '4', String(rounds)]
  return spawn(process.execPath, [FROM_SOURCE, child, ...given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Kills a process that writes, soon after it has begun, and starts another one. */
async function kills(place: Place): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    const writer = start(place, 1000 + 10 * kill, 1e6)
    await once(writer.stdout, 'data')
    await new Promise((resolve) => setTimeout(resolve, 200 + 150 * kill))
    writer.kill('SIGKILL')
    if (writer.signalCode === null && writer.exitCode === null) await once(writer, 'exit')
  }
}

async function proof(place: Place): Promise<void> {
  const app = await appAt(place)
  const from = await startOf(app)
  let isOver = false
  const readers = [1000, 7].map((limit) => follow(app, from, () => isOver, { limit, patience: 40 }))
  const steady = start(place, 1, ROUNDS)
  const ended = once(steady, 'exit')
  await kills(place)
  const [code] = await ended
  isOver = true
  const [first = [], second = []] = await Promise.all(readers)
  expect(code).toBe(0)
  console.info(`${Object.keys(place)[0]}: ${first.length} changes, ${KILLS} kills`)
  expect(second.map(({ id }) => id)).toEqual(first.map(({ id }) => id))
  expect(await faultsOf(app, first)).toEqual([])
  await app.close()
}

describe('the log under kill -9', () => {
  it('on SQLite', () => proof({ sqlite: fileOfTest() }), 600_000)
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  it(
    'the log under kill -9 on PostgreSQL',
    () => proof({ postgres: url, schema: fresh() }),
    600_000,
  )
})

await withService('mongo', ({ url }) => {
  const database = `proof-${crypto.randomUUID()}`
  it('the log under kill -9 on MongoDB', () => proof({ mongodb: url, database }), 600_000)
})
