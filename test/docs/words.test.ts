import { expect, it } from 'vitest'
import { chapters, manual, textOf } from './pages.ts'

/** Words that make a reader stop: what is counted, and how many of them in 1,000 words are still plain English. */
const RARE: Record<string, { pattern: RegExp; most: number }> = {
  'whoever, nobody, whatever and the like': {
    pattern: /\b(?:who|what|which|where|when)ever\b|\b(?:no|any|some)body\b/gi,
    most: 0.3,
  },
  '"is no" before a noun': { pattern: /\b(?:is|are|was|were|be) no\b/gi, most: 0.5 },
  deployer: { pattern: /\bdeployers?\b/gi, most: 0.05 },
}

/** The pages that people read, by who reads them. */
const PAGES: Record<string, () => string[]> = {
  'the manual': manual,
  'the reference, which editors show as hovers': () =>
    chapters().filter((page) => page.startsWith('docs/reference/')),
  'the guides of the repository': () => [
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
  ],
}

it('hovers cite no sections of a page that users do not have', () => {
  const pages = PAGES['the reference, which editors show as hovers']?.() ?? []
  const cited = pages.flatMap((page) => textOf(page).match(/.*\bspec \d.*/g) ?? [])
  expect(cited).toEqual([])
})

it.each(
  Object.keys(PAGES).flatMap((pages) => Object.keys(RARE).map((words) => [pages, words] as const)),
)('%s have few of: %s', (pages, words) => {
  const rare = RARE[words]
  const text = (PAGES[pages]?.() ?? []).map(textOf).join('\n')
  const found = text.match(rare?.pattern ?? /^/) ?? []
  const inThousand = (found.length / text.split(/\s+/).length) * 1000
  expect(inThousand, found.join(', ')).toBeLessThanOrEqual(rare?.most ?? 0)
})
