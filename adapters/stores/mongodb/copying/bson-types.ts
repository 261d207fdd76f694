/**
 * BSON's types by name, and what a record holds of each.
 *
 * @module
 */

import { DATE_AMONG_OTHERS, type Shape, type StoredForm } from '../../../../src/ports/shape.ts'

/** Where a value is: the last part of its path, and the shape that the model declares there. */
export interface Place {
  readonly key: string
  readonly shape: Shape | undefined
}

/** The type of a value that was read as it is stored, as MongoDB's manual calls it; `Object` and `Array` too. */
export function typeOf(value: unknown): string {
  if (value === null) return 'Null'
  if (Array.isArray(value)) return 'Array'
  if (value instanceof Date) return 'Date'
  if (typeof value !== 'object') return NAMES[typeof value] ?? typeof value
  if (!('_bsontype' in value) || Object.hasOwn(value, '_bsontype')) return 'Object'
  const tag = String(value._bsontype)
  return 'sub_type' in value ? (BINARY[String(value.sub_type)] ?? tag) : (NAMES[tag] ?? tag)
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'String',
  boolean: 'Boolean',
  undefined: 'Undefined',
  BSONRegExp: 'RegExp',
  BSONSymbol: 'Symbol',
}

/** By subtype; the others are plain `Binary`. */
const BINARY: Readonly<Record<string, string>> = { 3: 'UUID (subtype 3)', 4: 'UUID' }

/** What a record holds instead of a value of this type at this place, see documents.ts; undefined if it holds it. */
export function otherThan(type: string, value: unknown, place: Place): string | undefined {
  if (isDeclared(type, place)) return undefined
  const other = OTHERS[type]
  return typeof other === 'function' ? other(value, place) : other
}

/** Whether the model declares the type, so that the record tells all of the value. */
function isDeclared(type: string, { shape }: Place): boolean {
  return shape !== undefined && 'stored' in shape && FORMS[type] === shape.stored
}

/**
 * The type that a write of this string stores, if that is another one: filters ask for that. Dates are left out, whose
 * records don't hold the string.
 */
export function writtenAs(type: string, { shape }: Place): string | undefined {
  if (type !== 'String' || !shape) return undefined
  if (shape.kind === 'id' && shape.idType === 'objectId') return 'ObjectId'
  const stored = 'stored' in shape ? shape.stored : undefined
  return Object.keys(FORMS).find((name) => FORMS[name] === stored)
}

const FORMS: Readonly<Record<string, StoredForm>> = {
  Decimal128: 'decimal128',
  Long: 'long',
  UUID: 'uuid',
  Binary: 'binary',
}

type Other = string | undefined | ((value: unknown, place: Place) => string | undefined)

const OTHERS: Readonly<Record<string, Other>> = {
  String: (_, { shape }) =>
    shape?.kind === 'date' && shape !== DATE_AMONG_OTHERS ? 'a date' : undefined,
  Date: (value, { shape }) => {
    if (Number.isNaN(Number(value))) return 'null'
    return shape?.kind === 'date' ? undefined : 'a string'
  },
  // What is an id here is written back as an ObjectId.
  ObjectId: (_, { key, shape }) =>
    key === '_id' || (shape?.kind === 'id' && shape.idType === 'objectId') ? undefined : 'a string',
  Double: (value) => (Number.isFinite(Number(value)) ? undefined : 'null'),
  Long: (value) => (isWhole(String(value)) ? undefined : 'a rounded number'),
  Decimal128: (value) => decimal(String(value)),
  UUID: 'a string',
  'UUID (subtype 3)': 'a string in base64',
  Binary: 'a string in base64',
  RegExp: 'a string',
  Symbol: 'a string',
  Timestamp: 'an object',
  Code: 'an object',
  DBRef: 'an object',
  MinKey: 'null',
  MaxKey: 'null',
  Undefined: 'nothing',
}

/** Whether a number of JavaScript has exactly this whole value. */
function isWhole(text: string): boolean {
  return BigInt(Number(text)) === BigInt(text)
}

function decimal(text: string): string {
  const number = Number(text)
  if (!Number.isFinite(number)) return 'null'
  return digitsOf(text) === digitsOf(String(number)) ? 'a number' : 'a rounded number'
}

/** A decimal number without the ways to write the same value: `1.10`, `1.1` and `11E-1` are one. */
function digitsOf(text: string): string {
  const [, sign, whole = '', part = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const digits = `${whole}${part}`
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  const kept = digits.slice(0, end)
  return `${sign}${kept.replace(/^0+/, '')}e${Number(power) - part.length + digits.length - kept.length}`
}
