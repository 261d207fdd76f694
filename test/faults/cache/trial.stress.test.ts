/** Faults of a cache that two processes share, in short; `npm run faults -- cache` takes minutes. */

import { expect, it } from 'vitest'
import { withService } from '../../services/shared.ts'
import { cacheFaults, cacheTrial } from './trial.ts'

await withService('valkey', () => {
  it('no read is older than a write that was answered, whatever happens to the cache', async () => {
    // Readers and writers mostly wait: three trials at the same time, each with a third of the faults.
    const lanes = [0, 1, 2].map((lane) => cacheFaults.filter((_, at) => at % 3 === lane))
    const tallies = (await Promise.all(lanes.map((lane) => cacheTrial(lane, 300)))).flat()
    const found = tallies.map(({ fault, stale, other }) => ({ fault, stale, other }))
    expect(found).toHaveLength(cacheFaults.length)
    expect(found).toEqual(lanes.flat().map((fault) => ({ fault, stale: 0, other: 0 })))
    for (const { reads, writes } of tallies) expect(Math.min(reads, writes)).toBeGreaterThan(0)
  }, 120_000)
})
