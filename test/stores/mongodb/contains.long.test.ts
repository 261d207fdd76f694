import { describe, expect, it } from 'vitest'
import { containsPattern } from '../../../adapters/stores/mongodb/search/grams.ts'
import { fold } from '../../../src/ports/values/fold.ts'

const LAST_CODE_POINT = 0x10ffff

describe('containsPattern', () => {
  it('is the class of all characters that fold alike, for every character there is', () => {
    const families = Map.groupBy(
      Array.from({ length: LAST_CODE_POINT + 1 }, (_, code) => String.fromCodePoint(code)),
      fold,
    )
    for (const [folded, family] of families) {
      if (family.length === 1) continue
      const pattern = containsPattern(folded)
      expect([...pattern.slice(1, -1)].sort()).toEqual(family.sort())
    }
  })

  it('takes every character literally', () => {
    expect(containsPattern('^(.*)$ [0-9]')).toBe('\\^\\(\\.\\*\\)\\$ \\[0\\-9\\]')
    expect(containsPattern('\0\n')).toBe('\\x00\n')
  })
})
