/** A path of dates as a zod schema, with its bounds. */

import { date, maximum, minimum, type ZodMiniType } from 'zod/mini'
import { messageOf } from './messages.ts'
import type { SchemaType } from './structure.ts'

/** The dates of a path, within the bounds that do not depend on a function. */
export function dateOf(type: SchemaType, path: string): ZodMiniType {
  const rules = type.validators.flatMap(({ type: rule, min, max }) => [
    ...(rule === 'min'
      ? timeIn(min).map((time) => minimum(time, { ...early(time), ...messageOf(type, rule, path) }))
      : []),
    ...(rule === 'max'
      ? timeIn(max).map((time) => maximum(time, { ...late(time), ...messageOf(type, rule, path) }))
      : []),
  ])
  return date().check(...rules)
}

// zod writes times as milliseconds.
const early = (time: Date) => ({ error: () => `Too small: expected date to be >=${time.toJSON()}` })
const late = (time: Date) => ({ error: () => `Too big: expected date to be <=${time.toJSON()}` })

/** The time that a rule names; none if it is computed each time. */
function timeIn(value: unknown): Date[] {
  if (typeof value === 'function') return []
  const time = new Date(value as string)
  return Number.isNaN(time.getTime()) ? [] : [time]
}
