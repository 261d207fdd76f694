/**
 * Which fields can be ordered: those with values of one JSON type. Databases order and compare values of several types
 * differently, so a sort or a unique field of such values could not be the same on every store.
 */

import { type ObjectShape, placeOf } from '../ports/shape.ts'

/** Whether `path` leads to one value, which an index can hold: no list on the way, no object at its end. */
export function isScalar(shape: ObjectShape, path: string): boolean {
  const place = placeOf(shape, path)
  return place?.parts.length === 1 && !['object', 'map', 'list'].includes(place.shape.kind)
}

/** Whether `path` leads to one value of one type. */
export function isOrdered(shape: ObjectShape, path: string): boolean {
  return isScalar(shape, path) && !isMixed(shape, path)
}

/** Whether `path` leads to one value whose type is unknown, or one of several. */
export function isMixed(shape: ObjectShape, path: string): boolean {
  return isScalar(shape, path) && placeOf(shape, path)?.shape.kind === 'mixed'
}

/** Why a field of several types is refused, and what to write instead. */
export const SEVERAL_TYPES =
  'which may hold values of several types and so has no order. Declare one type, as in z.string() (after a transform: .pipe(z.string())), or leave it out'
