/**
 * Which fields a client may write (spec 4.1, write rules 1 and 2).
 *
 * @module
 */

import { nestedTooDeeply, nothingWritable } from '../http/refusals.ts'
import { isFields, tooDeep, withoutForbiddenKeys } from '../model/writable.ts'
import type { Fields } from '../ports/store.ts'

/**
 * The part of `body` that the client may write, forbidden keys removed at every level. What may not be
 * written is dropped in silence; nothing left is a 400. `scoped` fields belong to the server.
 */
export function keepWritable(
  body: unknown,
  writable: ReadonlySet<string>,
  scoped: Readonly<Record<string, unknown>>,
): Fields {
  if (!isFields(body)) throw nothingWritable()
  const kept: Fields = {}
  for (const [field, value] of Object.entries(body)) {
    if (!writable.has(field) || Object.hasOwn(scoped, field)) continue
    kept[field] = cleaned(field, value)
  }
  if (Object.keys(kept).length === 0) throw nothingWritable()
  return kept
}

/** `value` without forbidden keys at any level. Throws a 400 that names `field` where it nests too deep. */
export function cleaned(field: string, value: unknown): unknown {
  const clean = withoutForbiddenKeys(value)
  if (clean === tooDeep) throw nestedTooDeeply(field)
  return clean
}
