/** What a client may write inside a field. */

import { nestedTooDeeply, unsafeKey } from '../../http/errors/refusals.ts'
import { NestedTooDeeply, UnsafeKey, withoutForbiddenKeys } from '../../model/writable.ts'
import { type ObjectShape, shapeInside } from '../../ports/store/shape.ts'

/** `value` without the forbidden keys that `shape` doesn't keep. Throws a 400 for deep nesting, or an unsafe key. */
export function cleaned(field: string, value: unknown, shape: ObjectShape): unknown {
  try {
    return withoutForbiddenKeys(value, 1, shapeInside(shape, field, value))
  } catch (error) {
    if (error instanceof UnsafeKey) throw unsafeKey(field, error.message)
    throw error instanceof NestedTooDeeply ? nestedTooDeeply(field) : error
  }
}
