import { expect, it } from 'vitest'
import { pagesWithFigures } from '../../bench/figures.ts'

it('the figures of speed on the pages are those that were measured last (`npm run figures`)', () => {
  const pages = pagesWithFigures()
  expect(pages.map(({ text }) => text)).toEqual(pages.map(({ current }) => current))
})
