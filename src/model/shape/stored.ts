/**
 * Marks on schemas: hidden fields, the type of BSON of a value, and what clients may write of subdocuments. They are in the
 * definition, which zod copies when it clones a schema.
 */

import type { $ZodType } from 'zod/v4/core'
import type { StoredForm } from '../../ports/store/shape.ts'

/** What a marked schema's values are stored as: a type of BSON, an ObjectId that refers to no model, or any JSON, see `FREE`. */
export type StoredAs = StoredForm | 'objectId' | 'any'

/** The string that a record holds for what a client sends; undefined if the type cannot hold it. */
export type CastText = (value: unknown) => string | undefined

export function storedAs<S extends $ZodType>(schema: S, as: StoredAs, castText?: CastText): S {
  Object.assign(schema._zod.def, { storedAs: as, castText })
  return schema
}

/** How the values of `schema` itself are stored; no member for one that is not marked. */
export function storedValuesOf(schema: $ZodType): { storedAs?: StoredAs; castText?: CastText } {
  return schema._zod.def as ReturnType<typeof storedValuesOf>
}

/**
 * Every model hides a field that is `hidden`. Clients write a `kept` member of an object, although its name is one that the
 * server keeps; of a record with `freeNames`, they write any key, although the server keeps some of these names elsewhere.
 */
type Mark = 'hidden' | 'kept' | 'freeNames'

export function marked<S extends $ZodType>(schema: S, mark: Mark): S {
  Object.assign(schema._zod.def, { [mark]: true })
  return schema
}

/** Whether `schema`, or a schema that it wraps, has this mark. */
export function isMarked({ _zod }: $ZodType, mark: Mark): boolean {
  const def = _zod.def as { readonly [key in Mark]?: boolean } & { innerType?: $ZodType }
  return def[mark] === true || (def.innerType !== undefined && isMarked(def.innerType, mark))
}
