/** The value at a path of a record. */

import type { Scalar } from '../ports/filter.ts'
import type { Fields } from '../ports/store.ts'
import { isFields } from './writable.ts'

/** The value at a dotted path that leads to one value; null if there is none. */
export function valueAt(record: Fields, path: string): Scalar {
  return (valueIn(record, path) ?? null) as Scalar
}

/** The value at `path` in `record`, outside of lists. */
export function valueIn(record: Fields, path: string): unknown {
  let value: unknown = record
  for (const key of path.split('.')) {
    value = isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return value
}
