import fc from 'fast-check'
import { expect, test } from 'vitest'
import { datesAsText } from '../../src/ports/values/json.ts'
import { runs } from '../runs.ts'

const EDGES = [
  0,
  -1,
  1,
  86_399_999,
  86_400_000,
  253_402_300_799_999,
  253_402_300_800_000,
  Number.NaN,
]

const times = fc.oneof(
  fc.constantFrom(...EDGES),
  fc.integer({ min: -8.64e15, max: 8.64e15 }),
  fc.integer({ min: 0, max: 4e12 }),
)

test('a date has the JSON that JavaScript gives it, in any order of days', () => {
  fc.assert(
    fc.property(times, (time) => {
      const date = new Date(time)
      expect(JSON.stringify(datesAsText(date))).toBe(JSON.stringify(date))
    }),
    { numRuns: runs(2000) },
  )
})

class Month extends Date {
  override toJSON() {
    return this.toISOString().slice(0, 7)
  }
}

test('a value with dates has the JSON that JavaScript gives it, and stays as it was', () => {
  const at = new Date('2024-02-29T23:59:59.007Z')
  const value = {
    ...{
      at,
      list: [at, { at }, [at], new Array(2)],
      month: new Month(at),
      url: new URL('http://a.b/c'),
    },
    ...{ nothing: null, left: undefined, ['__proto__']: { at }, plain: { list: [1, 'a'] } },
    map: Object.assign(Object.create(null), { at }),
  }
  const json = JSON.stringify(value)
  const shown = datesAsText(value) as typeof value
  expect(JSON.stringify(shown)).toBe(json)
  expect(JSON.stringify(value)).toBe(json)
  expect(shown.at).toBe('2024-02-29T23:59:59.007Z')
  expect(shown.plain).toBe(value.plain)
})
