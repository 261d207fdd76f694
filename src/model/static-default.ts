/** Defaults that are always the same, and so can stand for what an old record lacks. */

import type { $ZodType, $ZodTypes } from 'zod/v4/core'

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
