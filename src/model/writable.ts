/** The keys that no client ever writes, at any depth. */

import type { Fields } from '../ports/store/records.ts'
import { FREE, type Shape, shapeInside } from '../ports/store/shape.ts'
import { changedList } from '../ports/values/members.ts'

/** Keys with a meaning of their own in JavaScript. */
const UNSAFE = new Set(['__proto__', 'constructor', 'prototype'])

const KEPT_BY_THE_SERVER = new Set(['_id', '__v', 'createdAt', 'updatedAt', ...UNSAFE])

/** How many containers a field's value may nest, itself included. */
const MAX_DEPTH = 8

/** Whether no client may ever write under `key`. */
export function isForbiddenKey(key: string): boolean {
  return KEPT_BY_THE_SERVER.has(key) || key.startsWith('$') || key.includes('.')
}

/** Whether `value` is an object that holds fields: no list, no Date, no null. */
export function isFields(value: unknown): value is Fields {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  )
}

/** Thrown for a value that nests deeper than clients may write. */
export class NestedTooDeeply extends Error {
  override readonly name = 'NestedTooDeeply'
}

/** Throws if a container at `depth` is nested too deeply; a field's own value is at depth 1. */
function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new NestedTooDeeply()
}

/** Thrown for a key that would be lost without a word where every other one is kept. */
export class UnsafeKey extends Error {
  override readonly name = 'UnsafeKey'
}

/** Whether no client may write under `key` of an object of this shape. Throws `UnsafeKey`. */
function isForbiddenIn(shape: Shape | undefined, key: string): boolean {
  if (!isForbiddenKey(key)) return false
  if (shape?.kind === 'object' && shape.kept?.has(key)) return false
  // A decimal may be sent as Mongoose shows it: `{ "$numberDecimal": "1.5" }`.
  if (shape?.kind === 'string') return !shape.cast
  const isFree = shape === FREE || (shape?.kind === 'object' && shape.rest === FREE)
  const isName = shape?.kind === 'map' && shape.freeNames && KEPT_BY_THE_SERVER.has(key)
  if (!isFree && !isName) return true
  if (UNSAFE.has(key)) throw new UnsafeKey(key)
  return false
}

const FORBIDDEN = Symbol('forbidden')

/**
 * `value` without forbidden keys at any level, except those that its shape keeps; `value` itself if it has none. Throws
 * `NestedTooDeeply` and `UnsafeKey`.
 */
export function withoutForbiddenKeys(value: unknown, depth: number, shape?: Shape): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  checkDepth(depth)
  if (Array.isArray(value)) return cleanList(value, depth, shape)
  let kept: Fields | undefined
  for (const key of Object.keys(value)) {
    const item = (value as Fields)[key]
    const clean = isForbiddenIn(shape, key)
      ? FORBIDDEN
      : withoutForbiddenKeys(item, depth + 1, shapeInside(shape, key, item))
    if (clean === item) continue
    kept ??= { ...value }
    if (clean === FORBIDDEN) delete kept[key]
    else kept[key] = clean
  }
  return kept ?? value
}

function cleanList(
  list: readonly unknown[],
  depth: number,
  shape: Shape | undefined,
): readonly unknown[] {
  // Most elements are plain values, which have no keys.
  return changedList(list, (item, at) =>
    typeof item !== 'object' || item === null
      ? item
      : withoutForbiddenKeys(item, depth + 1, shapeInside(shape, at, item)),
  )
}
