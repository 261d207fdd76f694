/** Copies of records, for code that may change what it gets. */

import { setMember } from '../ports/members.ts'
import type { Fields } from '../ports/store.ts'

/** A copy of `values` at every depth. `structuredClone` would take long for many small objects. */
export function copied(values: Fields): Fields {
  return copyOf(values) as Fields
}

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return new Date(value)
  if (Array.isArray(value)) return value.map(copyOf)
  const copy: Fields = {}
  for (const [key, item] of Object.entries(value)) setMember(copy, key, copyOf(item))
  return copy
}
