/**
 * Values that come from JSON: dates become dates again. `jsonb` keeps the members of objects in an order of its own, so
 * for PostgreSQL they come to stand in the model's.
 *
 * @module
 */

import { setMember } from '../../src/ports/members.ts'
import {
  DATE_AMONG_OTHERS,
  dateOfJson,
  isFor,
  type ObjectShape,
  type Shape,
} from '../../src/ports/shape.ts'
import type { Fields } from '../../src/ports/store.ts'

/** Returns the value that JSON stands for. May change what it is given. */
export type Restore = (value: unknown) => unknown

/** How values come back. */
interface Manner {
  /** Whether members come in the model's order. */
  readonly orders?: boolean
  /** Returns the date that a string stands for where the model has one; any other string as it is. */
  readonly date?: (text: string) => Date | string
}

/** How values of a shape come back; undefined if JSON holds them as they are. */
export function restoreOf(shape: Shape, manner: Manner = {}): Restore | undefined {
  const { orders = false, date = storedDate } = manner
  const inner = (one: Shape) => restoreOf(one, manner)
  switch (shape.kind) {
    case 'date':
      if (shape === DATE_AMONG_OTHERS) return dateOfJson
      return (value) => (typeof value === 'string' ? date(value) : value)
    case 'list':
      return listRestore(shape, inner)
    case 'map': {
      const restore = inner(shape.value)
      return (
        restore &&
        ((value) => (isObject(value) ? restored(value, Object.keys(value), () => restore) : value))
      )
    }
    case 'object':
      return objectRestore(shape, inner, orders)
    case 'mixed':
      return mixedRestore(shape.inside ?? [], inner)
    default:
      return undefined
  }
}

/**
 * The date that begins as stores write one, `2020-01-31`: a copy from MongoDB may bring shorter ones. A regular expression
 * would be slower.
 */
function storedDate(text: string): Date | string {
  const isLike = text.length >= 10 && text[4] === '-' && text[7] === '-'
  return isLike ? anyDate(text) : text
}

/** The date that another program may have written in a form of its own. */
export function anyDate(text: string): Date | string {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? text : date
}

type Inner = (shape: Shape) => Restore | undefined

const same: Restore = (value) => value

function listRestore(
  { element, items = [] }: Extract<Shape, { kind: 'list' }>,
  inner: Inner,
): Restore | undefined {
  const rest = inner(element)
  const first = items.map((item) => inner(item) ?? same)
  if (!rest && first.every((restore) => restore === same)) return undefined
  return (value) =>
    Array.isArray(value) ? value.map((one, at) => (first[at] ?? rest ?? same)(one)) : value
}

/** Of a value that may be anything: what is known of its type. */
function mixedRestore(inside: readonly Shape[], inner: Inner): Restore | undefined {
  const restores = inside.map((shape) => ({ shape, restore: inner(shape) ?? same }))
  if (restores.every(({ restore }) => restore === same)) return undefined
  return (value) => (restores.find(({ shape }) => isFor(shape, value))?.restore ?? same)(value)
}

function objectRestore(
  { variants, ...shape }: ObjectShape,
  inner: Inner,
  orders: boolean,
): Restore | undefined {
  if (variants) return variantRestore(variants, objectRestore(shape, inner, orders) ?? same, inner)
  const { fields } = shape
  const rest = shape.rest && inner(shape.rest)
  const members = new Map<string, Restore>()
  for (const [name, member] of fields) {
    const restore = inner(member)
    if (restore) members.set(name, restore)
  }
  if (!orders && !rest && members.size === 0) return undefined
  const names = [...members.keys()]
  return (value) => {
    if (!isObject(value)) return value
    const object = orders ? ordered(value, fields) : value
    return restored(object, rest ? Object.keys(object) : names, (name) =>
      fields.has(name) ? members.get(name) : rest,
    )
  }
}

function variantRestore(
  { by, shapes }: NonNullable<ObjectShape['variants']>,
  otherwise: Restore,
  inner: Inner,
): Restore | undefined {
  const restores = new Map([...shapes].map(([value, shape]) => [value, inner(shape) ?? same]))
  if ([otherwise, ...restores.values()].every((restore) => restore === same)) return undefined
  return (value) => ((isObject(value) ? restores.get(value[by]) : undefined) ?? otherwise)(value)
}

function ordered(object: Fields, fields: ObjectShape['fields']): Fields {
  const all: Fields = {}
  for (const name of fields.keys()) {
    if (Object.hasOwn(object, name)) setMember(all, name, object[name])
  }
  for (const name of Object.keys(object)) {
    if (!fields.has(name)) setMember(all, name, object[name])
  }
  return all
}

/** `object` with its members of these `names` restored in place. */
function restored(
  object: Fields,
  names: readonly string[],
  restoreFor: (name: string) => Restore | undefined,
): Fields {
  for (const name of names) {
    const restore = Object.hasOwn(object, name) ? restoreFor(name) : undefined
    if (restore) setMember(object, name, restore(object[name]))
  }
  return object
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
