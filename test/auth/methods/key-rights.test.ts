import { expect, it } from 'vitest'
import { runs } from '../../runs.ts'
import { keysThatWiden } from './key-rights.ts'

it('A key never does more than its owner, nor more than it allows, nor anything with accounts', async () => {
  expect(await keysThatWiden(runs(40), 1)).toEqual([])
})
