/**
 * Batches on any store.
 *
 * @module
 */

import { expect, it } from 'vitest'
import type { Store } from '../../src/index.ts'
import { runs } from '../runs.ts'
import { parity } from './parity.ts'
import { transfers } from './transfers.ts'
import { worldOn } from './world.ts'

/** How much is tried. */
export interface Extent {
  readonly batches: number
  readonly writers: number
  readonly moves: number
}

/** Registers the trials for one store; `open` returns one or more stores over the same new records. */
export function batches(
  name: string,
  open: (count: number) => readonly Store[],
  { batches = 25, writers = 6, moves = 2 }: Partial<Extent> = {},
): void {
  it(`${name}: a batch comes to the same as its operations one by one`, {
    timeout: 600_000,
  }, async () => {
    const seed = Number(process.env.SEED ?? 1)
    const [store] = open(1)
    if (!store) throw new Error('no store')
    const toll = await parity(worldOn(store), seed, runs(batches))
    console.info(`${name}, batches:`, { ...toll, differences: toll.differences.length })
    expect(toll.differences).toEqual([])
    expect(toll.taken).toBeGreaterThan(0)
    expect(Object.keys(toll.refused).length).toBeGreaterThan(0)
  })

  it(`${name}: nobody sees half a batch, and none is lost among others`, {
    timeout: 600_000,
  }, async () => {
    const toll = await transfers(open(2), { writers, moves })
    console.info(`${name}, transfers:`, toll)
    expect(toll.broken).toEqual([])
    expect(toll.taken).toBe(writers * moves)
  })
}
