/** Schemas like that of a model, for values that have passed it before. */

import { optional, unknown } from 'zod/mini'
import { type $ZodObject, clone } from 'zod/v4/core'
import type { Fields } from '../../ports/store/records.ts'

/** `schema`, which takes any value for the fields that `produced` has. */
export function withoutRulesOf(schema: $ZodObject, produced: Fields): $ZodObject {
  const { def } = schema._zod
  const free = Object.keys(produced).map((field) => [field, optional(unknown())])
  return clone(schema, { ...def, shape: { ...def.shape, ...Object.fromEntries(free) } })
}

/**
 * Only the refinements of `schema`, as a schema that accepts any fields: a stored record has already passed its fields'
 * schemas, and a transform must not run on its own result. Undefined if there are none.
 */
export function refinementsOf(schema: $ZodObject): $ZodObject | undefined {
  const { def } = schema._zod
  if (!def.checks?.length) return undefined
  const fields = Object.keys(def.shape).map((field) => [field, optional(unknown())])
  return clone(schema, { ...def, shape: Object.fromEntries(fields) })
}
