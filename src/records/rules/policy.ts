/**
 * Which fields a client may write (spec 4.1, write rules 1 and 2).
 *
 * @module
 */

import { nestedTooDeeply, nothingWritable } from '../../http/refusals.ts'
import { inSlices, type Walk } from '../../model/in-slices.ts'
import {
  checkDepth,
  isFields,
  isForbiddenKey,
  NestedTooDeeply,
  withoutForbiddenKeys,
} from '../../model/writable.ts'
import type { Fields } from '../../ports/store.ts'

/**
 * The part of `body` that the client may write, without forbidden keys at any level. Other fields are dropped silently;
 * if nothing is left it is a 400. Fields in `closed` belong to the server.
 */
export async function keepWritable(
  body: unknown,
  writable: ReadonlySet<string>,
  closed: ReadonlySet<string>,
): Promise<Fields> {
  if (!isFields(body)) throw nothingWritable()
  const kept: Fields = {}
  for (const [field, value] of Object.entries(body)) {
    if (!writable.has(field) || closed.has(field)) continue
    kept[field] = await cleaned(field, value)
  }
  if (Object.keys(kept).length === 0) throw nothingWritable()
  return kept
}

/** `value` without forbidden keys at any level. Throws a 400 naming `field` if it is nested too deeply. */
export async function cleaned(field: string, value: unknown): Promise<unknown> {
  try {
    return await inSlices(value, 1, cleaning)
  } catch (error) {
    throw error instanceof NestedTooDeeply ? nestedTooDeeply(field) : error
  }
}

const cleaning: Walk<number> = {
  whole: withoutForbiddenKeys,
  opens(_, depth) {
    checkDepth(depth)
    return true
  },
  member: (depth) => depth + 1,
  drops: isForbiddenKey,
}
