/** What `null` means in a write: an optional field that is not nullable is left out (as in RFC 7396). */

import type { $ZodType, $ZodTypes } from 'zod/v4/core'
import type { Fields } from '../../ports/store/records.ts'
import { madeOnce } from '../../ports/values/once.ts'
import { isPlain, memberOf, samePlace, wrappedIn } from '../parts.ts'
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
  // Each once: the options of a union that holds itself would be as many again at each level.
  const inner = [...new Set(schemas.flatMap((schema) => readingOf(schema).containers))]
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

const readingOf = /* @__PURE__ */ madeOnce((schema: $ZodType): Reading => {
  const all = [...samePlace([schema], 'in')] as $ZodTypes[]
  return {
    takesNull: all.some(takesNull),
    containers: all.filter(({ _zod: { def } }) => CONTAINERS.has(def.type)),
  }
})

const CONTAINERS: ReadonlySet<string> = new Set(['object', 'record', 'array', 'tuple'])
/** Those that say nothing of null themselves. */
const OTHERS: ReadonlySet<string> = new Set([
  ...CONTAINERS,
  ...['undefined', 'void', 'pipe', 'union', 'intersection'],
])

function takesNull(schema: $ZodTypes): boolean {
  const { def } = schema._zod
  if (def.type === 'literal') return def.values.includes(null)
  if (wrappedIn(schema)) return def.type === 'nullable' || def.type === 'catch'
  // Coercion would turn null into a value, but a client that sends null means no value. A function of yours may accept it.
  return !isPlain(def.type) && !OTHERS.has(def.type)
}
