/** What a field holds where a record has no value for it, and the defaults that stand for it. */

import type { $ZodType, $ZodTypes } from 'zod/v4/core'
import { isPromise } from '../../ports/promises/synchronous.ts'
import type { Absence } from '../../ports/store/store.ts'
import type { FieldSchemas } from '../model.ts'
import { isPlain } from '../parts.ts'

interface Lack {
  readonly missing: boolean
  readonly null: boolean
}

const NOTHING: Lack = { missing: false, null: false }
const EITHER: Lack = { missing: true, null: true }

/** Below this depth, a schema that refers to itself may lack anything. */
const MAX_DEPTH = 12

/** How a record may lack each of `fields` and `managed`; one that may be both missing and null is not listed. */
export function absences(fields: FieldSchemas, managed: readonly string[]): Map<string, Absence> {
  const known = new Map<string, Absence>(managed.map((field) => [field, 'never']))
  for (const [field, schema] of Object.entries(fields)) {
    const lack = lackOf(schema, 0)
    if (lack.missing && lack.null) continue
    known.set(field, lack.missing ? 'missing' : lack.null ? 'null' : 'never')
  }
  return known
}

function lackOf(schema: $ZodType, depth: number): Lack {
  if (depth > MAX_DEPTH) return EITHER
  const inner = (next: $ZodType): Lack => lackOf(next, depth + 1)
  const { def } = (schema as $ZodTypes)._zod
  if (isPlain(def.type)) return NOTHING
  switch (def.type) {
    case 'object':
    case 'array':
    case 'record':
    case 'tuple':
      return NOTHING
    case 'literal':
      return { missing: def.values.includes(undefined), null: def.values.includes(null) }
    case 'null':
      return { missing: false, null: true }
    case 'optional':
    // `app.store` can remove a field that has a default.
    case 'default':
      return { ...inner(def.innerType), missing: true }
    case 'nullable':
      return { ...inner(def.innerType), null: true }
    case 'nonoptional':
      return { ...inner(def.innerType), missing: false }
    case 'readonly':
      return inner(def.innerType)
    case 'lazy':
      return inner(def.getter())
    case 'pipe':
      return inner(def.out)
    case 'union':
      return def.options
        .map(inner)
        .reduce((a, b) => ({ missing: a.missing || b.missing, null: a.null || b.null }))
    default:
      return EITHER
  }
}

/**
 * The static default of a field with `schema`; undefined if it has none, if its default is made anew each time
 * (`() => new Date()`, `() => crypto.randomUUID()`), or if records may lack the field all the same.
 */
export function staticDefault(schema: $ZodType): unknown {
  const { def } = (schema as $ZodTypes)._zod
  switch (def.type) {
    case 'default':
      return sameEachTime(() => def.defaultValue)
    case 'nullable':
    case 'readonly':
    case 'nonoptional':
    case 'catch':
      return staticDefault(def.innerType)
    default:
      return undefined
  }
}

/** zod does not tell a value from a function that returns one. */
function sameEachTime(make: () => unknown): unknown {
  try {
    const [value, again] = [make(), make()]
    // Each of two has a rejection.
    if ([value, again].map(isPromise).includes(true)) return undefined
    if (value instanceof Date) return value === again ? value : undefined
    return isNow(value) || JSON.stringify(value) !== JSON.stringify(again) ? undefined : value
  } catch {
    return undefined
  }
}

/** Two calls within one millisecond make the same time. */
const NOW_MS = 60_000

/** Whether `value` looks like a time that was read from the clock. */
function isNow(value: unknown): boolean {
  const times =
    typeof value === 'number'
      ? [value, value * 1000]
      : typeof value === 'string'
        ? [Date.parse(value)]
        : []
  return times.some((time) => Math.abs(time - Date.now()) < NOW_MS)
}
