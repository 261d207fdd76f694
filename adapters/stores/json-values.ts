/**
 * Records as JSON, and back: dates become dates again. `jsonb` keeps the members of objects in an order of its own, so for
 * PostgreSQL they come to stand in the model's.
 */

import { onlyDeclared, withDefaults } from '../../src/ports/store/declared.ts'
import { project } from '../../src/ports/store/projection.ts'
import type { Fields, Read } from '../../src/ports/store/records.ts'
import {
  DATE_AMONG_OTHERS,
  dateOfJson,
  isFor,
  type ObjectShape,
  type Shape,
} from '../../src/ports/store/shape.ts'
import type { CollectionSchema } from '../../src/ports/store/store.ts'
import { datesAsText } from '../../src/ports/values/json.ts'
import { setMember } from '../../src/ports/values/members.ts'

/** The JSON of a record: `_id` first, dates as ISO 8601 with milliseconds. */
export function textOf(stored: Fields): string {
  const record = datesAsText(stored) as Fields
  const text = JSON.stringify(record)
  // In MongoDB another program may have made an id of an object, which no model declares.
  if (text.startsWith('{"_id":') || record._id === undefined) return text
  // Names that are whole numbers come before all others in an object.
  const { _id, ...fields } = record
  const rest = JSON.stringify(fields)
  return `{"_id":${JSON.stringify(_id)}${rest === '{}' ? '}' : `,${rest.slice(1)}`}`
}

/** `date` as JSON holds it: fixed width, so that strings compare as dates do. No stored date is beyond the year 9999. */
export function isoText(date: Date): string {
  const text = date.toISOString()
  return text.startsWith('+') ? ':' : text
}

/** The JSON of a record as a read shows it: what the model declares and the read selects, with defaults if it asks for them. */
export function shownText(
  record: unknown,
  { declared }: CollectionSchema,
  { select, fillDefaults }: Pick<Read, 'select' | 'fillDefaults'>,
): string {
  const shown = declared ? onlyDeclared(declared, record) : record
  const whole = declared && fillDefaults ? withDefaults(declared, shown) : shown
  return textOf(project(whole as Fields, select))
}

/** Parses records of a shape from their JSON. */
export function readerOf(shape: ObjectShape): (text: string) => Fields {
  const restore = restoreOf(shape)
  if (restore === same) return (text) => JSON.parse(text) as Fields
  return (text) => restore(JSON.parse(text)) as Fields
}

/** Returns the value that JSON stands for. May change what it is given. */
export type Restore = (value: unknown) => unknown

interface Manner {
  /** Whether members come in the model's order. */
  readonly orders?: boolean
  /** Returns the date that a string stands for where the model has one; any other value as it is. */
  readonly date?: Restore
}

/** How values of a shape come back; `same` if JSON holds them as they are. Shapes that refer to themselves share their parts. */
export function restoreOf(shape: Shape, manner: Manner = {}): Restore {
  const known = new Map<Shape, Restore>()
  const inner: Inner = (one) => {
    const restore = known.get(one) ?? newRestore(one, manner, inner)
    known.set(one, restore)
    return restore
  }
  return inner(shape)
}

function newRestore(shape: Shape, manner: Manner, inner: Inner): Restore {
  switch (shape.kind) {
    case 'date':
      return shape === DATE_AMONG_OTHERS ? dateOfJson : (manner.date ?? storedDate)
    case 'list':
      return listRestore(shape, inner)
    case 'map': {
      const restore = inner(shape.value)
      return restore === same ? same : (value) => restoreAll(value, restore)
    }
    case 'object':
      return objectRestore(shape, inner, manner.orders ?? false)
    case 'mixed':
      return mixedRestore(shape.inside ?? [], inner)
    default:
      return same
  }
}

/**
 * The date that begins as stores write one, `2020-01-31`: a copy from MongoDB may bring shorter ones. A regular expression
 * would be slower.
 */
function storedDate(value: unknown): unknown {
  if (typeof value !== 'string' || value.length < 10) return value
  if (value[4] !== '-' || value[7] !== '-') return value
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? value : date
}

/** The date that another program may have written in a form of its own. */
export function anyDate(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? value : date
}

type Inner = (shape: Shape) => Restore

const same: Restore = (value) => value
const isSame = (restore: Restore) => restore === same

function listRestore(
  { element, items = [] }: Extract<Shape, { kind: 'list' }>,
  inner: Inner,
): Restore {
  const others = inner(element)
  const first = items.map(inner)
  if ([others, ...first].every(isSame)) return same
  if (first.length === 0) return (value) => (Array.isArray(value) ? value.map(others) : value)
  return (value) =>
    Array.isArray(value) ? value.map((one, at) => (first[at] ?? others)(one)) : value
}

/** Of a value that may be anything: what is known of its type. */
function mixedRestore(inside: readonly Shape[], inner: Inner): Restore {
  const restores = inside.map((shape) => ({ shape, restore: inner(shape) }))
  if (restores.every(({ restore }) => restore === same)) return same
  return (value) => (restores.find(({ shape }) => isFor(shape, value))?.restore ?? same)(value)
}

function objectRestore(
  { variants, ...shape }: ObjectShape,
  inner: Inner,
  orders: boolean,
): Restore {
  if (variants) return variantRestore(variants, objectRestore(shape, inner, orders), inner)
  const { fields } = shape
  const rest = shape.rest ? inner(shape.rest) : same
  const members = [...fields].flatMap(([name, member]): [string, Restore][] => {
    const restore = inner(member)
    return restore === same ? [] : [[name, restore]]
  })
  if (!orders && rest === same && members.length === 0) return same
  return (value) => {
    // As `isObject` says; most values come here.
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const object = orders ? ordered(value as Fields, fields) : (value as Fields)
    // No model declares `__proto__`.
    for (const [name, restore] of members) {
      if (Object.hasOwn(object, name)) object[name] = restore(object[name])
    }
    return rest === same ? object : restoreAll(object, rest, fields)
  }
}

/** `value` with its members restored in place, if it is an object; those in `except` stay as they are. */
function restoreAll(
  value: unknown,
  restore: Restore,
  except?: { has(name: string): boolean },
): unknown {
  if (!isObject(value)) return value
  for (const name of Object.keys(value)) {
    if (!except?.has(name)) setMember(value, name, restore(value[name]))
  }
  return value
}

function variantRestore(
  { by, shapes }: NonNullable<ObjectShape['variants']>,
  otherwise: Restore,
  inner: Inner,
): Restore {
  const restores = new Map([...shapes].map(([value, shape]) => [value, inner(shape)]))
  if ([otherwise, ...restores.values()].every(isSame)) return same
  return (value) => ((isObject(value) ? restores.get(value[by]) : undefined) ?? otherwise)(value)
}

function ordered(object: Fields, fields: ObjectShape['fields']): Fields {
  const all: Fields = {}
  for (const name of fields.keys()) if (Object.hasOwn(object, name)) all[name] = object[name]
  for (const name of Object.keys(object)) if (!fields.has(name)) setMember(all, name, object[name])
  return all
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
