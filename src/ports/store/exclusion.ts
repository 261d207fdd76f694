import type { Scalar } from './filter.ts'

/** No two records with equal values have ranges that overlap. */
export interface Exclusion {
  /** The fields that are compared; a record that lacks one excludes no other. */
  readonly equal: readonly string[]
  /** The fields of the first value that is in the range, and of the first one after it. */
  readonly range: readonly [from: string, to: string]
  /** The values of other fields that a record must have to count. */
  readonly where: Readonly<Record<string, readonly Scalar[]>>
}
