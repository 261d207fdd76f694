/** The refinements of a model that look across fields, separate from those of each field. */

import { optional, unknown } from 'zod/mini'
import { type $ZodObject, clone } from 'zod/v4/core'

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
