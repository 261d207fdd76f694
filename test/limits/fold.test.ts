import { expect, it } from 'vitest'
import { fold } from '../../src/ports/values/fold.ts'
import { processorClock } from './processor-time.ts'

/** Simple case folding of one code point, as Unicode's tables have it. */
function folded(char: string): string {
  if (char === 'ı' || char === 'İ') return char
  const isOne = (text: string) => [...text].length === 1
  const upper = char.toUpperCase()
  const lower = (isOne(upper) ? upper : char).toLowerCase()
  return isOne(lower) ? lower : char
}

it('folds every code point, alone and among others', () => {
  let all = ''
  for (let point = 0; point <= 0x10ffff; point += 1) {
    const char = String.fromCodePoint(point)
    const isSurrogate = point >= 0xd800 && point <= 0xdfff
    if (fold(char) !== (point < 0x80 ? char.toLowerCase() : folded(char))) {
      throw new Error(`U+${point.toString(16)}`)
    }
    if (!isSurrogate) all += char
  }
  expect(fold(all)).toBe([...all].map(fold).join(''))
  expect(fold('a\ud800B\udc00\ud800')).toBe('a\ud800b\udc00\ud800')
})

it('folds a megabyte at once', () => {
  for (const text of ['é'.repeat(500_000), 'A'.repeat(1_000_000), '日💥'.repeat(150_000)]) {
    const times: number[] = []
    // Beside much other work, the same takes the processor longer.
    for (let tries = 0; tries < 3; tries += 1) {
      const passed = processorClock()
      expect(fold(text)).toHaveLength(text.length)
      times.push(passed())
      if (times.some((time) => time < 80)) break
    }
    expect(Math.min(...times)).toBeLessThan(80)
  }
})
