import type { Compared, Difference } from './compare.ts'
import type { Pair } from './pairs.ts'

/** How one row of the table for the 1.x shows. */
export interface Rule {
  /** Words of the row's first cell, which no other row of the table has. */
  readonly row: string
  /** Whether the difference is due to it, if no rule before it had it. */
  explains(difference: Difference, compared: Compared): boolean
}

/** The members of an object that was sent; none if something else was. */
export function sentIn({ body = '' }: Pair): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** The query of a pair's path, as it is written. */
export function queryOf({ path }: Pair): string {
  return path.split('?')[1] ?? ''
}
