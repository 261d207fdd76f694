/**
 * What a part of the programme of scale is.
 *
 * @module
 */

import type { StoreName } from '../servers.ts'

/** How much is measured. */
export interface Scale {
  /** The part of the full size: 1 is 10 million records, 3,000 models, 10,000 connections and an hour. */
  readonly factor: number
  readonly store: StoreName
}

/** A line of the table. */
export interface Figure {
  readonly what: string
  readonly figure: string
}

/** Measures a part. */
export type Part = (scale: Scale) => Promise<Figure[]>

/** A whole number as people write it. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
