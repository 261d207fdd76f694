/**
 * Marks on schemas for records that Mongoose wrote too: which type of BSON a value is stored as, and which members of
 * subdocuments clients may write.
 *
 * @module
 */

import type { $ZodType, $ZodTypes } from 'zod/v4/core'
import type { StoredForm } from '../ports/shape.ts'

/** What a marked schema's values are stored as: a type of BSON, or an ObjectId that refers to no model. */
export type StoredAs = StoredForm | 'objectId'

/** Marks `schema`: its values are stored as `as`. */
export function storedAs<S extends $ZodType>(schema: S, as: StoredAs): S {
  // The mark is in the definition, which zod copies when it clones a schema.
  Object.assign(schema._zod.def, { storedAs: as })
  return schema
}

/** What the values of `schema` itself are stored as; undefined for one that is not marked. */
export function storedAsOf(schema: $ZodType): StoredAs | undefined {
  return (schema._zod.def as { storedAs?: StoredAs }).storedAs
}

/** Marks `schema`: as a member of an object it is written by clients, although its name is one that the server keeps. */
export function keptMember<S extends $ZodType>(schema: S): S {
  Object.assign(schema._zod.def, { kept: true })
  return schema
}

/** Whether `schema`, or a schema that it wraps, is marked. */
export function isKept(schema: $ZodType): boolean {
  const { def } = (schema as $ZodTypes)._zod
  if ((def as { kept?: boolean }).kept === true) return true
  return 'innerType' in def && isKept(def.innerType as $ZodType)
}

/** A decimal as clients write it: sign, digits, digits after the point, exponent. */
const DECIMAL = /^(-?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,5}))?$/i
const NOT_FINITE = /^(?:-?Infinity|NaN)$/
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** What IEEE 754 gives a decimal of 128 bits: its digits, and the powers of ten that the last of them may stand for. */
const DIGITS = 34
const LEAST_POWER = -6176
const GREATEST_POWER = 6111
/** A longer text has more digits than fit, or zeros that say nothing. */
const LONGEST_DECIMAL = 64

/** The string that a record holds for `value`; undefined if the type cannot hold it. */
export function storedText(
  form: StoredForm,
  value: string | number | boolean | null,
): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return undefined
  switch (form) {
    case 'decimal128':
      return NOT_FINITE.test(text) ? text : decimalText(text)
    case 'long':
      return isInteger(text) ? text : undefined
    case 'uuid':
      return UUID.test(text) ? text.toLowerCase() : undefined
    case 'binary':
      return BASE64.test(text) ? text : undefined
    default:
      return undefined
  }
}

/** Whether it is an integer of 64 bits, as databases write them. */
export function isInteger(text: string): boolean {
  return /^(?:0|-?[1-9]\d{0,18})$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

/**
 * A decimal as a database writes it: with all its digits, and with an exponent only where zeros would stand for it. Undefined
 * if 128 bits cannot hold exactly what `text` says.
 */
function decimalText(text: string): string | undefined {
  const [, sign = '', whole = '', part = '', exponent = '0'] =
    (text.length <= LONGEST_DECIMAL && DECIMAL.exec(text)) || []
  const given = `${whole}${part}`
  const digits = given.replace(/^0+(?=\d)/, '')
  const power = Number(exponent) - part.length
  if (given === '' || digits.length > DIGITS) return undefined
  if (power < LEAST_POWER || power > GREATEST_POWER) return undefined
  return `${sign}${written(digits, power)}`
}

/** What `digits` times ten to the `power` is written as (IEEE 754-2008, 5.12). */
function written(digits: string, power: number): string {
  const first = power + digits.length - 1
  if (power > 0 || first < -6) {
    const rest = digits.length > 1 ? `.${digits.slice(1)}` : ''
    return `${digits[0]}${rest}E${first < 0 ? '' : '+'}${first}`
  }
  const padded = digits.padStart(1 - power, '0')
  return power === 0 ? digits : `${padded.slice(0, power)}.${padded.slice(power)}`
}
