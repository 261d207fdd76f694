/** What a field holds where a record has no value for it. */

import type { $ZodType, $ZodTypes } from 'zod/v4/core'
import type { Absence } from '../ports/store.ts'
import type { FieldSchemas } from './model.ts'

/** Which of the two a field may be. */
interface Lack {
  readonly missing: boolean
  readonly null: boolean
}

const NOTHING: Lack = { missing: false, null: false }
const EITHER: Lack = { missing: true, null: true }

/** Below this depth, a schema that refers to itself may lack anything. */
const MAX_DEPTH = 12

/**
 * How a record may lack each of `fields`, and those that the server manages; a field that may be both missing and null is
 * not listed.
 */
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
  switch (def.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'date':
    case 'enum':
    case 'template_literal':
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
      return def.options.map(inner).reduce(either)
    default:
      return EITHER
  }
}

function either(a: Lack, b: Lack): Lack {
  return { missing: a.missing || b.missing, null: a.null || b.null }
}
