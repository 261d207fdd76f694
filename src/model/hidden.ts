/**
 * Fields that hide themselves: the mark stands on the schema, so that a model hides them wherever they are
 * spread in.
 *
 * @module
 */

import type { $ZodType, $ZodTypes } from 'zod/v4/core'

/** The hidden paths that lie inside a field which is shown. */
export function hiddenInside({
  hidden,
}: {
  readonly hidden: readonly string[]
}): readonly string[] {
  return hidden.filter((path) => path.includes('.'))
}

/** Marks `schema`: every model that has it among its fields hides the field. */
export function hiddenField<S extends $ZodType>(schema: S): S {
  // The mark stands in the definition, which zod carries along when it clones a schema.
  Object.assign(schema._zod.def, { hidden: true })
  return schema
}

/** Whether `schema`, or a schema that it wraps, is marked. */
export function isHiddenField(schema: $ZodType): boolean {
  const { def } = (schema as $ZodTypes)._zod
  if ((def as { hidden?: boolean }).hidden === true) return true
  return 'innerType' in def && isHiddenField(def.innerType as $ZodType)
}
