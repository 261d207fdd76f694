/** What a string must be for MongoDB to store it as a value of another type, and how a record writes it. */

import { isInteger } from '../../src/model/values/cast.ts'
import type { StoredForm } from '../../src/ports/store/shape.ts'

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
const MAX_DECIMAL_LENGTH = 64

/** The string that a record holds for `value`; undefined if the type cannot hold it. */
export function storedText(form: StoredForm, value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : jsonOf(form, value)
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

/** What Mongoose's JSON of a value holds; other values are returned as they are. */
function jsonOf(form: StoredForm, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { $numberDecimal, type, data } = value as Readonly<Record<string, unknown>>
  if (form === 'decimal128') return $numberDecimal
  if (form !== 'binary' || type !== 'Buffer' || !Array.isArray(data)) return undefined
  const isByte = (one: unknown) =>
    Number.isInteger(one) && (one as number) >= 0 && Number(one) < 256
  return data.every(isByte) ? btoa(data.map((one) => String.fromCharCode(one)).join('')) : undefined
}

/**
 * A decimal as a database writes it: with all its digits, and with an exponent only where zeros would stand for it. Undefined
 * if 128 bits cannot hold exactly what `text` says.
 */
function decimalText(text: string): string | undefined {
  const [, sign = '', whole = '', part = '', exponent = '0'] =
    (text.length <= MAX_DECIMAL_LENGTH && DECIMAL.exec(text)) || []
  const given = `${whole}${part}`
  const digits = given.replace(/^0+/, '') || '0'
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
