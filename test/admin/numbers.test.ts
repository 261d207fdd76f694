import { expect, it } from 'vitest'
import { numberText } from '../../packages/admin/src/page/numbers.ts'

it.each([
  [0, '0'],
  [2026, '2026'],
  [1234567.891, '1,234,567.891'],
  [0.1 + 0.2, '0.3'],
  [1e-6, '0.000001'],
  [-1.5e-15, '-1.5E-15'],
  [5e-324, '5E-324'],
])('the number %j of a record is written as %s', (value, text) => {
  expect(numberText(value, 'en')).toBe(text)
})

it('what is nearly nothing is not written as nothing', () => {
  expect(numberText(1e-15, 'de')).toBe('1E-15')
})
