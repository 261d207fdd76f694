/** What an aggregate asks of a store: groups of records, and what is computed of each. */

import type { Filter } from './filter.ts'
import type { ReadHints } from './records.ts'

/** The part of a date that records are grouped by, in UTC: `2026`, `2026-11` or `2026-11-03`. */
export type DatePart = 'year' | 'month' | 'day'

/** How many characters of a date in ISO 8601 each part is. */
export const PART_LENGTHS: Readonly<Record<DatePart, number>> = { year: 4, month: 7, day: 10 }

/** What records are grouped by: the value of a field, which leads to one value of one type, or a part of its date. */
export interface GroupKey {
  readonly field: string
  readonly part?: DatePart
}

/**
 * What is computed of a group: how many records it has, or something of a field that holds numbers; of one that holds
 * dates, the least or the greatest.
 */
export type Measure =
  | { readonly op: 'count' }
  | { readonly op: 'sum' | 'avg' | 'min' | 'max'; readonly field: string }

/** Which column of the rows is sorted by: the keys come first, then the measures. */
export interface GroupSort {
  readonly column: number
  readonly descending: boolean
}

/**
 * Groups of records. Null and missing values are one group, whose key is null; measures ignore them. A sum of nothing is
 * 0, every other measure of nothing is null.
 *
 * Sums are exact as long as all numbers and the result are whole and at most 2^53, whatever is in between. Rows sort as
 * records do: null first ascending, strings by code point, the numbers of measures as `roundedMeasure` has them.
 */
export interface AggregateRead {
  readonly filter: Filter
  /** At most three. Without one there is one row, even if no record matches. */
  readonly by: readonly GroupKey[]
  /** One at least, unless there are keys. */
  readonly measures: readonly Measure[]
  /** A total order: every key is in it. */
  readonly sort: readonly GroupSort[]
  /** The most rows to return. */
  readonly limit: number
  readonly hints?: ReadHints
}

/** The significant digits of a number that is not whole. */
const DIGITS = 12
/** Up to here, doubles hold every whole number. */
const MOST_WHOLE = 2 ** 53

/**
 * The number of a measure as it is shown: exact if it is whole and at most 2^53, else with 12 significant digits, because
 * databases add fractions in different orders. An average never counts as whole. Null for a number that is beyond all
 * others.
 */
export function roundedMeasure(op: Measure['op'], value: number): number | null {
  const isWhole = op !== 'avg' && Number.isInteger(value) && Math.abs(value) <= MOST_WHOLE
  if (isWhole) return value
  return Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : null
}
