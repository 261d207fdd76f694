/**
 * The rules of a model that look across fields, apart from those of each field.
 *
 * @module
 */

import { optional, unknown } from 'zod/mini'
import { type $ZodObject, clone } from 'zod/v4/core'

/**
 * The refinements of `schema` alone, as a schema that takes every field as it is: a stored record has been
 * through the fields' own schemas, and a transform must not run over what it made. Undefined where there are none.
 */
export function refinementsOf(schema: $ZodObject): $ZodObject | undefined {
  const { def } = schema._zod
  if (!def.checks?.length) return undefined
  const fields = Object.keys(def.shape).map((field) => [field, optional(unknown())])
  return clone(schema, { ...def, shape: Object.fromEntries(fields) })
}
