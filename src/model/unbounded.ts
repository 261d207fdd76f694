/**
 * Strings in indexes that may have any length: some databases have no room for long ones there.
 *
 * @module
 */

import type { $ZodType } from 'zod/v4/core'
import { placeOf } from '../ports/shape.ts'
import type { Model } from './model.ts'
import { partsIn } from './parts.ts'

/** The paths in `unique` and `indexes` of a model that lead to strings without a limit. */
export function unboundedPaths({ shape, fields, unique, indexes }: IndexedModel): string[] {
  const paths = new Set([...unique.flat(), ...indexes.flat().map(({ field }) => field)])
  return [...paths].filter((path) => {
    const [first = ''] = path.split('.')
    const field = Object.hasOwn(fields, first) ? (fields[first] as $ZodType) : undefined
    if (!field || placeOf(shape, path)?.shape.kind !== 'string') return false
    const strings = partsIn(field, first).parts.filter(
      (part) => part.path === path && part.schema._zod.def.type === 'string',
    )
    return strings.length > 0 && !strings.some(({ schema }) => isLimited(schema))
  })
}

type IndexedModel = Pick<Model, 'shape' | 'fields' | 'unique' | 'indexes'>

/** Whether a string has a greatest length, a format, or a pattern of its own. */
function isLimited({ _zod }: $ZodType): boolean {
  const { format, checks = [] } = _zod.def as unknown as StringDef
  return format !== undefined || checks.some((one) => LIMITS.has(String(one._zod?.def?.check)))
}

/** What is read of a string's definition. */
interface StringDef {
  readonly format?: string
  readonly checks?: readonly { readonly _zod?: { readonly def?: { readonly check?: unknown } } }[]
}

/** A rule of your own may be a limit too, as those of identifiers are. */
const LIMITS: ReadonlySet<string> = new Set([
  'max_length',
  'length_equals',
  'string_format',
  'custom',
])
