/** kill -9 under idempotency keys, in short; `npm run faults -- idempotency` kills 40 times. */

import { expect, it } from 'vitest'
import { runs } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { killKeys } from './kill.ts'

const SHORT = { rounds: runs(2), writers: 8, longestMs: 200 }
const HELD = { kills: SHORT.rounds, twice: 0, changed: 0, other: 0 }

it('with keys in the store, whatever a kill cuts off is repeated or a 409, never written twice', async () => {
  expect(await killKeys(SHORT)).toMatchObject({ ...HELD, unknownButWritten: 0 })
}, 120_000)

await withService('valkey', ({ url }) => {
  it('with keys in Valkey too', async () => {
    expect(await killKeys({ ...SHORT, cache: url })).toMatchObject(HELD)
  }, 120_000)
})
