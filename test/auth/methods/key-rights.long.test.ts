import { expect, it } from 'vitest'
import { seeds } from '../../runs.ts'
import { keysThatWiden } from './key-rights.ts'

it.each(seeds(1))('None of 720 random keys widens what may be done (seed %i)', async (seed) => {
  expect(await keysThatWiden(720, seed)).toEqual([])
})
