/** Whether a stored value is one that a field may hold now: models change, and records stay. */

import { type $ZodType, safeParse } from 'zod/v4/core'
import { declaredAt, onlyDeclared } from '../../ports/store/declared.ts'
import type { Shape } from '../../ports/store/shape.ts'
import type { Model } from '../model.ts'
import { partsIn } from '../parts.ts'
import { isFields } from '../writable.ts'

type Rules = Pick<Model, 'fields' | 'shape' | 'declared'>

/** Whether `value`, as it is stored, is what `field` of a model declares, and passes its schema. */
export function fits({ fields, shape, declared }: Rules, field: string, value: unknown): boolean {
  const [otherType] = otherTypesIn(shape.fields.get(field), value, field)
  if (otherType !== undefined) return false
  const place = declaredAt(declared, field)
  if (place && onlyDeclared(place, value) !== value) return false
  const schema = fields[field]
  if (!schema || isTransformed(schema)) return true
  try {
    return safeParse(schema, value).success
  } catch {
    // A rule that needs to wait, such as one that asks a service, was kept when the value was written.
    return true
  }
}

/** Whether a schema makes something else of what it takes: a stored value has been through it, and can't go again. */
export function isTransformed(schema: $ZodType): boolean {
  const { parts, rest } = partsIn(schema)
  return rest || parts.some(({ schema: { _zod } }) => _zod.def.type === 'transform')
}

/** The paths in `value`, itself at `path`, that hold another type than `shape`; elements of lists have no index. */
export function* otherTypesIn(
  shape: Shape | undefined,
  value: unknown,
  path: string,
): Generator<string> {
  if (value === null || value === undefined || !shape || shape.kind === 'mixed') return
  if (!isOf(shape, value)) {
    yield path
  } else if (shape.kind === 'list') {
    for (const element of value as unknown[]) yield* otherTypesIn(shape.element, element, path)
  } else {
    for (const [at, key, inner] of membersAt(value, path)) {
      yield* otherTypesIn(shape.kind === 'map' ? shape.value : insideOf(shape, key), inner, at)
    }
  }
}

/** The members of an object with their paths; none of anything else. */
export function membersAt(
  value: unknown,
  path: string,
): [at: string, key: string, inner: unknown][] {
  if (!isFields(value)) return []
  return Object.entries(value).map(([key, inner]) => [
    path === '' ? key : `${path}.${key}`,
    key,
    inner,
  ])
}

function insideOf(shape: Shape, key: string): Shape | undefined {
  return shape.kind === 'object' ? shape.fields.get(key) : undefined
}

function isOf({ kind }: Shape, value: unknown): boolean {
  if (kind === 'date') return value instanceof Date
  if (kind === 'list') return Array.isArray(value)
  if (kind === 'object' || kind === 'map') return isFields(value)
  return typeof value === (kind === 'id' ? 'string' : kind)
}
