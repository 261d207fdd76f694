/**
 * Copies of records, for code that may change what it gets.
 *
 * @module
 */

import { setMember } from '../ports/members.ts'
import type { Fields } from '../ports/store.ts'
import { inSlices, type Walk } from './in-slices.ts'

/** A copy of `values` at every depth. `structuredClone` would take long for many small objects. */
export async function copied(values: Fields): Promise<Fields> {
  return (await inSlices(values, undefined, copying)) as Fields
}

const copying: Walk<undefined> = {
  whole: copyOf,
  // Containers without others inside are copied as a whole: a walk keeps those in which nothing changes.
  opens: (value) => Object.values(value).some((item) => typeof item === 'object' && item !== null),
  member: () => undefined,
}

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return new Date(value)
  if (Array.isArray(value)) return value.map(copyOf)
  const copy: Fields = {}
  for (const [key, item] of Object.entries(value)) setMember(copy, key, copyOf(item))
  return copy
}
