/** Which fields a client may write. */

import { nestedTooDeeply, nothingWritable, unsafeKey } from '../../http/refusals.ts'
import { NestedTooDeeply, UnsafeKey, withoutForbiddenKeys } from '../../model/writable.ts'
import { type ObjectShape, shapeInside } from '../../ports/shape.ts'
import type { Fields } from '../../ports/store.ts'

/**
 * The part of `body` that the client may write, without forbidden keys at any level. Other fields are dropped silently;
 * if nothing is left it is a 400. Fields in `closed` belong to the server. `shape` is that of what a write sends.
 */
export function keepWritable(
  body: unknown,
  writable: ReadonlySet<string>,
  closed: ReadonlySet<string>,
  shape: ObjectShape,
): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw nothingWritable()
  const kept: Fields = {}
  for (const [field, value] of Object.entries(body)) {
    if (!writable.has(field) || closed.has(field)) continue
    kept[field] = typeof value === 'object' ? cleaned(field, value, shape) : value
  }
  if (Object.keys(kept).length === 0) throw nothingWritable()
  return kept
}

/**
 * `value` of `field` without forbidden keys at any level, except those that `shape` keeps. Throws a 400 naming `field` if
 * it is nested too deeply, or holds an unsafe key.
 */
export function cleaned(field: string, value: unknown, shape: ObjectShape): unknown {
  try {
    return withoutForbiddenKeys(value, 1, shapeInside(shape, field, value))
  } catch (error) {
    if (error instanceof UnsafeKey) throw unsafeKey(field, error.message)
    throw error instanceof NestedTooDeeply ? nestedTooDeeply(field) : error
  }
}
