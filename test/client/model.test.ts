import { describe, expect, it } from 'vitest'
import { runs } from '../runs.ts'
import { interleaved, lastWins } from './model.ts'

const seeds = Array.from({ length: runs(120) }, (_, seed) => seed)

describe('sessions in any order of events', () => {
  it('no call is sent in two sessions, and no session ends twice', async () => {
    for (const seed of seeds) expect(await interleaved(seed), `seed ${seed}`).toEqual([])
  })

  it('after a sign-in or a sign-out, what was on its way changes nothing', async () => {
    for (const seed of seeds) expect(await lastWins(seed), `seed ${seed}`).toEqual([])
  })
})
