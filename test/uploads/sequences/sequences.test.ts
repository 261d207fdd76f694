import { expect, it } from 'vitest'
import { sequence } from './run.ts'

it.each([
  ['', 1, false],
  [', though the database and the disk fail now and then', 2, true],
])('random writes with files leave what the records show%s', async (_, seed, faults) => {
  expect((await sequence({ seed, rounds: 16, faults })).get(200)).toBeGreaterThan(0)
})
