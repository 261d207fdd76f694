import { expect, it } from 'vitest'
import { blocksOf } from './pages.ts'

it('notes with accounts are at most 20 lines in the README, which are run with its other programs', () => {
  const notes = blocksOf('README.md').find(({ text }) => text.startsWith('// notes.ts'))
  expect(notes?.words).toEqual([])
  const lines = notes?.text.split('\n').filter((line) => line !== '' && !line.startsWith('//'))
  expect(lines?.length).toBeGreaterThan(10)
  expect(lines?.length).toBeLessThanOrEqual(20)
})
