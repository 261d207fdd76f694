import { expect, it } from 'vitest'
import { dateFrom, FIRST, isoFrom, LAST } from '../../../adapters/stores/postgres/layout/dates.ts'

it.each([
  ['2020-01-02 03:04:05+00', '2020-01-02T03:04:05.000Z'],
  ['2020-01-02 03:04:05.6789+00', '2020-01-02T03:04:05.678Z'],
  ['0044-03-15 00:00:00+00 BC', '-000043-03-15T00:00:00.000Z'],
  ['0001-12-31 01:20:31.329+00 BC', '0000-12-31T01:20:31.329Z'],
  ['20000-01-01 00:00:00+00', '+020000-01-01T00:00:00.000Z'],
  ['infinity', LAST],
  ['-infinity', FIRST],
  // JavaScript has no such date.
  ['275760-09-13 00:00:00.001+00', LAST],
  ['294276-12-31 23:59:59.999999+00', LAST],
])('the date %s of PostgreSQL is read as %s', (text, iso) => {
  expect(isoFrom(text)).toBe(iso)
  expect(dateFrom(text).toISOString()).toBe(iso)
})
