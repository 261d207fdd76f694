import { describe, expect, it } from 'vitest'
import { notLinearizable, type Operation, stale } from './register.ts'

/** A history from lines: kind, value, start, end. */
function history(...lines: readonly (readonly ['read' | 'write', number, number, number])[]) {
  return lines.map(([kind, value, start, end]): Operation => ({ kind, value, start, end }))
}

describe('the checker of histories', () => {
  const initial = ['write', 0, 0, 1] as const

  it('accepts what a register shows, also while a write is under way', () => {
    const seen = history(
      initial,
      ['read', 0, 2, 3],
      ['write', 1, 4, 12],
      ['read', 0, 5, 6],
      ['read', 1, 7, 9],
      ['read', 1, 10, 14],
      ['read', 1, 15, 16],
    )
    expect(notLinearizable(seen)).toBeUndefined()
    expect(stale(seen)).toBeUndefined()
  })

  it('accepts overlapping writes in either order', () => {
    for (const last of [1, 2]) {
      const seen = history(initial, ['write', 1, 2, 6], ['write', 2, 3, 7], ['read', last, 8, 9])
      expect(notLinearizable(seen)).toBeUndefined()
    }
  })

  it('finds a stale read', () => {
    const seen = history(initial, ['write', 1, 2, 3], ['read', 0, 4, 5])
    expect(notLinearizable(seen)).toBeDefined()
    expect(stale(seen)).toBeDefined()
  })

  it('finds a read that goes back in time during a write', () => {
    const seen = history(initial, ['write', 1, 2, 9], ['read', 1, 3, 4], ['read', 0, 5, 6])
    expect(notLinearizable(seen)).toBeDefined()
    expect(stale(seen)).toBeUndefined()
  })

  it('finds two readers who disagree on the order of two writes', () => {
    const seen = history(
      initial,
      ['write', 1, 2, 3],
      ['write', 2, 2.5, 3.5],
      ['read', 1, 4, 5],
      ['read', 2, 6, 7],
      ['read', 1, 8, 9],
    )
    expect(notLinearizable(seen)).toBeDefined()
  })

  it('finds a value that nobody has written, or not yet', () => {
    expect(stale(history(initial, ['read', 7, 2, 3]))).toBeDefined()
    expect(notLinearizable(history(initial, ['read', 1, 2, 3], ['write', 1, 4, 5]))).toBeDefined()
  })
})
