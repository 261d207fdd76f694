/**
 * Schema validation: what zod refuses, as a map from full path to message.
 *
 * @module
 */

import { object } from 'zod/mini'
import {
  type $ZodIssue,
  type $ZodType,
  config,
  type ParseContext,
  type safeParseAsync,
} from 'zod/v4/core'
import english from 'zod/v4/locales/en.js'
import { firstMessages, messagesOf } from '../ports/messages.ts'
import type { Shape } from '../ports/shape.ts'
import { isLarge } from '../ports/slices.ts'
import type { Fields } from '../ports/store.ts'
import { boundedParse } from './bounded-parse.ts'
import { castInSlices, dateFrom } from './cast.ts'
import { inSlices, type Walk } from './in-slices.ts'
import type { Model } from './model.ts'
import { isRemovable, withoutNulls } from './null.ts'
import { objectShape } from './shape.ts'

const NO_TEXT = 'Invalid Unicode text.'

/** The outcome of a validation: the values as the schema produced them, or a message for each path. */
export type Validation =
  | { readonly ok: true; readonly values: Fields }
  | { readonly ok: false; readonly fields: Record<string, string> }

/** Validates a whole record: cast by the shape, then parsed by the schema, defaults filled in. */
export async function validateRecord(model: Model, input: Fields): Promise<Validation> {
  const given = await castInSlices(model.input, await withoutNulls(model.schema, input))
  const result = await parse(model.schema, given)
  return result.success
    ? storable(model, defined(result.data as Fields))
    : { ok: false, fields: messagesOf(result.error.issues) }
}

/**
 * Validates only the fields that `input` contains, each with its own schema. Null in an optional field becomes
 * `undefined`, which removes it. Absent fields get no default.
 */
export async function validateFields(model: Model, input: Fields): Promise<Validation> {
  const values: Fields = {}
  const fields: Record<string, string> = {}
  for (const [field, value] of Object.entries(input)) {
    const schema = Object.hasOwn(model.fields, field) && model.fields[field]
    if (!schema) continue
    const result = await changed(schema, model.input.fields.get(field), value)
    if (result.success) values[field] = result.data
    else Object.assign(fields, messagesOf(result.error.issues, field))
  }
  return Object.keys(fields).length > 0
    ? { ok: false, fields: firstMessages(fields) }
    : storable(model, values)
}

/** A touched field's new value. */
async function changed(
  schema: $ZodType,
  shape: Shape | undefined,
  value: unknown,
): ReturnType<typeof safeParseAsync> {
  if (value === null) {
    if (!isRemovable(schema)) return parse(schema, null)
    // The schema may have rules about the field's absence.
    const without = await parse(object({ field: schema }), {})
    return without.success ? { success: true, data: undefined } : parse(schema, undefined)
  }
  return parse(schema, await castInSlices(shape, await withoutNulls(schema, value)))
}

/** Parses a value that belongs to no model by its schema, cast by the schema's types. */
export async function validateValue(
  schema: $ZodType,
  value: unknown,
): ReturnType<typeof safeParseAsync> {
  const shape = objectShape({ value: schema }, 'input').fields.get('value')
  return parse(schema, await castInSlices(shape, value))
}

/** Checks a merged record against the rules that look across fields; each field has been validated already. */
export async function validateAcross(model: Model, record: Fields): Promise<Validation> {
  const result = model.refinements && (await parse(model.refinements, record))
  return result && !result.success
    ? { ok: false, fields: messagesOf(result.error.issues) }
    : { ok: true, values: record }
}

function parse(schema: $ZodType, value: unknown): ReturnType<typeof boundedParse> {
  return boundedParse(schema, value, languageOf())
}

/** zod/mini brings no messages of its own; a locale that your app configured wins. */
function languageOf(): ParseContext<$ZodIssue> {
  const { customError, localeError } = config()
  return customError || localeError ? {} : { error: englishMessages }
}

const englishMessages = english().localeError as NonNullable<ParseContext<$ZodIssue>['error']>

function defined(values: Fields): Fields {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/**
 * Refuses what a store could not return as it was written: a string with a lone surrogate has no UTF-8 form, BSON ends
 * keys at a NUL, JSON has no infinity, and dates are ordered by years of four digits. Throws a `TypeError` for a value that
 * only the program can have made, such as a Map: that is a mistake in the model, and not the client's.
 */
async function storable({ name }: Model, values: Fields): Promise<Validation> {
  const fields: Record<string, string> = {}
  const dates = { count: 0 }
  for (const [field, value] of Object.entries(values)) {
    const within = isLarge(value) ? { value, within: undefined } : undefined
    const complaint = await complaintInSlices(value, { dates, within })
    if (complaint?.startsWith(NO_RECORD)) {
      throw new TypeError(
        `Model '${name}': field '${field}': ${complaint}. Let the schema make a value of JSON of it, or a date`,
      )
    }
    if (complaint !== undefined) fields[field] = complaint
  }
  return Object.keys(fields).length > 0 ? { ok: false, fields } : { ok: true, values }
}

function complaintOf(value: unknown, place: Place): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : NO_TEXT
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'Invalid number.'
  if (['bigint', 'symbol'].includes(typeof value)) return unheld(typeof value)
  if (typeof value === 'function') return complaintOfFunction(place)
  if (typeof value !== 'object' || value === null || isOfBson(value)) return undefined
  if (value instanceof Date) return complaintOfDate(value, place.dates)
  return isBoxed(value) ? complaintOf(value.valueOf(), place) : complaintInside(value, place)
}

/** Stores leave out members that are functions. */
function complaintOfFunction({ within }: Place): string | undefined {
  return within && !Array.isArray(within.value) ? undefined : unheld('function')
}

/** How values begin to be refused that no record can hold. */
const NO_RECORD = 'a record cannot hold '

function unheld(what: string): string {
  return `${NO_RECORD}the type '${what}'`
}

/** Whether it is a value of BSON, such as a Decimal128. A client's object has such a member of its own. */
function isOfBson(value: object): boolean {
  return '_bsontype' in value && !Object.hasOwn(value, '_bsontype')
}

function isBoxed(value: object): boolean {
  return value instanceof String || value instanceof Number || value instanceof Boolean
}

/** The class of an object of which stores would keep other things, or nothing. */
function classOf(value: object): string | undefined {
  if (typeof Object.getOwnPropertyDescriptor(value, 'toJSON')?.value === 'function')
    return 'function'
  const name = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (name === 'Object' || name === 'Array') return undefined
  // An app may name its classes; what they hold is kept.
  return ArrayBuffer.isView(value) || Object.keys(value).length === 0 ? name : undefined
}

function complaintOfDate(date: Date, dates: Dates): string | undefined {
  dates.count += 1
  if (dates.count > MOST_DATES) return 'Too many dates.'
  return dateFrom(date.getTime()) ? undefined : 'Invalid date.'
}

function complaintInside(value: object, { dates, within }: Place): string | undefined {
  const known = classOf(value)
  if (known !== undefined) return unheld(known)
  const place = { dates, within: { value, within } }
  if (isWithin(value, within)) return CYCLIC
  return Array.isArray(value) ? complaintInList(value, place) : complaintInMembers(value, place)
}

const CYCLIC = `${NO_RECORD}a value that contains itself`

function isWithin(value: object, within: Within | undefined): boolean {
  for (let at = within; at; at = at.within) if (at.value === value) return true
  return false
}

function complaintInList(list: readonly unknown[], place: Place): string | undefined {
  for (const item of list) {
    const complaint = complaintOf(item, place)
    if (complaint !== undefined) return complaint
  }
  return undefined
}

function complaintInMembers(value: object, place: Place): string | undefined {
  for (const [key, item] of Object.entries(value)) {
    const complaint = isKey(key) ? complaintOf(item, place) : NO_TEXT
    if (complaint !== undefined) return complaint
  }
  return undefined
}

/** Same as `complaintOf`, but goes through large values in slices; the first complaint ends the walk. */
async function complaintInSlices(value: unknown, place: Place): Promise<string | undefined> {
  try {
    await inSlices(value, place, complaining)
    return undefined
  } catch (error) {
    if (error instanceof Complaint) return error.message
    throw error
  }
}

class Complaint extends Error {}

/** The most dates in one record: each takes a store as long as ten other values. */
const MOST_DATES = 20_000

/** Where a value is: what it is in, and what was counted in its record so far. */
interface Place {
  readonly dates: Dates
  readonly within?: Within | undefined
}

/** A container, and the one that it is in. */
interface Within {
  readonly value: object
  readonly within: Within | undefined
}

/** The dates counted in a record so far. */
interface Dates {
  count: number
}

const complaining: Walk<Place> = {
  whole(value, place) {
    const complaint = complaintOf(value, place)
    if (complaint !== undefined) throw new Complaint(complaint)
    return value
  },
  // A walk goes through plain values alone.
  opens: (value) => classOf(value) === undefined && !isOfBson(value) && !isBoxed(value),
  member(place, key, value) {
    if (typeof key === 'string' && !isKey(key)) throw new Complaint(NO_TEXT)
    if (!isLarge(value)) return place
    if (isWithin(value, place.within)) throw new Complaint(CYCLIC)
    return { dates: place.dates, within: { value, within: place.within } }
  },
}

function isKey(key: string): boolean {
  return key.isWellFormed() && !key.includes('\0')
}
