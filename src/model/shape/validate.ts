/** Schema validation: what zod refuses, as a map from full path to message. */

import { object } from 'zod/mini'
import {
  type $ZodCheck,
  type $ZodIssue,
  type $ZodRawIssue,
  type $ZodType,
  config,
  type ParseContext,
  safeParse,
} from 'zod/v4/core'
import english from 'zod/v4/locales/en.js'
import { isLarge } from '../../ports/promises/turns.ts'
import { firstMessages, messagesOf } from '../../ports/services/messages.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { Shape } from '../../ports/store/shape.ts'
import type { Model } from '../model.ts'
import { partsIn } from '../parts.ts'
import { castInput, dateFrom } from '../values/cast.ts'
import { isRemovable, withoutNulls } from '../values/null.ts'
import { withoutRulesOf } from '../values/refinements.ts'
import { objectShape } from './shape.ts'

const NO_TEXT = 'Invalid Unicode text.'

export type Validation =
  | { readonly ok: true; readonly values: Fields }
  | { readonly ok: false; readonly fields: Record<string, string> }

/** Validates a whole record: cast by the shape, then parsed by the schema, which has made what is `produced` before. */
export async function validateRecord(
  model: Model,
  input: Fields,
  produced?: Fields,
): Promise<Validation> {
  const whole = holdsNull(input) ? withoutNulls([model.schema], input) : input
  const given = castInput(model.input, whole)
  const result = await (produced
    ? parse(withoutRulesOf(model.schema, produced), { ...(given as Fields), ...produced })
    : parse(model.schema, given))
  return result.success
    ? storable(model, withoutUndefined(result.data as Fields))
    : { ok: false, fields: messagesOf(result.issues) }
}

/** Validates the fields of `input`, each by its own schema: null removes an optional one, absent ones get no default. */
export async function validateFields(model: Model, input: Fields): Promise<Validation> {
  const values: Fields = {}
  const fields: Record<string, string> = {}
  for (const [field, value] of Object.entries(input)) {
    const schema = Object.hasOwn(model.fields, field) && model.fields[field]
    if (!schema) continue
    const result = await parseChange(schema, model.input.fields.get(field), value)
    if (result.success) values[field] = result.data
    else Object.assign(fields, messagesOf(result.issues, field))
  }
  return Object.keys(fields).length > 0
    ? { ok: false, fields: firstMessages(fields) }
    : storable(model, values)
}

async function parseChange(
  schema: $ZodType,
  shape: Shape | undefined,
  value: unknown,
): Promise<Parsed> {
  if (value === null) {
    if (!isRemovable(schema)) return parse(schema, null)
    // The schema may have rules about the field's absence.
    const without = await parse(object({ field: schema }), {})
    return without.success ? { success: true, data: undefined } : parse(schema, undefined)
  }
  return parse(schema, castInput(shape, holdsNull(value) ? withoutNulls([schema], value) : value))
}

/** Most bodies hold no null, and need no copy. */
function holdsNull(value: unknown): boolean {
  if (value === null) return true
  if (typeof value !== 'object' || value instanceof Date) return false
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (item === null || (typeof item === 'object' && holdsNull(item))) return true
  }
  return false
}

/** Parses values that belong to no model by their schema, cast by its types. */
export function valueParser(schema: $ZodType): (value: unknown) => Promise<Parsed> {
  const shape = objectShape({ value: schema }, 'input').fields.get('value')
  return (value) => parse(schema, castInput(shape, value))
}

/** Checks a merged record against the rules that look across fields; each field has been validated already. */
export async function validateAcross(model: Model, record: Fields): Promise<Validation> {
  const result = model.refinements && (await parse(model.refinements, record))
  return result && !result.success
    ? { ok: false, fields: messagesOf(result.issues) }
    : { ok: true, values: record }
}

/** What a schema makes of a value, or what is wrong with it: there may be many more issues than a response tells. */
export type Parsed =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly issues: Iterable<$ZodIssue> }

type Context = ParseContext<$ZodIssue>

async function parse(schema: $ZodType, value: unknown): Promise<Parsed> {
  const language = languageOf()
  // A schema that may be asynchronous is not tried synchronously first: its refinements would run twice.
  const context = { ...language, async: isAsync(schema), ...(isLarge(value) && FIRST_MISTAKE) }
  const { value: data, issues } = await schema._zod.run({ value, issues: [] }, context)
  return issues.length === 0
    ? { success: true, data }
    : { success: false, issues: told(issues, language) }
}

const waiting = new WeakMap<$ZodType, boolean>()
const handled = new WeakSet<object>()

/** Whether `schema` may be asynchronous. Handles rejections of refinements that zod awaits no more: they would end the process. */
function isAsync(schema: $ZodType): boolean {
  const before = waiting.get(schema)
  if (before !== undefined) return before
  const { parts, rest } = partsIn(schema)
  // What was not looked at may be asynchronous.
  let waits = rest
  for (const part of parts) if (handleIn(part.schema)) waits = true
  waiting.set(schema, waits)
  return waits
}

/** Handles the refinements of one schema; returns whether it has any, or a transform. */
function handleIn(schema: $ZodType): boolean {
  const { def } = schema._zod
  ownMade(def)
  // `z.custom()` is its own check.
  const checks = [schema as unknown as $ZodCheck, ...(def.checks ?? [])]
  const custom = checks.filter(({ _zod }) => _zod.def.check === 'custom')
  for (const { _zod } of custom) {
    if (handled.has(_zod)) continue
    handled.add(_zod)
    const own = _zod.check
    _zod.check = (payload) => {
      const result = own(payload)
      if (result instanceof Promise) result.catch(() => {})
      return result
    }
  }
  return custom.length > 0 || def.type === 'transform' || 'transform' in def
}

/** Of a promise that the function of a default or a catch returns, nobody else would hear the rejection. */
function ownMade(
  def: $ZodType['_zod']['def'] & { catchValue?: (context: never) => unknown },
): void {
  if (handled.has(def)) return
  handled.add(def)
  const owned = (value: unknown) => {
    if (value instanceof Promise) value.catch(() => {})
    return value
  }
  const { get } = Object.getOwnPropertyDescriptor(def, 'defaultValue') ?? {}
  if (get) Object.defineProperty(def, 'defaultValue', { get: () => owned(get.call(def)) })
  const { catchValue } = def
  if (catchValue) def.catchValue = (context) => owned(catchValue(context))
}

/** Lists and objects end at their first mistake (zod 4.6): twenty thousand empty objects may lack a million members. */
const FIRST_MISTAKE = { abortEarly: true }

function* told(issues: readonly $ZodRawIssue[], context: Context): Generator<$ZodIssue> {
  for (const issue of issues) {
    // zod's `util` would do, but brings all of zod's helpers into a bundle.
    const refusing = { _zod: { run: () => ({ issues: [issue] }) } } as unknown as $ZodType
    yield* safeParse(refusing, undefined, context).error?.issues ?? []
  }
}

/** zod/mini brings no messages of its own; a locale that your app configured wins. */
function languageOf(): Context {
  const { customError, localeError } = config()
  return customError || localeError ? {} : { error: englishMessages }
}

const englishMessages = english().localeError as NonNullable<Context['error']>

function withoutUndefined(values: Fields): Fields {
  if (!Object.values(values).includes(undefined)) return values
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** Refuses what no store returns as it was written: lone surrogates, NULs in keys (BSON), infinity, years of five digits. */
function storable({ name }: Model, values: Fields): Validation {
  const fields: Record<string, string> = {}
  for (const [field, value] of Object.entries(values)) {
    const isGood = typeof value === 'string' ? value.isWellFormed() : Number.isFinite(value)
    const complaint = isGood ? undefined : complaintOf(value)
    // Only the program can have made it: that is a mistake in the model, and not the client's.
    if (complaint?.startsWith(NO_RECORD)) {
      throw new TypeError(
        `Model '${name}': field '${field}': ${complaint}. Let the schema make a value of JSON of it, or a date`,
      )
    }
    if (complaint !== undefined) fields[field] = complaint
  }
  return Object.keys(fields).length > 0 ? { ok: false, fields } : { ok: true, values }
}

/** The objects and lists that a value is in, the outermost first. */
type Containers = readonly object[]

function complaintOf(value: unknown, around: Containers = []): string | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? undefined : NO_TEXT
    case 'number':
      return Number.isFinite(value) ? undefined : 'Invalid number.'
    case 'bigint':
    case 'symbol':
      return unheld(typeof value)
    case 'function':
      // Stores leave out members that are functions.
      return around.length > 0 && !Array.isArray(around.at(-1)) ? undefined : unheld('function')
    case 'object':
      return value && !isOfBson(value) ? complaintInside(value, around) : undefined
    default:
      return undefined
  }
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

/** The class of an object of which stores would keep other things, or nothing. */
function classOf(value: object): string | undefined {
  if (typeof Object.getOwnPropertyDescriptor(value, 'toJSON')?.value === 'function')
    return 'function'
  const name = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (name === 'Object' || name === 'Array') return undefined
  // An app may name its classes; what they hold is kept.
  return ArrayBuffer.isView(value) || Object.keys(value).length === 0 ? name : undefined
}

function complaintInside(value: object, around: Containers): string | undefined {
  if (value instanceof Date) return dateFrom(value.getTime()) ? undefined : 'Invalid date.'
  const isBoxed = value instanceof String || value instanceof Number || value instanceof Boolean
  if (isBoxed) return complaintOf(value.valueOf(), around)
  const known = classOf(value)
  if (known !== undefined) return unheld(known)
  if (around.includes(value)) return `${NO_RECORD}a value that contains itself`
  const inside = [...around, value]
  return Array.isArray(value) ? complaintInList(value, inside) : complaintInMembers(value, inside)
}

function complaintInList(list: readonly unknown[], around: Containers): string | undefined {
  for (const item of list) {
    const complaint = complaintOf(item, around)
    if (complaint !== undefined) return complaint
  }
  return undefined
}

function complaintInMembers(value: object, around: Containers): string | undefined {
  for (const key of Object.keys(value)) {
    const isKey = key.isWellFormed() && !key.includes('\0')
    const complaint = isKey ? complaintOf((value as Fields)[key], around) : NO_TEXT
    if (complaint !== undefined) return complaint
  }
  return undefined
}
