/** Faults of a cache that two processes share, in short; `npm run faults -- cache` takes minutes. */

import { expect, it } from 'vitest'
import { withService } from '../../services/shared.ts'
import { cacheFaults, cacheTrial } from './trial.ts'

await withService('valkey', () => {
  it('no read is older than a write that was answered, whatever happens to the cache', async () => {
    const tallies = await cacheTrial(cacheFaults, 300)
    const found = tallies.map(({ fault, stale, other }) => ({ fault, stale, other }))
    expect(found).toEqual(cacheFaults.map((fault) => ({ fault, stale: 0, other: 0 })))
    for (const { reads, writes } of tallies) expect(Math.min(reads, writes)).toBeGreaterThan(0)
  }, 120_000)
})
