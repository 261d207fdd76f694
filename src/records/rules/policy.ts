/**
 * Which fields a client may write (spec 4.1, write rules 1 and 2).
 *
 * @module
 */

import { nestedTooDeeply, nothingWritable, unsafeKey } from '../../http/refusals.ts'
import { inSlices, type Walk } from '../../model/in-slices.ts'
import {
  checkDepth,
  isFields,
  isForbiddenIn,
  NestedTooDeeply,
  UnsafeKey,
  withoutForbiddenKeys,
} from '../../model/writable.ts'
import { type ObjectShape, type Shape, shapeInside } from '../../ports/shape.ts'
import type { Fields } from '../../ports/store.ts'

/**
 * The part of `body` that the client may write, without forbidden keys at any level. Other fields are dropped silently;
 * if nothing is left it is a 400. Fields in `closed` belong to the server. `shape` is that of what a write sends.
 */
export async function keepWritable(
  body: unknown,
  writable: ReadonlySet<string>,
  closed: ReadonlySet<string>,
  shape: ObjectShape,
): Promise<Fields> {
  if (!isFields(body)) throw nothingWritable()
  const kept: Fields = {}
  for (const [field, value] of Object.entries(body)) {
    if (!writable.has(field) || closed.has(field)) continue
    kept[field] = await cleaned(field, value, shape)
  }
  if (Object.keys(kept).length === 0) throw nothingWritable()
  return kept
}

/**
 * `value` of `field` without forbidden keys at any level, except those that `shape` keeps. Throws a 400 naming `field` if
 * it is nested too deeply, or holds an unsafe key.
 */
export async function cleaned(field: string, value: unknown, shape: ObjectShape): Promise<unknown> {
  try {
    return await inSlices(value, { depth: 1, shape: shapeInside(shape, field, value) }, cleaning)
  } catch (error) {
    if (error instanceof UnsafeKey) throw unsafeKey(field, error.message)
    throw error instanceof NestedTooDeeply ? nestedTooDeeply(field) : error
  }
}

/** Where a value is in a field. */
interface Place {
  readonly depth: number
  readonly shape: Shape | undefined
}

const cleaning: Walk<Place> = {
  whole: (value, { depth, shape }) => withoutForbiddenKeys(value, depth, shape),
  opens(_, { depth }) {
    checkDepth(depth)
    return true
  },
  member: ({ depth, shape }, key, value) => ({
    depth: depth + 1,
    shape: shapeInside(shape, key, value),
  }),
  drops: (key, { shape }) => isForbiddenIn(shape, key),
}
