/** From what a client sent to what a field holds, by the field's type; and the ids of records. */

import type { Scalar } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { DATE_AMONG_OTHERS, type IdType, type Shape, shapeFor } from '../../ports/store/shape.ts'
import { hexOf } from '../../ports/values/hex.ts'
import { changedList } from '../../ports/values/members.ts'
import type { Model } from '../model.ts'

/** A decimal number of any length. */
export const NUMBER: RegExp = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
/**
 * ISO 8601 as languages print it: a space may stand for the `T`, before the offset (Ruby), or for its `+` (a URL that is not
 * encoded), and the name of the zone may follow (RFC 9557; Java).
 */
const ISO_DATE =
  /^(\d{4}(?:-\d\d(?:-\d\d)?)?)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:(?:[Zz]| UTC|(?: ?([+-])| {1,2})(\d\d):?(\d\d)?)(?:\[[\w/+-]+\])?)?)?$/
const OBJECT_ID = /^[0-9a-f]{24}$/i
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** The longest decimal string of a number: 1e308 written out, with room for a fraction. */
const MAX_NUMBER_LENGTH = 400
/** The longest string of a date: the time to the nanosecond with its zone has 35 characters. */
const MAX_DATE_LENGTH = 64

/** Four digits are an ISO 8601 year, not epoch milliseconds. */
const YEAR = /^\d{4}$/

// Some stores order dates as strings of fixed width, so years have four digits everywhere.
const FIRST_DATE = Date.parse('0000-01-01T00:00:00.000Z')
const LAST_DATE = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** A number from its decimal string of at most 400 characters, or undefined; no hexadecimal, blanks, infinities or NaN. */
export function numberFrom(text: string): number | undefined {
  const value = text.length <= MAX_NUMBER_LENGTH && NUMBER.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

/** A date from ISO 8601 (UTC without a zone) or epoch milliseconds, years 0000 to 9999; undefined for other strings. */
export function dateFrom(value: string | number): Date | undefined {
  if (typeof value === 'number') {
    // Whole seconds can't be told from milliseconds; a fraction before 1973 is of seconds.
    return value % 1 && value < 1e11 ? undefined : validDate(new Date(value))
  }
  if (value.length > MAX_DATE_LENGTH) return undefined
  const epoch = YEAR.test(value) ? undefined : numberFrom(value)
  if (epoch !== undefined) return dateFrom(epoch)
  const [, day = '', time, sign = '+', hours, minutes = '00'] = ISO_DATE.exec(value) ?? []
  // Some runtimes read 30 February as 1 March.
  if (!new Date(day).toJSON()?.startsWith(day)) return undefined
  const zone = hours === undefined ? 'Z' : `${sign}${hours}:${minutes}`
  return validDate(new Date(time === undefined ? day : `${day}T${time}${zone}`))
}

/** An id in its stored form, or undefined if it does not have the format of the model's ids. */
export function idFrom(text: string, idType: IdType): string | undefined {
  if (idType === 'integer') return isInteger(text) ? text : undefined
  if (idType === 'text') return isKey(text) ? text : undefined
  return (idType === 'uuid' ? UUID : OBJECT_ID).test(text) ? text.toLowerCase() : undefined
}

/** Whether it is an integer of 64 bits, as databases write them. */
export function isInteger(text: string): boolean {
  return /^(?:0|-?[1-9]\d{0,18})$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

const MAX_KEY_LENGTH = 1000

function isKey(text: string): boolean {
  return text !== '' && text.length <= MAX_KEY_LENGTH && text.isWellFormed() && !text.includes('\0')
}

/** The value that a condition on a field compares with, from a URL or a QUERY body; undefined if it can't be cast. */
export function castScalar(
  shape: Shape,
  value: string | number | boolean | null,
): Scalar | undefined {
  if (value === null) return null
  switch (shape.kind) {
    case 'string':
      if (shape.cast) return shape.cast(value)
      return typeof value === 'string' ? wellFormed(value) : String(value)
    case 'number':
      return castNumber(value)
    case 'boolean':
      return castBoolean(value)
    case 'date':
      return typeof value === 'boolean' ? undefined : dateFrom(value)
    case 'id':
      return typeof value === 'string' ? idFrom(value, shape.idType) : undefined
    case 'mixed':
      return castMixed(shape, value)
    default:
      return undefined
  }
}

/** The same of a URL, where an empty string is null, except for a field of strings. */
export function scalarIn(shape: Shape, text: string | number): Scalar | undefined {
  const isText = shape.kind === 'string' && !shape.stored
  return text === '' && !isText ? null : castScalar(shape, text)
}

function castMixed(shape: Shape, value: string | number | boolean): Scalar | undefined {
  if (typeof value !== 'string') return value
  const isDate = shapeFor(shape, value) === DATE_AMONG_OTHERS
  return isDate ? dateAmongOthers(value) : wellFormed(value)
}

/** `value` with its strings cast by the type at each place. What can't be cast stays, for the schema to refuse. */
export function castInput(place: Shape | undefined, value: unknown): unknown {
  const isOneOfSeveral = place?.kind === 'object' ? place.variants : place?.kind === 'mixed'
  const shape = isOneOfSeveral ? shapeFor(place, value) : place
  if (!shape) return value
  if (shape.kind === 'string') return shape.cast?.(value) ?? value
  if (typeof value === 'object' && value !== null) return castMembers(shape, value)
  if (typeof value === 'string') return castText(shape, value)
  return shape.kind === 'date' && typeof value === 'number' ? (dateFrom(value) ?? value) : value
}

function castMembers(shape: Shape, value: object): unknown {
  if (Array.isArray(value)) {
    if (shape.kind !== 'list') return value
    const { element, items } = shape
    return changedList(value, (item, at) => castInput(items?.[at] ?? element, item))
  }
  if (shape.kind !== 'object' && shape.kind !== 'map') return value
  let changed: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const item = (value as Fields)[key]
    const member = shape.kind === 'map' ? shape.value : (shape.fields.get(key) ?? shape.rest)
    const made = castInput(member, item)
    if (made === item) continue
    changed ??= { ...value }
    changed[key] = made
  }
  return changed ?? value
}

function castText(shape: Shape, text: string): Scalar {
  return shape === DATE_AMONG_OTHERS ? dateAmongOthers(text) : (castScalar(shape, text) ?? text)
}

/** A number or a word may be another value: such strings stay, as does a year. */
export function dateAmongOthers(text: string): Date | string {
  return (ISO_DATE.test(text) && !YEAR.test(text) && dateFrom(text)) || text
}

function castNumber(value: string | number | boolean): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'string' ? numberFrom(value) : undefined
}

const TRUE: readonly unknown[] = [true, 1, 'true', '1', 'yes']
const FALSE: readonly unknown[] = [false, 0, 'false', '0', 'no']

function castBoolean(value: string | number | boolean): boolean | undefined {
  const said = typeof value === 'string' ? value.toLowerCase() : value
  if (TRUE.includes(said)) return true
  return FALSE.includes(said) ? false : undefined
}

/** A string with a lone surrogate has no UTF-8 form: stores would keep something other than what was sent. */
function wellFormed(text: string): string | undefined {
  return text.isWellFormed() ? text : undefined
}

function validDate(date: Date): Date | undefined {
  const time = date.getTime()
  return time >= FIRST_DATE && time <= LAST_DATE ? date : undefined
}

const COUNTER_SIZE = 0x1000000

/** Makes ids. Object ids are as MongoDB's, of seconds, random bytes per maker and a counter, so that they ascend. */
export function idMaker(now: () => number): (idType: IdType) => string {
  // Drawn when first needed: Workers provide no randomness while a module loads.
  let random: string | undefined
  let counter = 0
  return (idType) => {
    if (idType === 'uuid') return crypto.randomUUID()
    if (idType === 'integer') throw new TypeError('ids that are integers come from the database')
    if (random === undefined) {
      const bytes = crypto.getRandomValues(new Uint8Array(8))
      random = hexOf(bytes.subarray(0, 5))
      counter = Number.parseInt(hexOf(bytes.subarray(5)), 16)
    }
    counter = (counter + 1) % COUNTER_SIZE
    const seconds = Math.floor(now() / 1000) % 0x100000000
    const [first, last] = [seconds.toString(16), counter.toString(16)]
    return `${first.padStart(8, '0')}${random}${last.padStart(6, '0')}`
  }
}

/** A new record of `model`: `values` with its id, and with its times. */
export function newRecord(
  { timestamps: { createdAt, updatedAt } }: Pick<Model, 'timestamps'>,
  _id: string,
  values: Fields,
  now: Date,
): Fields {
  const record: Fields = { _id, ...values }
  if (createdAt !== undefined) record[createdAt] = now
  if (updatedAt !== undefined) record[updatedAt] = now
  return record
}
