/** kill -9 of a server over SQLite under writers, in short; `npm run faults -- kill` kills 60 times. */

import { expect, it } from 'vitest'
import { runs } from '../../runs.ts'
import { killServers } from './kill.ts'

const ROUNDS = runs(2)

it('what was acknowledged is stored, and nothing else, whenever the server is killed', async () => {
  const toll = await killServers({ rounds: ROUNDS, writers: 8, longestMs: 300 })
  expect(toll).toMatchObject({ kills: ROUNDS, lost: 0, phantom: 0, resurrected: 0, duplicate: 0 })
  expect(toll.acknowledged).toBeGreaterThanOrEqual(ROUNDS)
}, 120_000)
