/**
 * The value at a path of a record.
 *
 * @module
 */

import { isFields } from '../model/writable.ts'
import type { Scalar } from '../ports/filter.ts'
import type { Fields } from '../ports/store.ts'

/** What stands at a dotted path that leads to one value; null where nothing does. */
export function valueAt(record: Fields, path: string): Scalar {
  let value: unknown = record
  for (const key of path.split('.')) {
    value = isFields(value) && Object.hasOwn(value, key) ? value[key] : null
  }
  return (value ?? null) as Scalar
}
