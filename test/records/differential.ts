/**
 * Sends random requests to the same random apps over SQLite, libSQL, D1, MongoDB, PostgreSQL and the interpreter, and compares every answer byte for byte:
 * `node -C fieldgate-source test/records/differential.ts --requests 50000 --seed 1`. Prints how many were answered with each status, or the
 * requests that led to different answers. `--most 20` goes on after the first of these.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { mongo } from '../services/mongo.ts'
import { postgres } from '../services/postgres.ts'
import { differ, report } from './differential/run.ts'
import { openBackends } from './differential/stores.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '50000' },
    seed: { type: 'string' },
    most: { type: 'string', default: '1' },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const requests = Number(values.requests)
console.log(`${requests} requests from seed ${seed}`)
const database = await mongo()
const tables = await postgres()
const backends = await openBackends(database.url, tables.url)
const began = performance.now()
try {
  const outcome = await differ(backends, {
    ...{ seed, requests, most: Number(values.most) },
    onWorld: (done) => {
      if (done % 3000 === 0) console.log(`${done} sent`)
    },
  })
  console.table(outcome.statuses)
  for (const found of outcome.disagreements) console.log(`${report(found)}\n`)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(
    `${outcome.requests} requests, ${outcome.disagreements.length} disagreements, ${seconds} s`,
  )
  if (outcome.disagreements.length > 0) process.exitCode = 1
} finally {
  await backends.close()
  await database.stop()
  await tables.stop()
}
