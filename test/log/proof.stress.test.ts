/**
 * Writers in two processes, of which one is killed again and again, readers in a third one, and clients whose connections are
 * cut. `npm run faults -- log` does it a hundred times as long.
 */

import { describe, expect, it } from 'vitest'
import { runs } from '../runs.ts'
import { withService } from '../services/shared.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { fileOfTest } from './proof/file.ts'
import { prove } from './proof/prove.ts'
import type { Place } from './proof/world.ts'

const SIZE = { writes: runs(400), cuts: runs(10), kills: runs(2) }

async function proof(place: Place): Promise<void> {
  const found = await prove(place, SIZE)
  console.info(`${Object.keys(place)[0]}: ${JSON.stringify(found)}`)
  expect(found).toMatchObject({ kills: SIZE.kills, faults: [], outOfOrder: 0, wrong: [] })
}

describe('the log and its live lists under kill -9 and cut connections', () => {
  it('on SQLite', () => proof({ sqlite: fileOfTest() }), 600_000)
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  it(
    'the log and its live lists under kill -9 on PostgreSQL',
    () => proof({ postgres: url, schema: fresh() }),
    600_000,
  )
})

await withService('mongo', ({ url }) => {
  const database = `proof-${crypto.randomUUID()}`
  it(
    'the log and its live lists under kill -9 on MongoDB',
    () => proof({ mongodb: url, database }),
    600_000,
  )
})
