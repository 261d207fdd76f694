/**
 * kill -9 at random moments of POST, PATCH and DELETE with files; `node -C fieldgate-source test/faults/uploads/kill.ts` runs 200 rounds.
 */

import { expect, it } from 'vitest'
import { runs } from '../../runs.ts'
import { killWriters } from './kill.ts'

const ROUNDS = runs(4)

it('kills leave no record that points at a missing object, and the sweeper removes what is left over', async () => {
  const toll = await killWriters(ROUNDS, 'disk')
  expect(toll).toMatchObject({ rounds: ROUNDS, lost: 0, dangling: 0, left: 0 })
  expect(toll.acknowledged).toBeGreaterThan(0)
  console.log(toll)
}, 300_000)
