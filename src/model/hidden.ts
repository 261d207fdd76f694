/**
 * Fields that hide themselves: the mark is on the schema, so every model that includes the field hides it.
 */

import type { $ZodType } from 'zod/v4/core'
import { isMarked } from './stored.ts'

/** The hidden paths inside fields that are shown themselves. */
export function hiddenInside({
  hidden,
}: {
  readonly hidden: readonly string[]
}): readonly string[] {
  return hidden.filter((path) => path.includes('.'))
}

/** Marks `schema`: every model that uses it as a field hides that field. */
export function hiddenField<S extends $ZodType>(schema: S): S {
  // The mark is in the definition, which zod copies when it clones a schema.
  Object.assign(schema._zod.def, { hidden: true })
  return schema
}

/** Whether `schema`, or a schema that it wraps, is marked. */
export function isHiddenField(schema: $ZodType): boolean {
  return isMarked(schema, 'hidden')
}
