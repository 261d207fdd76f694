import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ON_NPM, readRows } from '../differences/rows.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = readFileSync(`${root}docs/differences.md`, 'utf8')
const rows = [...page.matchAll(/^\|.*\| `(test\/[^`]+)`: (.+?) \|$/gm)]

describe('docs/differences.md', () => {
  it('names a test for every difference', () => {
    expect(rows).toHaveLength(readRows().filter(({ section }) => section !== ON_NPM).length)
  })

  it.each(rows.map(([, file = '', words = '']) => [file, words]))(
    '%s has a test with: %s',
    (file, words) => {
      expect(existsSync(root + file)).toBe(true)
      const titles = readFileSync(root + file, 'utf8')
        .split('\n')
        .filter((line) => /\b(?:it|test)\b|async '|': async/.test(line) || /^\s*['`]/.test(line))
      expect(
        titles.some((line) => line.includes(words)),
        words,
      ).toBe(true)
    },
  )
})
