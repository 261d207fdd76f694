/**
 * The types of BSON that a model declares and JSON has no value for, see `StoredForm`: the JSON of each says all that the
 * BSON value does, so that what was read can be written back.
 *
 * @module
 */

import { Binary, Decimal128, Double, Long, UUID } from 'mongodb'
import type { Shape, StoredForm } from '../../../../src/ports/shape.ts'

/** `value` of a record as BSON. What does not fit the type stays as it is: the model has checked what clients send. */
export function bsonValue(form: StoredForm, value: unknown): unknown {
  if (form === 'double') return typeof value === 'number' ? new Double(value) : value
  return typeof value === 'string' ? FROM_TEXT[form](value) : value
}

/** An id that is an integer: a number where JavaScript has one, as Mongoose writes them. */
export function integer(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : Long.fromString(value)
}

const FROM_TEXT: Readonly<Record<Exclude<StoredForm, 'double'>, (text: string) => unknown>> = {
  decimal128: (text) => Decimal128.fromString(text),
  long: (text) => Long.fromString(text),
  uuid: (text) => new UUID(text).toBinary(),
  binary: (text) => Binary.createFromBase64(text),
}

/** A stored value as a record has it; `others` reads values of other types. */
export function recordValue(
  form: StoredForm,
  value: unknown,
  others: (value: unknown) => unknown,
): unknown {
  if (value === null || value === undefined) return value
  const tag = tagOf(value)
  switch (form) {
    case 'decimal128':
    case 'long':
      return typeof value === 'number' || ['Decimal128', 'Long'].includes(tag)
        ? String(value)
        : others(value)
    case 'binary':
      return tag === 'Binary' ? (value as Binary).toString('base64') : others(value)
    default:
      return others(value)
  }
}

/** The kind of the values of a form in the order of BSON, by their least one. */
export function leastOf(form: StoredForm): unknown {
  return form === 'uuid' || form === 'binary' ? new Binary() : Number.NEGATIVE_INFINITY
}

function tagOf(value: unknown): string {
  return typeof value === 'object' && value !== null && '_bsontype' in value
    ? String(value._bsontype)
    : ''
}

const known = new WeakMap<Shape, boolean>()

/** Whether a record of this shape holds values whose JSON the BSON alone does not tell. */
export function holdsStored(shape: Shape): boolean {
  const before = known.get(shape)
  if (before !== undefined) return before
  // A shape that holds itself has nothing more to say of itself.
  known.set(shape, false)
  const found = partsOf(shape).some((part) => isTold(part) || holdsStored(part))
  known.set(shape, found)
  return found
}

function isTold(shape: Shape): boolean {
  if (shape.kind === 'id') return shape.idType === 'integer'
  return 'stored' in shape && shape.stored !== undefined && shape.stored !== 'double'
}

function partsOf(shape: Shape): readonly Shape[] {
  switch (shape.kind) {
    case 'object':
      return [...shape.fields.values()]
    case 'list':
      return [shape.element]
    case 'map':
      return [shape.value]
    default:
      return []
  }
}
