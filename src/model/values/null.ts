/** What `null` means in a write: an optional field that is not nullable is left out (as in RFC 7396). */

import type { $ZodType, $ZodTypes } from 'zod/v4/core'
import type { Fields } from '../../ports/store/records.ts'
import { isPlain, memberOf, wrappedIn } from '../parts.ts'
import { isFields } from '../writable.ts'

/**
 * Whether null removes a field from a stored record: only if a record may lack the field, so never if it has a default.
 * If the schema accepts null, null is a value.
 */
export function isRemovable(schema: $ZodType): boolean {
  return mayBeLeftOut(schema) && schema._zod.optout === 'optional' && !readingOf(schema).takesNull
}

/**
 * `value` without optional members that are null, at every depth, so that defaults come in. Other nulls stay. Any of
 * `schemas` may describe it.
 */
export function withoutNulls(schemas: readonly $ZodType[], value: unknown): unknown {
  if (value === null) {
    const takesNull = schemas.some((schema) => readingOf(schema).takesNull)
    return schemas.some(mayBeLeftOut) && !takesNull ? undefined : null
  }
  if (typeof value !== 'object' || value instanceof Date) return value
  const inner = schemas.flatMap((schema) => readingOf(schema).containers)
  if (inner.length === 0) return value
  if (!Array.isArray(value)) return isFields(value) ? clearedMembers(inner, value) : value
  // Elements of a list keep their positions.
  return value.map((item, index) => {
    const element = inner.flatMap((schema) => elementAt(schema, index))
    return item === null ? null : withoutNulls(element, item)
  })
}

function clearedMembers(schemas: readonly $ZodType[], value: Fields): Fields {
  const entries = Object.entries(value).map(([key, item]) => {
    const member = schemas.flatMap((schema) => memberAt(schema, key))
    return [key, withoutNulls(member, item), item] as const
  })
  const kept = entries.filter(([, item, before]) => item !== undefined || before === undefined)
  return Object.fromEntries(kept.map(([key, item]) => [key, item]))
}

function memberAt(schema: $ZodType, key: string): readonly $ZodType[] {
  const { def } = (schema as $ZodTypes)._zod
  if (def.type === 'record') return [def.valueType as $ZodType]
  if (def.type !== 'object') return []
  const member = memberOf(def, key)
  return member ? [member] : []
}

function elementAt(schema: $ZodType, index: number): readonly $ZodType[] {
  const { def } = (schema as $ZodTypes)._zod
  if (def.type === 'array') return [def.element as $ZodType]
  const element = def.type === 'tuple' ? (def.items[index] ?? def.rest) : undefined
  return element ? [element as $ZodType] : []
}

/** Whether what comes in may lack a value with this schema: it is optional, or has a default. */
export function mayBeLeftOut(schema: $ZodType): boolean {
  return schema._zod.optin !== undefined
}

/** What a schema says about incoming values: whether it accepts null, and which containers it describes. */
interface Reading {
  readonly takesNull: boolean
  readonly containers: readonly $ZodType[]
}

const NOTHING: Reading = { takesNull: false, containers: [] }
const known = new WeakMap<$ZodType, Reading>()

function readingOf(schema: $ZodType): Reading {
  const before = known.get(schema)
  if (before) return before
  // Placeholder until it is known: a schema may be one of its own options.
  known.set(schema, NOTHING)
  const reading = newReading(schema)
  known.set(schema, reading)
  return reading
}

function newReading(schema: $ZodType): Reading {
  const { def } = (schema as $ZodTypes)._zod
  // Coercion would turn null into a value, but a client that sends null means no value.
  if (isPlain(def.type)) return NOTHING
  const wrapped = wrappedIn(schema)
  if (wrapped) {
    const takesNull = def.type === 'nullable' || def.type === 'catch'
    return takesNull ? { ...readingOf(wrapped), takesNull } : readingOf(wrapped)
  }
  switch (def.type) {
    case 'object':
    case 'record':
    case 'array':
    case 'tuple':
      return { takesNull: false, containers: [schema] }
    case 'undefined':
    case 'void':
      return NOTHING
    case 'literal':
      return { takesNull: def.values.includes(null), containers: [] }
    case 'pipe':
      return readingOf(def.in)
    case 'union':
      return anyOf(def.options.map(readingOf))
    case 'intersection':
      return anyOf([def.left, def.right].map(readingOf))
    default:
      // A function of your app may accept anything.
      return { takesNull: true, containers: [] }
  }
}

function anyOf(readings: readonly Reading[]): Reading {
  return {
    takesNull: readings.some((reading) => reading.takesNull),
    containers: readings.flatMap(({ containers }) => containers),
  }
}
